"""What is kept and what is dropped, and that nothing is tried twice; the generator is made up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import jsonschema
import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli import schemas
from ragcli.evaluate.datasets import load
from ragcli.llm.base import EncodedPrompt, Tokens
from ragcli.train.questions import drafting as module
from ragcli.train.questions.drafting import Drafting, Outcome, Wanted, search_fault, share_kept
from ragcli.train.questions.ledger import Ledger
from ragcli.train.questions.sampling import Job, sample
from ragcli.train.questions.verification import Verification
from ragcli.train.questions.writer import Written
from ragcli.types import Document, Hit, Passage, SearchMode
from tests.methods.fakes import FakeGenerator, FakeReader, hit

HITS = (
    hit(1, "The bridge over the river Omm was built in 1904 by Dora Lindqvist."),
    hit(2, "The mill at the harbour of Ribe was bought in 1962 by the Varga family."),
)
QUESTIONS = {
    "1904": "When was the bridge over the Omm built?",
    "1962": "When was the mill at the harbour bought?",
    "Dora Lindqvist": "Who built the bridge over the Omm?",
    "Varga": "Whose mill is it at the harbour?",
    "Ribe": "Where is the mill that was bought?",
    "Omm": "Which river has a bridge?",
}


class Index(FakeReader):
    def documents(self) -> Iterator[Document]:
        return iter([one.document for one in self._hits])

    def passages(self, document_id: int) -> tuple[Passage, ...]:
        return tuple(one.passage for one in self._hits if one.document.id == document_id)


class Judge(FakeGenerator):
    """Finds an answer of `likes` likely, where it is asked its question under a document."""

    def __init__(self, likes: Sequence[str] = ("1904", "1962", "Dora Lindqvist")) -> None:
        super().__init__("")
        self.likes, self.asked = likes, 0

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        self.asked += len(prompts)
        return np.array([
            -0.1 if self._likes(prompt, self._text(tokens)) else -5.0 * len(tokens)
            for prompt, tokens in zip(prompts, continuations, strict=True)
        ])  # fmt: skip

    def _likes(self, prompt: EncodedPrompt, answer: str) -> bool:
        asked = QUESTIONS.get(answer, "nothing") in self._text(prompt.tokens)
        return asked and answer in self.likes and bool(prompt.sources)

    def _text(self, tokens: Tokens) -> str:
        return b"".join(self.vocabulary.piece(int(token)) for token in tokens).decode().strip()


class Writer:
    """Writes what the table says, without a model."""

    def __init__(self, generator: Any) -> None:
        self.written: list[str] = []

    def write(self, job: Job) -> Written:
        return Written(QUESTIONS[job.answer.text], -0.1)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Writer", Writer)


def run(
    file: Path, wanted: Wanted, index: Index | None = None, judge: Judge | None = None
) -> tuple[list[Outcome], dict[str, Any]]:
    """Drafts, and the report, which is valid."""
    with (
        Ledger(file) as ledger,
        Drafting(cast(Any, index or Index(*HITS)), judge or Judge(), ledger, wanted) as drafting,
    ):
        outcomes = list(drafting.run())
        report = json.loads(json.dumps(drafting.report()))
    jsonschema.Draft202012Validator(schemas.load("questions@1")).validate(report)
    return outcomes, report


def test_pairs_are_questions_of_an_evaluation(tmp_path: Path) -> None:
    file = tmp_path / "made" / "q.jsonl"
    _, report = run(file, Wanted(limit=2))
    dataset = load(file)
    assert len(dataset.questions) == 2 == report["kept"]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row, question in zip(rows, dataset.questions, strict=True):
        assert QUESTIONS[row["answers"][0]] == question.text
        text = row["source"]["sentence"]
        assert (row["source"]["start"], row["source"]["end"]) == (0, len(text))
        start, end = row["source"]["answer_start"], row["source"]["answer_end"]
        assert (text[start:end],) == question.answers
        assert row["drafted"]["model"] == "f" * 64
    assert {Path(row["source"]["path"]).name for row in rows} == {"1.md", "2.md"}


def test_every_draft_is_counted(tmp_path: Path) -> None:
    outcomes, report = run(tmp_path / "q.jsonl", Wanted(per_passage=3))
    counts = [one.reason for one in outcomes]
    assert (
        report["now"]["drafts"] == len(counts) == report["kept"] + sum(report["dropped"].values())
    )
    assert counts.count("") == report["kept"] == report["now"]["kept"] == 3
    assert report["dropped"]["not-verified"] == 2  # of the mill: Ribe, Omm
    assert report["exhausted"] is True
    dropped = (tmp_path / "q.dropped.jsonl").read_text().splitlines()
    assert len(dropped) == sum(report["dropped"].values())


def test_a_second_run_goes_on_and_does_nothing_twice(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    run(whole, Wanted(per_passage=3))
    file, judge = tmp_path / "q.jsonl", Judge()
    first, _ = run(file, Wanted(limit=1, per_passage=3), judge=judge)
    then, _ = run(file, Wanted(per_passage=3), judge=judge)
    asked = judge.asked
    assert first
    assert then
    assert file.read_text() == whole.read_text()
    again, report = run(file, Wanted(per_passage=3), judge=judge)
    assert (again, judge.asked) == ([], asked)
    assert report["kept"] == 3
    assert report["now"]["seconds_a_pair"] is None
    assert run(file, Wanted(per_passage=3, seed=1), judge=judge)[0] == []  # another order, no more


def test_what_is_done_is_kept_when_it_is_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    with Ledger(file) as ledger:
        drafting = Drafting(cast(Any, Index(*HITS)), Judge(), ledger, Wanted())
        next(drafting.run())
        with pytest.raises(KeyboardInterrupt), drafting:
            raise KeyboardInterrupt
    with Ledger(file) as ledger:
        assert len(ledger.kept) + len(ledger.dropped) == 1


def test_a_passage_that_its_question_does_not_find(tmp_path: Path) -> None:
    class Lost(Index):
        def search(self, query: str, *, k: int, mode: Any = SearchMode.HYBRID, where: Any = None,
                   score_sentences: bool = True) -> tuple[Hit, ...]:  # fmt: skip
            return ()

    outcomes, report = run(tmp_path / "q.jsonl", Wanted(), Lost(*HITS))
    assert report["kept"] == 0
    assert report["dropped"]["not-retrievable"] == len(
        [one for one in outcomes if one.reason == "not-retrievable"]
    ) > 0  # fmt: skip


def test_a_sentence_of_many_documents_is_boilerplate() -> None:
    twin = hit(3, "Words before it.", HITS[0].passage.text)
    (jobs, *_) = sample(cast(Any, Index(HITS[0])), 0)
    assert search_fault(jobs[0], HITS) == ""
    assert search_fault(jobs[0], (HITS[0], twin)) == "boilerplate"
    assert search_fault(jobs[0], HITS[1:]) == "not-retrievable"


@pytest.mark.parametrize(
    ("with_source", "without", "rivals", "holds"),
    [
        (-0.2, -3.0, {"1915": -2.0}, True),
        (-0.2, -3.0, {}, True),
        (-0.2, -3.0, {"1915": -0.25}, False),  # two years fit
        (-0.2, -3.0, {"1915": -0.1}, False),
        (-0.2, -0.1, {"1915": -2.0}, False),  # known without the source
        (-1.5, -3.0, {"1915": -4.0}, False),  # not given back
    ],
)
def test_when_an_answer_is_verified(
    with_source: float, without: float, rivals: dict[str, float], holds: bool
) -> None:
    assert Verification(with_source, without, rivals).holds is holds


def test_what_share_to_expect() -> None:
    assert share_kept(0, 0) == 0.2
    assert share_kept(0, 1000) < 0.01
    assert 0.49 < share_kept(500, 500) < 0.5
