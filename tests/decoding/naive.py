"""A second implementation of the equations: plain Python lists, written from the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def softmax(z: Row, tau: float = 1.0) -> list[float]:
    if tau == 0:
        first = list(z).index(max(z))
        return [1.0 if v == first else 0.0 for v in range(len(z))]
    weights = [math.exp((one - max(z)) / tau) for one in z]
    return [one / math.fsum(weights) for one in weights]


def largest(z: Row, k: int) -> set[int]:
    order = sorted(range(len(z)), key=lambda v: (-z[v], v))
    return set(order[:k] if k else order)


def fke(
    z_d: Row, z_s: Row, alpha: float, tau_d: float, tau_s: float, k: int, vocabulary: str
) -> list[float]:
    kept = {"documents": largest(z_d, k), "sentences": largest(z_s, k)}.get(vocabulary)
    kept = largest(z_d, k) | largest(z_s, k) if kept is None else kept
    inside = sorted(kept)
    p_d = softmax([z_d[v] for v in inside], tau_d)
    p_s = softmax([z_s[v] for v in inside], tau_s)
    mixed = {v: (d + alpha * s) / (1 + alpha) for v, d, s in zip(inside, p_d, p_s, strict=True)}
    return [mixed.get(v, 0.0) for v in range(len(z_d))]


def contrast(z: Row, other: Row, weight: float, gamma: float, share: float) -> list[float]:
    p = softmax(z)
    kept = [v for v in range(len(z)) if p[v] >= share * max(p) * (1 - 1e-12)]
    inside = softmax([weight * z[v] - gamma * other[v] for v in kept])
    return [dict(zip(kept, inside, strict=True)).get(v, 0.0) for v in range(len(z))]


def risk(lexical: float, attention: Row, scores: Row, top: float) -> float:
    total = 0.0
    for mass, score in zip(attention, scores, strict=True):
        total += mass / (1 + score)
    return lexical * total * (1 - top)
