"""Means that several metrics share."""

from __future__ import annotations

from collections.abc import Iterable


def share(hits: Iterable[bool]) -> float:
    """The part of `hits` that is true. Raises ValueError for none at all."""
    known = list(hits)
    if not known:
        raise ValueError("a share of nothing")
    return sum(known) / len(known)


def harmonic(precision: float, recall: float) -> float:
    """F1; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
