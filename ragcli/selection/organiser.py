"""KO-RAG's inference: sentences in the order of their scores, cut at the placeholder. Pure.

Paper 002, section 3.3 and appendix B.3. The scores are a trained model's (eq. 4, 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from ragcli.text.words import words
from ragcli.types import Sentence

FEWEST_WORDS = 5  # appendix B.3
_ENDS = tuple(".!?…。！？।؟")
_CLOSERS = "\"'”’»)]）」』"


class Organiser(Protocol):
    """Scores sentences for a question, and the empty knowledge beside them."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def titled(self) -> bool:
        """Whether it reads sentences under their document's title."""
        ...

    def scores(self, question: str, sentences: Sequence[str]) -> tuple[tuple[float, ...], float]:
        """One score a sentence, and that of the placeholder."""
        ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence that was scored, and whether it is in the order."""

    sentence: Sentence
    score: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Organised:
    """What an organiser made of a question's sentences, for the record.

    name, sha256: of the organiser. sentences: all that were scored, as they came.
    """

    name: str
    sha256: str
    placeholder: float
    sentences: tuple[Scored, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """kept: indices of the sentences in the prompt, best first. above: how many beat the placeholder."""

    kept: tuple[int, ...]
    above: int


def organise(
    scores: Sequence[float],
    placeholder: float,
    *,
    least: int = 0,
    most: int | None = None,
    margin: float = 0.0,
) -> Order:
    """The sentences that score above `placeholder + margin`, by descending score.

    Ties go to the earlier sentence; one that equals the placeholder is cut. At least `least`
    of the best ones stay, where there are so many, and no more than `most`.
    """
    ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    above = sum(score > placeholder + margin for score in scores)
    stop = max(above, least)
    return Order(tuple(ranked[: stop if most is None else min(stop, most)]), above)


def long_enough(text: str, language: str = "en") -> bool:
    """Whether it has the five words of appendix B.3."""
    return len(words(text, language)) >= FEWEST_WORDS


def complete(text: str) -> bool:
    """Whether it ends as a sentence does, closing quotes and brackets aside."""
    return text.rstrip().rstrip(_CLOSERS).endswith(_ENDS)


def runs(owners: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches (first, last) of neighbours with one owner: an order's sentences by document."""
    starts = [at for at in range(len(owners)) if at == 0 or owners[at] != owners[at - 1]]
    return list(pairwise([*starts, len(owners)]))
