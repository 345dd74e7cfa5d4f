"""Records of alignment: what of a question a passage matches, and the rounds that led there.

Shared through `ragcli.types`, as all records are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ragcli.spans import Span

ConstituentKind = Literal[
    "subject",
    "predicate",
    "object",
    "predicative",
    "attribute",
    "adverbial",
    "complement",
    "apposition",
]
Expected = Literal["any", "time", "number", "name"]


@dataclass(frozen=True, slots=True)
class Constituent:
    """A syntactic constituent of a question (paper 004, eq. 1): `text == question[start:end]`.

    expects: a question word stands for something of this sort ("when": a time).
    """

    kind: ConstituentKind
    text: str
    start: int
    end: int
    expects: Expected = "any"


@dataclass(frozen=True, slots=True)
class Matched:
    """A constituent and where a passage matches it.

    span: offsets into the document; None where the title or heading above it matches.
    """

    constituent: Constituent
    span: Span | None
    score: float


class AlignmentLabel(StrEnum):
    """How many of the question's constituents a passage matches (paper 004, section 3.1)."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Alignment:
    """The constituents that a passage matches, L(Q, D), and those it lacks; in question order.

    dropped: of the missing ones, those that the reflection step took out again.
    aligner: what judged.
    """

    matched: tuple[Matched, ...]
    missing: tuple[Constituent, ...]
    aligner: str
    dropped: tuple[Constituent, ...] = ()

    @property
    def ratio(self) -> float:
        """|L(Q, D)| / |Q|; 0 for a question without constituents."""
        total = len(self.matched) + len(self.missing)
        return len(self.matched) / total if total else 0.0

    @property
    def label(self) -> AlignmentLabel:
        if not self.matched:
            return AlignmentLabel.NONE
        return AlignmentLabel.PARTIAL if self.missing else AlignmentLabel.FULL


@dataclass(frozen=True, slots=True)
class AugmentedQuery:
    """A query of an iteration. kind: question; aligned: Q+D; compensated: Q'+D_pseudo.

    of: id of the passage it was made for, None for the question itself.
    """

    text: str
    kind: Literal["question", "aligned", "compensated"]
    of: int | None = None
    found: int = 0


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round of a method that retrieves until the evidence suffices.

    full, partial, none: labels of the candidates. kept: passage ids, best first.
    missing: constituents that no kept passage matches. score: of the verification, 0..1.
    """

    queries: tuple[AugmentedQuery, ...]
    candidates: int
    full: int
    partial: int
    none: int
    kept: tuple[int, ...]
    missing: tuple[str, ...]
    score: float
    sufficient: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """What a method that works in rounds did. by: what parsed, aligned, wrote and verified."""

    constituents: tuple[Constituent, ...]
    iterations: tuple[Iteration, ...]
    by: str
    ended: str = ""  # why it stopped, for people
