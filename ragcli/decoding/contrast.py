"""Contrast of two branches: DRAG's calibration (paper 001, eq. 8) and CAD.

Eq. 8 subtracts "output distributions". On logits (the default) that is, up to a
constant, a difference of log-probabilities; on probabilities what falls below 0 has
no mass. A bare difference promotes tokens that are improbable in both branches, so
only tokens of the main branch's plausibility set may win: those with at least `share`
of its largest probability.
"""

from __future__ import annotations

import math

import numpy as np

from ragcli.decoding.distribution import Distribution, Floats, Ids, log_softmax
from ragcli.decoding.options import CadOptions, DragOptions


def plausible(z_main: Floats, share: float) -> Ids | None:
    """Ids with p ≥ share · max p under logits (V,); None (all) for share 0."""
    if share == 0:
        return None
    return np.flatnonzero(z_main >= z_main.max() + math.log(share))


def calibrate(z_main: Floats, z_noise: Floats, options: DragOptions) -> Distribution:
    """Eq. 8 with the indicator at 1, from the logits (V,) of both branches."""
    if options.on == "probabilities":
        return subtract_probabilities(z_main, z_noise, options.gamma, options.plausibility)
    return subtract_logits(z_main, z_noise, 1.0, options.gamma, options.plausibility)


def contrast_context(z_context: Floats, z_question: Floats, options: CadOptions) -> Distribution:
    """CAD: softmax((1 + a) z_context - a z_question), logits (V,)."""
    return subtract_logits(z_context, z_question, 1.0 + options.a, options.a, options.plausibility)


def subtract_logits(
    z_main: Floats, z_other: Floats, weight: float, gamma: float, share: float
) -> Distribution:
    """softmax(weight · z_main - gamma · z_other) over the plausibility set of z_main."""
    ids = plausible(z_main, share)
    if ids is not None:
        z_main, z_other = z_main[ids], z_other[ids]
    kind = z_main.dtype.type
    return Distribution(log_softmax(kind(weight) * z_main - kind(gamma) * z_other), ids)


def subtract_probabilities(
    z_main: Floats, z_other: Floats, gamma: float, share: float
) -> Distribution:
    """max(p_main - gamma · p_other, 0) over the plausibility set of z_main, scaled to 1.

    Where nothing stays positive, all mass goes to the largest difference.
    """
    difference = np.exp(log_softmax(z_main)) - gamma * np.exp(log_softmax(z_other))
    ids = plausible(z_main, share)
    if ids is None:
        ids = np.arange(len(z_main))
    difference = difference[ids]
    if not (difference > 0).any():
        best = int(difference.argmax())
        return Distribution(np.zeros(1), ids[best : best + 1])
    return Distribution.normalised(np.maximum(difference, 0), ids)
