"""Choosing a token: the likeliest, or a seeded draw.

A draw is the argmax of log p + g with standard Gumbel noise g, which is distributed as p
(the Gumbel-max trick). The noise of a token is a function of seed, step and token only.
Two nearly equal distributions therefore nearly always give the same token, which is what
lets a draft of the document branch stand, and a step is drawn alike with and without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.decoding.distribution import Distribution, Floats, Ids, log_softmax, top_ids
from ragcli.decoding.options import SamplingOptions


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen token and by how much it won: nats between it and the runner-up.

    margin is inf when there is no other candidate.
    """

    token: int
    margin: float


def choose(distribution: Distribution, sampling: SamplingOptions, step: int) -> Choice:
    """The token of step `step` (0-based). Ties go to the lower id."""
    scores = perturbed(distribution, sampling, step)
    place = int(scores.logp.argmax())
    below = float(scores.logp[:place].max(initial=-np.inf))
    above = float(scores.logp[place + 1 :].max(initial=-np.inf))
    return Choice(scores.token(place), float(scores.logp[place]) - max(below, above))


def perturbed(distribution: Distribution, sampling: SamplingOptions, step: int) -> Distribution:
    """What the choice is the argmax of: log-probabilities, with noise where it is drawn."""
    if sampling.temperature == 0:
        return distribution
    kept = restrict(distribution, sampling)
    return Distribution(kept.logp + _noise(kept, sampling.seed, step), kept.ids)


def restrict(distribution: Distribution, sampling: SamplingOptions) -> Distribution:
    """The distribution that is sampled: temperature, then top-k, then top-p.

    top-p keeps the fewest likeliest tokens whose probabilities reach it, at least one.
    """
    logp, ids = distribution.logp, distribution.ids
    with np.errstate(over="ignore"):  # a tiny temperature leaves the likeliest token alone
        logp = (logp.astype(np.float64) - float(logp.max())) / sampling.temperature
    kept = top_ids(logp, sampling.top_k)
    if sampling.top_p < 1:
        kept = kept[_nucleus(logp[kept], sampling.top_p)]
    if len(kept) < len(logp):
        logp, ids = logp[kept], kept if ids is None else ids[kept]
    return Distribution(log_softmax(logp), ids)


def _nucleus(logp: Floats, top_p: float) -> Ids:
    """Places, ascending, of the likeliest tokens that together reach top_p."""
    p = np.exp(log_softmax(logp))
    wanted, size = 256, len(p)
    while wanted < size and p[top_ids(p, wanted)].sum() < top_p:
        wanted *= 8  # sorting the few likeliest is far cheaper than sorting a vocabulary
    places = top_ids(p, wanted)
    order = places[np.argsort(-p[places], kind="stable")]
    count = int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1
    return np.sort(order[:count])


def _noise(distribution: Distribution, seed: int, step: int) -> NDArray[np.float64]:
    """Gumbel noise (n,) of the distribution's tokens; raw Philox output is stable."""
    ids = distribution.ids
    size = len(distribution.logp) if ids is None else int(ids[-1]) + 1
    raw = np.random.Philox(key=seed, counter=[0, 0, step, 0]).random_raw(size)
    bits = raw if ids is None else raw[ids]
    uniform = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52  # never 0 or 1
    return -np.log(-np.log(uniform))
