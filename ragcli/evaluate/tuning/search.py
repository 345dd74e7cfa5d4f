"""Search over a small grid, and whether what it finds holds on questions it did not see.

A coordinate search in two steps. First every value of every axis alone, the others as in force:
one pass over the questions, so that what a question's prompts have in common is read once. Then
the axes' best changes that gain something, put together one after another, the largest gain
first. The point with the highest mean wins; equal means are parted by the second score, then by
the fewer changes. Each fold has a search of its own, over the other folds' questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.evaluate.metrics.bootstrap import Interval, mean_interval, paired_difference
from ragcli.evaluate.tuning.folds import Numbers, by_fold, folds, held_out

Point = tuple[str, ...]  # settings beside those in force; () is what is in force
Table = Mapping[Point, NDArray[np.float64]]  # (questions, 2): the score, and one for equal scores


@dataclass(frozen=True, slots=True)
class Axis:
    """Settings that are changed together, and what to change them to."""

    name: str
    moves: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Where to search: axes around a start, which may itself differ from what is in force."""

    axes: tuple[Axis, ...]
    start: Point = ()

    def alone(self) -> tuple[Point, ...]:
        """What is in force, the start, and each move from it."""
        moves = [(*self.start, *move) for axis in self.axes for move in axis.moves]
        return tuple(dict.fromkeys([(), self.start, *moves]))


def together(space: Space, table: Table, inside: Numbers) -> tuple[Point, ...]:
    """The axes' gains put together: the two largest, the three largest, and so on."""
    start = _mean(table, space.start, inside)
    gains: list[tuple[tuple[float, float], int, Point]] = []
    for number, axis in enumerate(space.axes):
        moves = [move for move in axis.moves if (*space.start, *move) in table]
        if not moves:
            continue
        best = max(moves, key=lambda move: _mean(table, (*space.start, *move), inside))
        mean = _mean(table, (*space.start, *best), inside)
        if mean > start:
            gains.append((mean, -number, best))
    gains.sort(reverse=True)
    moves = [move for _, _, move in gains]
    return tuple(
        (*space.start, *(one for move in moves[:n] for one in move))
        for n in range(2, len(moves) + 1)
    )


def still_wanted(
    space: Space, table: Table, parts: Sequence[Numbers], whole: Numbers
) -> tuple[Point, ...]:
    """What the searches of all folds, and that over all questions, would have scored next."""
    found = [*by_fold(parts, lambda inside: together(space, table, inside))]
    found.append(together(space, table, whole))
    return tuple(dict.fromkeys(p for points in found for p in points if p not in table))


def best(space: Space, table: Table, inside: Numbers) -> Point:
    """What a search over these questions comes to, among the points that were scored."""
    start = [space.start] if space.start in table else []
    moves = [point for point in space.alone() if point and point != space.start]
    known = [p for p in (*start, *moves, *together(space, table, inside)) if p in table]
    return max(known, key=lambda point: _mean(table, point, inside))  # the first of equals


@dataclass(frozen=True, slots=True)
class Searched:
    """What came out. by_fold: each fold's choice. See `fit.Fit` for the scores.

    over_start: as gain, against the start: what the search itself adds.
    """

    point: Point
    by_fold: tuple[Point, ...]
    default: Interval
    held_in: Interval
    crossed: Interval
    gain: Interval
    held_in_gain: Interval
    over_start: Interval
    moved: bool

    @property
    def better(self) -> bool:
        """Whether what is chosen on some questions beats what is in force on others, beyond noise.

        What moved away from the start must beat the start too, which may bring all of the gain.
        """
        moved = not self.moved or _positive(self.over_start)
        return bool(self.point) and _positive(self.gain) and moved


def cross_validate(space: Space, table: Table, k: int, seed: int) -> Searched:
    """The search over all questions, and one a fold. table: holds () and the start at least.

    Raises UsageError for fewer questions than folds.
    """
    n = len(table[()])
    parts, whole = folds(n, k, seed), tuple(range(n))
    point = best(space, table, whole)
    chosen = by_fold(parts, lambda inside: best(space, table, inside))
    crossed = held_out(parts, chosen, lambda one, at: float(table[one][at, 0]))
    default, held_in = table[()][:, 0].tolist(), table[point][:, 0].tolist()
    return Searched(
        point, chosen,
        mean_interval(default, seed=seed),
        mean_interval(held_in, seed=seed),
        mean_interval(crossed, seed=seed),
        paired_difference(crossed, default, seed=seed),
        paired_difference(held_in, default, seed=seed),
        paired_difference(crossed, table[space.start][:, 0].tolist(), seed=seed),
        point != space.start,
    )  # fmt: skip


def _positive(gain: Interval) -> bool:
    return gain.low is not None and gain.low > 0


def table_of(
    rows: Mapping[Point, Mapping[str, tuple[float, float]]], ids: Iterable[str]
) -> dict[Point, NDArray[np.float64]]:
    """Columns over these questions, of the points that have them all."""
    wanted = list(ids)
    return {
        point: np.array([scores[id] for id in wanted], np.float64).reshape(-1, 2)
        for point, scores in rows.items()
        if all(id in scores for id in wanted)
    }


def _mean(table: Table, point: Point, inside: Numbers) -> tuple[float, float]:
    """Rounded, so that the order of a sum decides nothing."""
    first, second = table[point][list(inside)].mean(axis=0).round(9).tolist()
    return first, second
