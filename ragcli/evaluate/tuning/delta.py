"""DRAG's delta: the risk that a wanted share of tokens reaches (paper 001, eq. 8 and section 4).

Nothing is searched and no answer is looked at: risks of uncalibrated answers are pooled over
questions, and delta is their quantile. Questions are the units of folds and intervals, since
tokens of one answer are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ragcli.evaluate.metrics.bootstrap import Interval, interval
from ragcli.evaluate.tuning.fit import Fit
from ragcli.evaluate.tuning.folds import Numbers, by_fold, folds, held_out

KEY = "drag.delta"
STRONG = 0.05  # tokens above the 95th percentile are highlighted strongly
Risks = Sequence[Sequence[float]]  # of each question's tokens


def threshold(risks: Sequence[float], share: float) -> float:
    """The risk which a share of the tokens reaches, as nearly as equal risks allow.

    Half-way between two neighbours, in as few digits, three at least, as part the same tokens.
    Among shares equally near the smaller one. Raises ValueError for no tokens.
    """
    values, counts = np.unique(np.asarray(risks, np.float64), return_counts=True)
    if not len(values):
        raise ValueError("no tokens")
    reached = counts[::-1].cumsum()[::-1] / counts.sum()  # by values[i] and all above
    shares = [*reached.tolist(), 0.0]
    at = min(range(len(shares)), key=lambda i: (abs(shares[i] - share), shares[i]))
    if at == 0:
        return float(values[0])
    low = float(values[at - 1])
    high = float(values[at]) if at < len(values) else 2 * low or 1.0
    middle = (low + high) / 2
    short = (float(f"{middle:.{digits}g}") for digits in (3, 4, 5, 6))
    return next((one for one in short if low < one <= high), middle)


def share_of(risks: Risks, delta: float, seed: int = 0) -> Interval:
    """The share of tokens of risk delta at least, questions drawn anew for the interval."""
    return _ratio([_reached(one, delta) for one in risks], risks, seed)


def fit_delta(
    risks: Risks, *, share: float, in_force: float, k: int, seed: int, by: str = "drag"
) -> Fit:
    """delta for a share. risks: one sequence a question, uncalibrated. by: whose they are.

    What is in force is kept where the wanted share lies in the interval of its share.
    Raises UsageError for fewer questions than folds, ValueError for no tokens.
    """
    parts = folds(len(risks), k, seed)
    delta = threshold(list(chain.from_iterable(risks)), share)
    chosen = by_fold(parts, lambda inside: threshold(_pooled(risks, inside), share))
    before, held_in = share_of(risks, in_force, seed), share_of(risks, delta, seed)
    reached = held_out(parts, chosen, lambda one, at: _reached(risks[at], one))
    crossed = _ratio(reached, risks, seed)
    gain = _gain(risks, reached, in_force, share, seed)
    off = before.low is None or before.high is None or not before.low <= share <= before.high
    keep = off and delta != in_force
    return Fit(
        "delta", len(risks), {KEY: delta}, {KEY: in_force}, f"share of tokens, {share:g} wanted",
        before, held_in, crossed, gain, keep,
        f"{before.estimate:.1%} of the tokens reach {in_force:g}: {share:.0%} is"
        f" {'outside' if off else 'within'} its interval",
        tuple({KEY: one} for one in chosen), _facts(risks, delta, share, by, seed),
    )  # fmt: skip


def _facts(risks: Risks, delta: float, share: float, by: str, seed: int) -> dict[str, Any]:
    every = list(chain.from_iterable(risks))
    strong = threshold(every, STRONG)
    low, high = spread(risks, share, seed)
    return {
        "by": by, "tokens": len(every), "share": share, "delta_low": low, "delta_high": high,
        "strong": strong, "strong_factor": round(strong / delta, 3) if delta else None,
    }  # fmt: skip


def spread(risks: Risks, share: float, seed: int, rounds: int = 500) -> tuple[float, float]:
    """95 % of the deltas that other questions of the same kind would have given."""
    rng = np.random.default_rng(seed)
    n = len(risks)
    draws = (rng.integers(n, size=n).tolist() for _ in range(rounds))
    found = [threshold(one, share) for draw in draws if (one := _pooled(risks, draw))]
    low, high = np.percentile(found, [2.5, 97.5])
    return float(f"{low:.3g}"), float(f"{high:.3g}")


def _gain(
    risks: Risks, reached: Sequence[float], in_force: float, share: float, seed: int
) -> Interval:
    """How much nearer to the share the held-out tokens come than with what is in force."""

    def nearer(theirs: Any, ours: Any, tokens: Any) -> Any:
        return abs(theirs / tokens - share) - abs(ours / tokens - share)

    kept = [at for at, one in enumerate(risks) if one]
    columns = [
        [_reached(risks[at], in_force) for at in kept],
        [reached[at] for at in kept],
        [float(len(risks[at])) for at in kept],
    ]
    return interval(columns, nearer, seed=seed)


def _ratio(reached: Sequence[float], risks: Risks, seed: int) -> Interval:
    """Tokens that reach a threshold against all; questions without tokens are left out."""
    pairs = [(n, float(len(one))) for n, one in zip(reached, risks, strict=True) if one]
    divide: Callable[..., Any] = np.divide
    return interval([[n for n, _ in pairs], [size for _, size in pairs]], divide, seed=seed)


def _reached(risks: Sequence[float], delta: float) -> float:
    return float(sum(one >= delta for one in risks))


def _pooled(risks: Risks, inside: Sequence[int] | Numbers) -> list[float]:
    return [one for at in inside for one in risks[at]]
