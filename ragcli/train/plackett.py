"""Plackett-Luce over full and partial rankings (paper 002, eq. 10, 11 and appendix A). Pure.

A partial ranking is a run of items, best first, whose last one is the placeholder: what comes
after it is not said. `scores` always holds the placeholder's score too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def log_full(scores: Scores, order: Sequence[int]) -> float:
    """log P of a full ranking (eq. 10). scores: (n,). order: a permutation of 0..n-1."""
    if sorted(order) != list(range(len(scores))):
        raise ValueError("a full ranking holds every item once")
    return _log_run(scores, order)


def log_partial(scores: Scores, order: Sequence[int]) -> float:
    """log P of a partial ranking (eq. 11): each item against all that were not taken before it.

    scores: (n,). order: distinct items, the placeholder last.
    """
    if len(set(order)) != len(order) or not order:
        raise ValueError("a ranking holds at least one item, none twice")
    return _log_run(scores, order)


def gradient(scores: Scores, order: Sequence[int]) -> Scores:
    """(n,) of `log_partial` by the scores: each choice adds 1 at its item, less its shares."""
    slope = np.zeros(len(scores))
    left = np.ones(len(scores), bool)
    for item in order:
        shares = np.where(left, np.exp(scores - scores[left].max()), 0.0)
        slope[item] += 1.0
        slope -= shares / shares.sum()
        left[item] = False
    return slope


def partial_orders(items: Sequence[int], placeholder: int) -> Iterator[tuple[int, ...]]:
    """Every partial ranking: each ordered subset of the items, then the placeholder."""
    for length in range(len(items) + 1):
        for chosen in permutations(items, length):
            yield (*chosen, placeholder)


def sample(scores: Scores, placeholder: int, rng: np.random.Generator) -> tuple[int, ...]:
    """A partial ranking drawn from eq. 11: scores with Gumbel noise, sorted, cut at the placeholder."""
    noisy = scores + rng.gumbel(size=len(scores))
    ranked = [int(at) for at in np.argsort(-noisy, kind="stable")]
    return tuple(ranked[: ranked.index(placeholder) + 1])


def _log_run(scores: Scores, order: Sequence[int]) -> float:
    """Sum of log exp(s_i) / Σ exp(s_j) over what is left at each choice."""
    left = np.ones(len(scores), bool)
    total = 0.0
    for item in order:
        rest = scores[left]
        top = float(rest.max())
        total += float(scores[item]) - top - float(np.log(np.exp(rest - top).sum()))
        left[item] = False
    return total
