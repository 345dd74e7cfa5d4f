"""Distributions over tokens: what every decoder gives and every choice is made from.

Logits arrive as float32 rows of the whole vocabulary. Exponentials are taken in the
precision of the input, sums in float64. Inputs are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ids: TypeAlias = NDArray[np.intp]


def log_sum_exp(logits: Floats) -> float:
    """log Σ exp(z) over z (n,), n ≥ 1, safe for any size of z; nan if z holds nan."""
    top = logits.max()
    return float(top) + float(np.log(np.exp(logits - top).sum(dtype=np.float64)))


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities (n,) of logits (n,), in the precision of the input."""
    top = logits.max()
    shifted = logits - top
    total = np.log(np.exp(shifted).sum(dtype=np.float64))
    result: Floats = shifted - logits.dtype.type(total)
    return result


def top_ids(logits: Floats, k: int) -> Ids:
    """Ids, ascending, of the k largest of logits (n,); ties go to the lower id.

    k = 0 or k ≥ n: all of them.
    """
    size = len(logits)
    if not 0 < k < size:
        return np.arange(size)
    least = np.partition(logits, size - k)[size - k]
    above = np.flatnonzero(logits > least)
    equal = np.flatnonzero(logits == least)[: k - len(above)]
    return np.sort(np.concatenate([above, equal]))


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Log-probabilities of the tokens that may be chosen; all others have none.

    logp: (n,) finite. ids: (n,) ascending token ids, None when it is the whole
    vocabulary in order.
    """

    logp: Floats
    ids: Ids | None = None

    @classmethod
    def of(cls, logits: Floats, ids: Ids | None = None) -> Distribution:
        """softmax over logits (V,), or over those of `ids` alone."""
        return cls(log_softmax(logits if ids is None else logits[ids]), ids)

    @classmethod
    def normalised(cls, weights: Floats, ids: Ids) -> Distribution:
        """Weights (n,) ≥ 0 with a positive sum, scaled to 1; tokens without weight go."""
        kept = weights > 0
        weights = weights[kept].astype(np.float64)
        return cls(np.log(weights / weights.sum()), ids[kept])

    def token(self, place: int) -> int:
        """The token at a place of `logp`."""
        return place if self.ids is None else int(self.ids[place])

    def logprob(self, token: int) -> float:
        """Log-probability of a token, -inf if it may not be chosen."""
        if self.ids is None:
            return float(self.logp[token])
        place = int(np.searchsorted(self.ids, token))
        found = place < len(self.ids) and int(self.ids[place]) == token
        return float(self.logp[place]) if found else float("-inf")

    def entropy(self) -> float:
        """-Σ p log p, in nats."""
        return max(0.0, -float(np.dot(np.exp(self.logp), self.logp)))

    def dense(self, size: int) -> NDArray[np.float64]:
        """Log-probabilities (size,) float64 of the whole vocabulary."""
        row = np.full(size, -np.inf)
        row[slice(None) if self.ids is None else self.ids] = self.logp
        return row
