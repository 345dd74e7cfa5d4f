"""Irrelevance risk of a token (paper 001, eq. 4-7), from the main branch alone.

Without an analyzer the lexical risk is 1 and documents are scored by retrieval, scaled
to [0, 1]; without attention rows the attention risk, and so the total, is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.decoding.options import DragOptions
from ragcli.types import Component, Risk

Masses = NDArray[np.float64]


def lexical_risk(components: Sequence[Component], options: DragOptions) -> float:
    """Eq. 4: the weights of the query's components summed.

    An empty analysis counts as one variant component, the query itself.
    """
    weights = {
        "invariant": options.lambda_inv,
        "variant": options.lambda_var,
        "supplementary": options.lambda_sup,
    }
    kinds = [component.kind for component in components] or ["variant"]
    return float(sum(weights[kind] for kind in kinds))


def source_masses(row: NDArray[np.float32], owner: NDArray[np.int32], sources: int) -> Masses:
    """Attention on each source sentence, (sources,).

    row: (length,) over the branch's positions. owner: (prompt,) the source each prompt
    token belongs to, or -1; later positions belong to none.
    """
    weights = row[: len(owner)]
    return _sums(owner[: len(weights)] + 1, weights, sources + 1)[1:]


def document_masses(masses: Masses, slots: NDArray[np.intp], documents: int) -> Masses:
    """A_i of eq. 5, (documents,): the masses of each document's sentences summed.

    slots: (sources,) the document each source sentence belongs to.
    """
    return _sums(slots, masses, documents)


def _sums(bins: NDArray[np.integer[Any]], weights: NDArray[np.floating[Any]], size: int) -> Masses:
    return np.bincount(bins, weights, minlength=size).astype(np.float64)


def attention_risk(masses: Masses, scores: NDArray[np.float64], reading: str = "raw") -> float:
    """Eq. 5: Σ A_i / (1 + s_i) over documents; masses, scores (documents,), s_i in [0, 1].

    reading "renormalised" scales the masses to sum to 1 (none at all stays 0).
    """
    total = float(masses.sum())
    if reading == "renormalised" and total > 0:
        masses = masses / total
    return float((masses / (1.0 + scores)).sum())


def prediction_risk(log_top: float) -> float:
    """Eq. 6: 1 - max p, from the log of the largest probability."""
    return float(min(1.0, max(0.0, -np.expm1(log_top))))


def combine(
    lexical: float, attention: float | None, prediction: float, factors: str = "all"
) -> Risk:
    """Eq. 7: the product; unknown when a part of it is. factors: see `DragOptions`."""
    if factors == "prediction":
        return Risk(lexical, attention, prediction, prediction)
    left = lexical if factors == "all" else 1.0
    total = None if attention is None else left * attention * prediction
    return Risk(lexical, attention, prediction, total)
