"""Row shapes, what is wrong with a row, and the real sets where they are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import UsageError
from ragcli.evaluate.datasets import first, load

from .data import ROWS, write


def test_own_passages_with_their_marks(tmp_path: Path) -> None:
    found = load(write(tmp_path / "small.jsonl"))
    assert (found.name, found.own, found.corpus) == ("small", True, ())
    keeper = found.questions[0]
    assert (keeper.id, keeper.answers) == ("keeper", ("Mira Oskan",))
    assert keeper.passages[0].gold == (True, False)
    assert keeper.passages[0].gold_level == "sentence"


@pytest.mark.parametrize(
    ("row", "answers", "parts", "claims", "reference"),
    [
        ({"answers": ["a", "b"]}, ("a", "b"), (), (), ""),
        ({"answers": "a"}, ("a",), (), (), ""),
        ({"answers": [["a", "A"], ["b"]]}, (), (("a", "A"), ("b",)), (), ""),
        ({"claims": ["c"], "answer": "long"}, (), (), ("c",), "long"),
        (
            {"qa_pairs": [{"short_answers": ["a", "b"], "gold_passage": None}], "answer": "long"},
            (), (("a", "b"),), (), "long",
        ),
    ],
)  # fmt: skip
def test_shapes(
    row: dict[str, Any], answers: object, parts: object, claims: object, reference: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    (found,) = load(write(tmp_path / "x.jsonl", [{"question": "q?", **row}])).questions
    assert (found.answers, found.parts, found.claims) == (answers, parts, claims)
    assert found.reference == reference
    assert found.id


def test_questions_without_an_answer_are_counted_and_left_out(tmp_path: Path) -> None:
    rows = [{"question": "q?", "answers": ["a"]}, {"question": "r?", "answers": []}]
    found = load(write(tmp_path / "x.jsonl", rows))
    assert [one.text for one in found.questions] == ["q?"]
    assert found.left_out == 1
    with pytest.raises(UsageError, match="no questions with answers"):
        load(write(tmp_path / "y.jsonl", rows[1:]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: not a JSON object"),
        ('{"answers": ["a"]}', "line 2: the field question is missing"),
        ('{"question": " ", "answers": ["a"]}', "line 2: the field question must be a text"),
        ('{"question": "q"}', "line 2: the field answers is missing"),
        ('{"question": "q", "answers": [1]}', "line 2: the field answers must be a list of texts"),
        ('{"question": "q", "answers": ["a"], "answer_start": -1}', "the field answer_start"),
        ('{"question": "q", "answers": ["a"], "passages": [{"title": "t"}]}', "sentences"),
        (
            '{"question": "q", "answers": ["a"], "passages": [{"sentences": ["s"], "gold": []}]}',
            "the field gold must hold one mark a sentence",
        ),
        (json.dumps({**ROWS[0]}), "two questions have the id keeper"),
        ('{"question": }', r"line 2: not JSON \(Expecting value, column 14\)"),
        ('{"question": "a\\ud800", "answers": ["b"]}', "half of a surrogate pair"),
        ('{"question": "a", "answers": ["b"], "id": ' + "9" * 5000 + "}", "too many digits"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named(line: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", ROWS[:1])
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(UsageError, match=message):
        load(file)


def test_a_corpus_is_found_beside_and_its_ids_are_checked(tmp_path: Path) -> None:
    rows = [{"question": "q", "answers": ["a"], "gold": ["7"]}]
    file = write(tmp_path / "qa" / "some_set_dev.jsonl", rows)
    with pytest.raises(UsageError, match="corpus that is not there"):
        load(file)
    texts = [{"_id": "7", "title": "T", "text": "A b."}]
    other = write(tmp_path / "corpus" / "some_set.jsonl", texts)
    assert [one.id for one in load(file).corpus] == ["7"]
    assert load(file, corpora=[other]).corpus == load(file).corpus
    write(other, [{**texts[0], "_id": "8"}])
    with pytest.raises(UsageError, match="names the passage 7"):
        load(file)


def test_passages_without_labels_are_searched_together(tmp_path: Path) -> None:
    row = {"answers": ["a"], "passages": [{"title": "", "sentences": ["Same."], "gold": None}]}
    rows = [{**row, "question": "one?"}, {**row, "question": "two?"}]
    write(tmp_path / "corpus" / "nq.jsonl", [{"_id": "1", "title": "T", "text": "Other."}])
    found = load(write(tmp_path / "qa" / "pop.jsonl", rows))
    assert not found.own
    assert [one.sentences for one in found.corpus] == [("Same.",), ("Other.",)]


def test_the_first_questions_are_the_same_whatever_their_order(tmp_path: Path) -> None:
    there = load(write(tmp_path / "a.jsonl"))
    back = load(write(tmp_path / "b.jsonl", ROWS[::-1]))
    assert [q.id for q in first(there, 2).questions] == [q.id for q in first(back, 2).questions]
    assert len(load(write(tmp_path / "a.jsonl"), limit=2).questions) == 2


@pytest.mark.parametrize(
    ("name", "questions", "corpus", "own"),
    [
        ("hotpotqa_dev", 100, 0, True),
        ("musique_dev", 50, 0, True),
        ("popqa_dev", 120, 4870, False),
        ("asqa_dev", 200, 2103, False),
        ("nq_dev", 1500, 2600, False),
        ("xquad_en_dev", 1190, 240, False),
    ],
)
def test_real_sets(name: str, questions: int, corpus: int, own: bool, shared_data: Path) -> None:
    found = load(shared_data / "qa" / f"{name}.jsonl")
    assert (len(found.questions), len(found.corpus), found.own) == (questions, corpus, own)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(load(file).questions) == len(ROWS)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "is not UTF-8 text"), (None, "Is a directory"), (b"\n", "no questions")],
)
def test_files_that_are_no_data(content: bytes | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.mkdir() if content is None else file.write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        load(file)
    assert caught.value.hint
    assert "Errno" not in caught.value.message


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl")
    (tmp_path / "corpus.jsonl").touch()
    with pytest.raises(UsageError, match=r"corpus\.jsonl holds no texts"):
        load(file, corpora=[tmp_path / "corpus.jsonl"])
