"""Passages become documents, and the needed places are found in them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.encoders.base import Encoder
from ragcli.evaluate.corpus import Corpus, build, content_key, locate
from ragcli.evaluate.datasets import load

from .data import ROWS, write


def test_a_question_is_answered_from_its_own_passages(small: Corpus) -> None:
    for question in small.dataset.questions:
        hits = small.reader.search("bees boiler valve", k=10, where=small.where(question))
        assert {hit.document.title for hit in hits} == {one.title for one in question.passages}


def test_gold_sentences_are_places_in_the_index(small: Corpus) -> None:
    found = {}
    for question in small.dataset.questions:
        (piece,) = small.gold(question)
        document = small.reader.document_at(small.root / piece.document)  # type: ignore[operator]
        assert document is not None
        found[question.id] = small.reader.text(document.id, piece.start, piece.end)
        assert not small.by_passage(question)
    assert found == {
        "keeper": "Mira Oskan was the first keeper of the Sandholm light.",
        "limit": "The boiler pressure limit is 3 bar.",
        "valve": "The valve in room 20 is red.",
    }


def test_titles_and_texts_are_kept_as_they_are(small: Corpus) -> None:
    valve = small.dataset.questions[2]
    (_, document) = small.given(valve)[1]
    assert document.title == "Bees & <bells>"
    assert small.reader.text(document.id).split() == ["Bees", "like", "bells.", "Bells", "ring."]


def test_it_is_made_once_and_named_by_its_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Callable[[], Encoder]
) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    rows = [{"question": "q?", "answers": ["Mira"], "gold": ["7"], "answer_start": 20}]
    texts = [{"_id": "7", "title": "T", "text": "She kept bees too.  Mira did. And more."}]
    file = write(tmp_path / "qa" / "set.jsonl", rows)
    write(tmp_path / "corpus" / "set.jsonl", texts)
    events: list[object] = []
    dataset = load(file)
    with build(dataset, encoder, encoder().identity, watch=events.append) as corpus:
        (piece,) = corpus.gold(dataset.questions[0])
        document = corpus.gold_documents(dataset.questions[0])[0]
        assert corpus.reader.text(document.id, piece.start, piece.end) == "Mira did."
        assert not corpus.where(dataset.questions[0])
    assert events
    events.clear()
    with build(dataset, encoder, encoder().identity, watch=events.append):
        assert not events
    write(tmp_path / "corpus" / "set.jsonl", [{**texts[0], "text": "Other."}])
    assert content_key(load(file)) != content_key(dataset)


def test_one_of_an_older_program_is_made_anew(
    tmp_path: Path, encoder: Callable[[], Encoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = load(write(tmp_path / "set.jsonl", ROWS))
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("ragcli.evaluate.corpus.SCHEMA_VERSION", 2)
    with build(dataset, encoder, encoder().identity):
        pass
    events: list[object] = []
    monkeypatch.undo()
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    with build(dataset, encoder, encoder().identity, watch=events.append):
        assert events


def test_passage_labels_are_whole_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Callable[[], Encoder]
) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    passages = [
        {**one, "gold_level": "passage", "gold": [int(not at)] * len(one["gold"])}
        for at, one in enumerate(ROWS[0]["passages"])
    ]
    dataset = load(write(tmp_path / "m.jsonl", [{**ROWS[0], "passages": passages}]))
    with build(dataset, encoder, encoder().identity) as corpus:
        (question,) = dataset.questions
        (piece,) = corpus.gold(question)
        assert corpus.by_passage(question)
        assert (piece.start, piece.end) == (
            0,
            len(corpus.reader.text(corpus.given(question)[0][1].id)),
        )


sentences = st.lists(st.text("ab. ", min_size=1, max_size=6).filter(str.strip), max_size=5)


@given(sentences, st.sampled_from([" ", "\n", "  "]))
def test_sentences_are_located_in_order(texts: list[str], between: str) -> None:
    whole = between.join(texts)
    found = locate(whole, texts)
    assert [span and whole[span[0] : span[1]].split() for span in found] == [
        text.split() for text in texts
    ]
    spans = [span for span in found if span]
    assert spans == sorted(spans)


def test_what_is_not_there_is_not_located() -> None:
    assert locate("One. Two.", ["One.", "Three.", "Two."]) == [(0, 4), None, (5, 9)]
