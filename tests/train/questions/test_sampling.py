"""What is asked about: prose, spread over documents and headings, the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcli.train.questions.sampling import TRIES, sample, usable
from ragcli.types import Document, Passage, Sentence

GOOD = "The bridge over the river was built in {} by the engineer Dora Lindqvist."


class Shelf:
    """Documents of passages, each a heading and one sentence."""

    def __init__(self, books: dict[str, list[tuple[str, str]]], kind: str = "text") -> None:
        self._books, self._kind = books, kind
        self.opened: list[int] = []

    def documents(self) -> Iterator[Document]:
        for number, name in enumerate(self._books, start=1):
            yield Document(number, Path("/r"), name, self._kind, name, f"{name}hash", "en")

    def passages(self, document_id: int) -> tuple[Passage, ...]:
        self.opened.append(document_id)
        found = []
        for number, (heading, text) in enumerate(list(self._books.values())[document_id - 1]):
            at = 100 * number
            one = Sentence(number, document_id, number, at, at + len(text), text, None, 1, heading)
            found.append(
                Passage(number, document_id, at, one.end, text, None, 1, heading, (one,))
            )  # fmt: skip
        return tuple(found)


def shelf(books: int = 3, headings: int = 2, each: int = 2) -> Shelf:
    return Shelf({
        f"book{b}": [(f"h{h}", GOOD.format(1900 + 10 * b + h)) for h in range(headings)] * each
        for b in range(books)
    })  # fmt: skip


def test_documents_in_turn_then_headings_in_turn() -> None:
    order = [(jobs[0].document.relative, jobs[0].passage.heading) for jobs in sample(shelf(), 0)]
    assert len(order) == 12
    for start in (0, 3, 6, 9):
        assert len({book for book, _ in order[start : start + 3]}) == 3
    for book in ("book0", "book1", "book2"):
        seen = [heading for name, heading in order if name == book]
        assert set(seen[:2]) == {"h0", "h1"} == set(seen[2:])


def test_documents_are_opened_when_it_is_their_turn() -> None:
    books = shelf(books=50)
    found = sample(books, 0)
    next(found)
    assert len(books.opened) == 1


def test_the_seed_decides() -> None:
    def order(seed: int) -> list[tuple[str, int, str]]:
        return [
            (job.document.relative, job.start, job.answer.text)
            for jobs in sample(shelf(9), seed)
            for job in jobs
        ]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == sorted(order(2))


def test_answers_stand_at_their_offsets() -> None:
    for jobs in sample(shelf(), 0, per_passage=3):
        assert len(jobs) <= TRIES * 3
        for job in jobs:
            text = job.passage.text
            assert text[job.start - job.passage.start : job.end - job.passage.start] == (
                job.answer.text
            )


@pytest.mark.parametrize("kind", ["code", "csv", "xlsx", "jsonl"])
def test_tables_and_code_are_not_asked_about(kind: str) -> None:
    assert list(sample(Shelf({"a": [("", GOOD.format(1904))]}, kind), 0)) == []


@pytest.mark.parametrize(
    "text",
    [
        GOOD.format(1904),
        "“The boiler,” she said in 1904, “is drained every spring and filled again.”",
        "In 1904 the keeper's\nhouse was built again after the great storm.",
    ],
)
def test_prose(text: str) -> None:
    assert usable(text)


@pytest.mark.parametrize(
    "text",
    [
        "Built in 1904.",
        "The bridge over the river was built in 1904 by the engineer",
        "Was the bridge over the river built in 1904 by the engineer?",
        "He built the bridge over the river in 1904 with an engineer.",
        "This was the bridge that the engineer built over the river in 1904.",
        "In that year the bridge was built over the river by an engineer.",
        "Copyright 1904 by the engineers of the bridge, who have all of the rights.",
        "The bridge is shown at https://example.org with all of its engineers.",
        "Read more about the bridge over the river and the engineer who built it.",
        "bridge = river + 1904 is the way to build it in the end.",
        "Lindqvist Ferrand Omm Kestrel Harlow Ribe Varga Oskan Sandholm Lund.",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 of 1904 and 1905 in 1906.",
        "| the bridge | over | the river | was built | in 1904 by one.",
        "",
    ],
)
def test_no_prose_or_not_by_itself(text: str) -> None:
    assert not usable(text)
