"""What was put before the generator, against what was needed: KP, KR, KF1.

Source: paper 003, section 3. Both sides are places in documents, because the index cuts
sentences elsewhere than the data did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragcli.evaluate.metrics.averages import harmonic, share

HALF = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters start..end (half open) of a document; `document` is any name of it."""

    document: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"not a piece of text: {self.start}..{self.end}")


def are_gold(pieces: Sequence[Piece], gold: Sequence[Piece]) -> list[bool]:
    """Whether each piece is needed: half of it is gold, or it holds half of a gold piece."""
    marked = _by_document(gold)
    return [
        _covered(piece, marked) >= HALF
        or any(
            _common(piece, one) >= HALF * (one.end - one.start)
            for one in gold
            if one.document == piece.document
        )
        for piece in pieces
    ]


def are_found(gold: Sequence[Piece], pieces: Sequence[Piece]) -> list[bool]:
    """Whether half of each gold piece, or more, lies in the pieces taken together."""
    given = _by_document(pieces)
    return [_covered(one, given) >= HALF for one in gold]


def knowledge_precision(selected: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Share of the selected pieces that are gold; 0 for an empty selection."""
    return share(are_gold(selected, gold)) if selected else 0.0


def knowledge_recall(selected: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Share of the gold pieces that are in the selection. Raises ValueError without gold."""
    return share(are_found(gold, selected))


def knowledge_f1(selected: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Harmonic mean of the two. Raises ValueError without gold."""
    return harmonic(knowledge_precision(selected, gold), knowledge_recall(selected, gold))


Ranges = Mapping[str, Sequence[tuple[int, int]]]


def _by_document(pieces: Iterable[Piece]) -> Ranges:
    """Ranges by document, ascending, overlapping ones merged."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for piece in sorted(pieces, key=lambda one: (one.document, one.start)):
        ranges = found[piece.document]
        if ranges and piece.start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], piece.end))
        else:
            ranges.append((piece.start, piece.end))
    return found


def _covered(piece: Piece, ranges: Ranges) -> float:
    """Share of the piece's characters that lie in the ranges."""
    inside = sum(
        max(0, min(piece.end, end) - max(piece.start, start))
        for start, end in ranges.get(piece.document, ())
    )
    return inside / (piece.end - piece.start)


def _common(one: Piece, other: Piece) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))
