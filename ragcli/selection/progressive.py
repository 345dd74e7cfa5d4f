"""Progressive selection: windows slide over the candidates, k survive each. Pure given scores.

Algorithm 1 of paper 004, lines 14 to 16, where the choice among the kept ones and a window is
the language model's. Here it is by score, so that a better candidate is never lost to a worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def progressive(
    kept: Sequence[T],
    candidates: Sequence[T],
    order: Callable[[Sequence[T]], Sequence[tuple[float, ...]]],
    *,
    identity: Callable[[T], int],
    keep: int = 5,
    window: int = 20,
) -> tuple[T, ...]:
    """The `keep` best of `kept` and the candidates, best first.

    order: keys of the items of one window, the smallest is the best; asked once a window,
    with what was kept so far at its beginning. identity: items of one identity are one item.
    """
    chosen = list(kept)
    for part in windows(candidates, window):
        seen = {identity(one) for one in chosen}
        pool = [*chosen, *(one for one in part if identity(one) not in seen)]
        keys = order(pool)
        ranked = sorted(range(len(pool)), key=lambda at: (keys[at], at))
        chosen = [pool[at] for at in ranked[:keep]]
    return tuple(chosen[:keep])


def windows(candidates: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive runs of `size` candidates; one empty run where there are none."""
    for start in range(0, max(1, len(candidates)), size):
        yield candidates[start : start + size]
