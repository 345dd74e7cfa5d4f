"""FKE: the document branch and the sentence branch mixed (paper 000, eq. 7-10).

    p = (softmax(z_d / tau_d) + alpha softmax(z_s / tau_s)) / (1 + alpha)   over V'

A temperature of 0 is the limit: all mass on the argmax, the lowest id of equals.

The trap: with tau_d = 0 and alpha <= 1 the document branch's argmax holds at least
1 / (1 + alpha) >= 1/2 of the mixture, so the greedy choice is always that argmax and
the sentences do nothing. They act when sampling, with alpha > 1, or with tau_d > 0.

Which branch's top-k tokens make up V' is not published: the union by default.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragcli.decoding.distribution import Distribution, Floats, Ids, log_softmax, top_ids
from ragcli.decoding.options import FkeOptions


def kept_tokens(z_d: Floats, z_s: Floats, k: int, vocabulary: str) -> Ids:
    """V' of eq. 8, ascending ids: the k likeliest tokens of one branch, or of either."""
    if vocabulary == "documents":
        return top_ids(z_d, k)
    if vocabulary == "sentences":
        return top_ids(z_s, k)
    return np.union1d(top_ids(z_d, k), top_ids(z_s, k))


def tempered_softmax(logits: Floats, tau: float) -> NDArray[np.float64]:
    """softmax(z / tau) of logits (n,); tau = 0 is one-hot at the argmax."""
    if tau == 0:
        one_hot = np.zeros(len(logits))
        one_hot[int(logits.argmax())] = 1.0
        return one_hot
    # shifted before the division: z / tau overflows for a tiny tau, (z - max) / tau
    # at worst becomes -inf, whose exponential is the 0 it should be
    with np.errstate(over="ignore"):
        shifted = (logits.astype(np.float64) - float(logits.max())) / tau
    probabilities: NDArray[np.float64] = np.exp(log_softmax(shifted))
    return probabilities


def mix(p_d: Floats, p_s: Floats, alpha: float) -> NDArray[np.float64]:
    """Eq. 9: probabilities (n,) of the mixture, float64."""
    return (p_d.astype(np.float64) + alpha * p_s.astype(np.float64)) / (1.0 + alpha)


def fuse(z_d: Floats, z_s: Floats, options: FkeOptions) -> Distribution:
    """Eq. 8 and 9 from the logits (V,) of both branches."""
    kept = kept_tokens(z_d, z_s, options.top_k, options.vocabulary)
    p_d = tempered_softmax(z_d[kept], options.tau_d)
    p_s = tempered_softmax(z_s[kept], options.tau_s)
    return Distribution.normalised(mix(p_d, p_s, options.alpha), kept)


def document_share(z_d: Floats, options: FkeOptions) -> Distribution:
    """The mixture as it would be without the sentence branch (alpha = 0), for drafts."""
    kept = top_ids(z_d, options.top_k)
    return Distribution.normalised(tempered_softmax(z_d[kept], options.tau_d), kept)
