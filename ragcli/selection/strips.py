"""CRAG's knowledge refinement: texts cut into strips, the irrelevant ones left out. Pure.

Paper 000, appendix A.3. Strips are runs of whole sentences of one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def cut(count: int, size: int = 3) -> list[tuple[int, int]]:
    """Strips (first, last) of a text of `count` sentences, about `size` each, as even as can be."""
    pieces = max(1, round(count / size)) if count else 0
    borders = [count * n // pieces for n in range(pieces + 1)] if pieces else []
    return list(pairwise(borders))


def keep(scores: Sequence[float], floor: float, most: int) -> list[int]:
    """Indices of the strips that stay, ascending: the `most` best of those of at least `floor`.

    Ties go to the earlier strip. Where none reaches the floor the best one stays, so that
    something is read.
    """
    ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    relevant = [at for at in ranked if scores[at] >= floor]
    return sorted((relevant or ranked[:1])[:most])
