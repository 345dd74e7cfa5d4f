"""The losses of both stages (paper 002, eq. 3, 7-9, 11), on tensors of one question's scores.

torch is not imported: what is done to a tensor are its own methods. The placeholder's score is
the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Term = tuple[int, tuple[int, ...]]  # a positive and its negatives


def terms(values: Sequence[float], rng: np.random.Generator, negatives: int = 31) -> list[Term]:
    """Positives, each with negatives (section 3.1). values: helpfulness, the placeholder's last.

    Positive is what is at least as helpful as nothing, the placeholder included; negatives are
    drawn from what is less helpful than that positive. A positive that has none teaches nothing.
    """
    found: list[Term] = []
    for at, value in enumerate(values):
        if value < values[-1]:
            continue
        lower = [other for other, less in enumerate(values) if less < value]
        if len(lower) > negatives:
            lower = sorted(rng.choice(lower, negatives, replace=False).tolist())
        if lower:
            found.append((at, tuple(lower)))
    return found


def info_nce(scores: Any, chosen: Sequence[Term], tau: float) -> Any:
    """Mean over the terms of -log of eq. 3's fraction. scores: (n,). chosen: at least one term."""
    scaled = scores / tau
    total = scaled.new_zeros(())
    for positive, negatives in chosen:
        among = scaled[[positive, *negatives]]
        total = total + among.logsumexp(0) - among[0]
    return total / len(chosen)


def log_partial(scores: Any, order: Sequence[int]) -> Any:
    """log P of a partial ranking (eq. 11). scores: (n,). order: ends with the placeholder."""
    taken = set(order)
    rest = [at for at in range(len(scores)) if at not in taken]
    arranged = scores[[*order, *rest]]
    left = arranged.flip(0).logcumsumexp(0).flip(0)  # of each item and all after it
    return (arranged - left)[: len(order)].sum()


def dpo(win: Any, lose: Any, win_before: Any, lose_before: Any, beta: float) -> Any:
    """Eq. 7 from log-probabilities under the model and under the frozen reference."""
    margin = beta * ((win - win_before) - (lose - lose_before))
    return margin.new_zeros(()).logaddexp(-margin)


def integrated(
    scores: Any, before: Any, win: Sequence[int], lose: Sequence[int], beta: float, weight: float
) -> Any:
    """Eq. 9: DPO, and `weight` times the likelihood loss of the preferred order (eq. 8).

    scores, before: (n,) under the model and under the reference.
    """
    likely = log_partial(scores, win)
    loss = dpo(
        likely, log_partial(scores, lose), log_partial(before, win), log_partial(before, lose), beta
    )
    return loss - weight * likely
