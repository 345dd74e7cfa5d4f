"""Bootstrap intervals: of a mean, and of the difference between two ways to answer.

Source: Efron 1979; paired over questions as in Koehn 2004. Percentile intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import UsageError

Column = Sequence[float]
Statistic = Callable[..., Any]  # of one mean per column; must take arrays as well as numbers

RESAMPLES = 5000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate from n questions. low, high: None for a single question, which has none."""

    estimate: float
    low: float | None
    high: float | None
    n: int


def mean_interval(values: Column, *, seed: int = 0) -> Interval:
    """The mean of one value a question. Raises ValueError for none."""
    return interval([values], _identity, seed=seed)


def paired_difference(ours: Column, theirs: Column, *, seed: int = 0) -> Interval:
    """mean(ours) − mean(theirs) where index i is the same question in both.

    Raises ValueError for none, or lengths that differ.
    """
    return interval([ours, theirs], np.subtract, seed=seed)


def interval(columns: Sequence[Column], statistic: Statistic, *, seed: int = 0) -> Interval:
    """`statistic` of the columns' means, questions (rows) drawn with replacement.

    columns: equally long, one value a question. The same seed draws the same questions.
    Raises ValueError for no rows, unequal lengths and values that are not finite, UsageError
    where scipy is missing.
    """
    data = [np.asarray(column, np.float64) for column in columns]
    if not data or len({len(column) for column in data}) != 1 or not len(data[0]):
        raise ValueError("columns must be equally long and hold a question at least")
    if not all(np.isfinite(column).all() for column in data):
        raise ValueError("a value is not a number")
    estimate = float(statistic(*(column.mean() for column in data)))
    if len(data[0]) == 1:
        return Interval(estimate, None, None, 1)
    low, high = _percentiles(data, statistic, seed)
    return Interval(estimate, low, high, len(data[0]))


def _percentiles(
    data: Sequence[NDArray[np.float64]], statistic: Statistic, seed: int
) -> tuple[float, float]:
    try:
        from scipy.stats import bootstrap
    except ImportError as error:
        raise UsageError(
            "intervals need the package scipy", hint="pip install 'ragcli[eval]'"
        ) from error

    def of_rows(*columns: NDArray[np.float64], axis: int = -1) -> Any:
        return statistic(*(column.mean(axis=axis) for column in columns))

    found = bootstrap(
        data, of_rows, paired=len(data) > 1, vectorized=True, n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE, method="percentile", rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def _identity(mean: Any) -> Any:
    return mean
