"""Putting rankings together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

RRF_K = 60

Item = TypeVar("Item", bound=Hashable)


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Item]],
    *,
    k: int = RRF_K,
    weights: Mapping[str, float] | None = None,
    tie: Callable[[Item], Any] = lambda item: item,
) -> list[tuple[Item, float]]:
    """Items by descending Σ weight / (k + rank), rank 1-based, over the rankings that hold them.

    Equal sums are ordered by `tie`, so that the result never depends on the order in which
    rankings are given. Weights default to 1. (Cormack, Clarke and Büttcher 2009.)
    """
    scores: dict[Item, float] = {}
    for name in sorted(rankings):
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        for rank, item in enumerate(rankings[name], start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], tie(pair[0])))
