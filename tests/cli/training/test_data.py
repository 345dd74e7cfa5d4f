"""Candidates from an index: which sentences hold the answer, which are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from ragcli.cli.training.data import answers_of, gather
from ragcli.errors import UsageError
from ragcli.evaluate.metrics.knowledge import Piece
from ragcli.evaluate.types import Question
from ragcli.index.where import EVERYWHERE
from ragcli.types import Document, Hit, Passage, Sentence
from tests.methods.fakes import FakeReader, hit

HITS = (
    hit(1, "Mira Oskan kept the light for years.", "Bees!"),
    hit(2, "The tower is built of grey stone.", "Mira Oskan is buried on the island."),
)


class Reader(FakeReader):
    def passages(self, document_id: int) -> tuple[Passage, ...]:
        return tuple(one.passage for one in self._hits if one.document.id == document_id)


class Corpus:
    """One whose needed passage is that of hit `document`."""

    root = "somewhere"

    def __init__(self, hits: Sequence[Hit], gold: Sequence[Piece], *, by_passage: bool) -> None:
        self.reader = Reader(*hits)
        self._gold, self._by, self._hits = tuple(gold), by_passage, hits

    def where(self, question: Question) -> Any:
        return EVERYWHERE

    def gold(self, question: Question) -> tuple[Piece, ...]:
        return self._gold

    def gold_documents(self, question: Question) -> list[Document]:
        names = {piece.document for piece in self._gold}
        return [one.document for one in self._hits if one.document.relative in names]

    def by_passage(self, question: Question) -> bool:
        return self._by

    def piece(self, document: Document, sentence: Sentence) -> Piece:
        return Piece(document.relative, sentence.start, sentence.end)


def gold_of(gold: Sequence[Piece], *, by_passage: bool) -> tuple[list[str], list[str]]:
    """(texts, texts marked as gold) of the one example."""
    question = Question("q", "Who kept the light?", ("Mira Oskan", "Mira"))
    corpus = Corpus(HITS, gold, by_passage=by_passage)
    (example,) = gather(cast(Any, corpus), [question], 24, lambda done: None)
    assert example.answers == ("Mira Oskan", "Mira")
    every = [one.text for one in example.candidates]
    return every, [one.text for one in example.candidates if one.gold]


def test_marked_sentences_are_gold_whatever_they_say() -> None:
    texts, gold = gold_of([Piece("2.md", 0, 33)], by_passage=False)
    assert gold == ["The tower is built of grey stone."]
    assert "Bees!" not in texts
    assert len(texts) == 3


def test_of_a_marked_passage_the_sentences_that_say_the_answer() -> None:
    _, gold = gold_of([Piece("1.md", 0, 50)], by_passage=True)
    assert gold == ["Mira Oskan kept the light for years."]


def test_where_nothing_is_marked_all_that_say_it() -> None:
    _, gold = gold_of([], by_passage=True)
    assert sorted(gold) == [
        "Mira Oskan is buried on the island.", "Mira Oskan kept the light for years.",
    ]  # fmt: skip


def test_sentences_stand_under_their_title() -> None:
    corpus = Corpus(HITS, [], by_passage=True)
    question = Question("q", "Who?", ("Mira",))
    (example,) = gather(cast(Any, corpus), [question], 2, lambda done: None)
    assert {one.title for one in example.candidates} == {"Island"}
    assert len(example.candidates) == 2


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (Question("q", "?", ("a", "b")), ("a", "b")),
        (Question("q", "?", parts=(("a", "b"), ("c",))), ("a, c", "a", "b", "c")),
        (Question("q", "?", reference="A long one."), ("A long one.",)),
        (Question("q", "?", claims=("so",)), ()),
    ],
)
def test_what_the_generator_is_asked_of(question: Question, answers: tuple[str, ...]) -> None:
    assert answers_of(question) == answers


def test_questions_without_answers_are_left_out() -> None:
    corpus = Corpus(HITS, [], by_passage=True)
    asked = [Question("a", "Who?", claims=("so",)), Question("b", "Who?", ("Mira",))]
    found = gather(cast(Any, corpus), asked, 4, lambda done: None)
    assert [one.id for one in found] == ["b"]
    with pytest.raises(UsageError, match="no question has an answer"):
        gather(cast(Any, corpus), asked[:1], 4, lambda done: None)


def test_the_same_candidates_each_time() -> None:
    draws = [
        gather(
            cast(Any, Corpus(HITS, [], by_passage=True)),
            [Question("q", "Who kept bees?", ("Mira",))], 3, lambda done: None,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert draws[0] == draws[1]


def test_a_sentence_is_encoded_once_whatever_finds_it(monkeypatch) -> None:
    corpus = Corpus(HITS, [], by_passage=True)
    seen: list[str] = []
    encode = corpus.reader.encode
    monkeypatch.setattr(corpus.reader, "encode", lambda texts: seen.extend(texts) or encode(texts))
    asked = [Question(name, f"Who is {name}?", ("Mira",)) for name in "abc"]
    together = gather(cast(Any, corpus), asked, 3, lambda done: None)
    assert len(seen) == len(set(seen)) == 3 + sum(len(one.passage.sentences) for one in HITS)
    alone = [gather(cast(Any, corpus), [one], 3, lambda done: None)[0] for one in asked]
    assert together == alone
