"""A question's pool of sentences: what mixes are drawn from. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError
from ragcli.evaluate.types import Dataset, Question
from ragcli.methods.stages import Context
from ragcli.types import Document, Sentence


@dataclass(frozen=True, slots=True)
class Pool:
    """Sentences in the order of the data; gold: which of them are needed.

    titles: of each sentence's passage; passages: which passage it is in.
    """

    question: Question
    sentences: tuple[str, ...]
    gold: tuple[bool, ...]
    titles: tuple[str, ...]
    passages: tuple[int, ...]

    def contexts(self, chosen: Sequence[int]) -> tuple[Context, ...]:
        """The chosen sentences under their titles, as a prompt takes them."""
        groups: dict[int, list[int]] = {}
        for at in chosen:
            groups.setdefault(self.passages[at], []).append(at)
        return tuple(self._context(number, places) for number, places in groups.items())

    def _context(self, number: int, places: Sequence[int]) -> Context:
        title = self.titles[places[0]]
        document = Document(number, Path(), f"{number}.txt", "text", title, "", "en")
        sentences = tuple(
            Sentence(at, number, number, 0, len(self.sentences[at]), self.sentences[at], None, 1)
            for at in places
        )
        return Context(document, "", sentences, 1.0)


def pools(dataset: Dataset) -> tuple[Pool, ...]:
    """Raises UsageError where no question has answers, and candidates with marked gold ones."""
    found = tuple(_pool(q) for q in dataset.questions if q.answers and _known(q))
    if not found:
        raise UsageError(
            f"{dataset.name}: nothing to simulate with",
            hint="questions need answers, and passages whose needed sentences are marked (gold)",
        )
    return found


def _known(question: Question) -> bool:
    return any(any(passage.gold) for passage in question.passages)


def _pool(question: Question) -> Pool:
    rows = [
        (text, mark, passage.title, number)
        for number, passage in enumerate(question.passages)
        for text, mark in zip(
            passage.sentences, passage.gold or (False,) * len(passage.sentences), strict=True
        )
    ]
    sentences, gold, titles, passages = zip(*rows, strict=True)
    return Pool(question, sentences, gold, titles, passages)
