"""How sure a verdict on a generator is: questions drawn again, the verdict made again. Pure.

The paper has 452 to 500 questions and reads its figures by eye; a user has thirty, where the
two correlations may differ by luck.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.evaluate.simulation.analysis import Behaviour, Outcome

DRAWS = 1000

Array = NDArray[np.float64]


def agreement(
    cells: Sequence[Sequence[Outcome]], verdict: Behaviour, seed: int = 0
) -> float | None:
    """The share of bootstrap draws of the questions that give the same verdict.

    cells: the outcomes of each mix, the same questions in the same order. None where there
    was no verdict. Draws without a verdict of their own do not agree.
    """
    if verdict == "undetermined":
        return None
    recall, both, answers = (
        np.array([[getattr(one, name) for one in cell] for cell in cells], np.float64)
        for name in ("kr", "kf1", "f1")
    )
    questions = recall.shape[1]
    drawn = np.random.default_rng(seed).integers(questions, size=(DRAWS, questions))
    f1 = _means(answers, drawn)
    lead = _correlations(_means(recall, drawn), f1) - _correlations(_means(both, drawn), f1)
    return float(np.mean(lead > 0 if verdict == "strong" else lead < 0))


def _means(values: Array, drawn: NDArray[np.int64]) -> Array:
    """(draws, cells) means of (cells, questions) values over (draws, questions) indices."""
    return np.asarray(values[:, drawn].mean(axis=2).T)


def _correlations(x: Array, y: Array) -> Array:
    """(draws,) Pearson's r over the cells; NaN where one side does not vary."""
    a, b = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    found = np.full(len(x), np.nan)
    np.divide((a * b).sum(axis=1), scale, out=found, where=scale > 1e-12)
    return found
