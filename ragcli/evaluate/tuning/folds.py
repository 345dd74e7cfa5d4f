"""Questions in folds: each is judged by what was chosen without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ragcli.errors import UsageError

T = TypeVar("T")
Numbers = tuple[int, ...]  # of questions, from 0


def folds(n: int, k: int, seed: int) -> tuple[Numbers, ...]:
    """n questions dealt out to k folds in a random order; sizes differ by one at most.

    Raises UsageError where there are fewer questions than folds, or fewer than two folds.
    """
    if k < 2:
        raise UsageError(f"--folds {k}: at least 2")
    if n < k:
        raise UsageError(
            f"{n} questions cannot be parted into {k} folds",
            hint="more questions, or fewer --folds",
        )
    order = np.random.default_rng(seed).permutation(n).tolist()
    return tuple(tuple(sorted(order[at::k])) for at in range(k))


def others(fold: Numbers, n: int) -> Numbers:
    """The questions outside a fold."""
    inside = frozenset(fold)
    return tuple(at for at in range(n) if at not in inside)


def by_fold(parts: Sequence[Numbers], choose: Callable[[Numbers], T]) -> tuple[T, ...]:
    """What is chosen for each fold from the questions outside it."""
    n = sum(map(len, parts))
    return tuple(choose(others(fold, n)) for fold in parts)


def held_out(
    parts: Sequence[Numbers], chosen: Sequence[T], value: Callable[[T, int], float]
) -> list[float]:
    """One value a question, by what was chosen without it. chosen: one a fold."""
    found = [0.0] * sum(map(len, parts))
    for fold, choice in zip(parts, chosen, strict=True):
        for at in fold:
            found[at] = value(choice, at)
    return found
