"""How far an organiser agrees with the generator, and what it changes in answers. Pure.

Paper 002, section 5.3 (eq. 12) and 5.5 (Figure 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changes:
    """Questions by whether they were answered before and after: P right, N wrong (section 5.3)."""

    pp: int
    np: int
    pn: int
    nn: int

    @property
    def efficiency(self) -> float | None:
        """|NP| / |PN| (eq. 12); None where nothing was spoiled and the ratio says nothing."""
        return self.np / self.pn if self.pn else None


def changes(before: Sequence[bool], after: Sequence[bool]) -> Changes:
    """The four groups."""
    counts = Counter(zip(before, after, strict=True))
    return Changes(
        counts[True, True], counts[False, True], counts[True, False], counts[False, False]
    )


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two judges' labels: agreement beyond what their habits would give.

    0 where both always say the same one thing: such agreement says nothing. Raises ValueError
    where there is nothing to compare.
    """
    if len(first) != len(second) or not first:
        raise ValueError("as many labels of each judge, at least one")
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    habits = Counter(first), Counter(second)
    chance = sum(habits[0][label] * habits[1][label] for label in habits[0]) / n**2
    return (agreed - chance) / (1 - chance) if chance < 1 else 0.0


def pair_accuracy(scores: Sequence[float], values: Sequence[float]) -> tuple[int, int]:
    """(right, pairs): pairs whose values differ, and those that the scores order alike.

    Equal scores order nothing.
    """
    right = pairs = 0
    for one in range(len(values)):
        for other in range(one):
            if values[one] != values[other]:
                pairs += 1
                right += (scores[one] - scores[other]) * (values[one] - values[other]) > 0
    return right, pairs
