"""Controlled mixes of gold and distractor sentences. Pure.

Source: paper 003, section 3.2 (each gold sentence is kept with p_gold, each distractor with
p_noise), A.1.1 (original order, spacings), A.5 (noisy gold), A.6 (at most k sentences).

The paper draws anew for each pair of rates. Here a sentence has one random number for all of
them and is kept where that lies below its rate: each pair has the same distribution as there,
sets grow with the rates, so neighbouring points differ by the rates and not by luck, and sets
that come again are answered once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Spacing = Literal["linear", "exponential"]

LOWEST = 0.03  # smallest positive rate of the exponential spacing


def rates(points: int, spacing: Spacing) -> tuple[float, ...]:
    """`points` rates from 0 to 1. exponential: 0, then a geometric series from LOWEST to 1.

    Precision falls fast with p_noise where distractors are many, so that linear steps would
    all land near its lower end. Raises ValueError for fewer than two points.
    """
    if points < 2:
        raise ValueError("a grid has two points a side at least")
    if spacing == "linear" or points == 2:
        found = np.linspace(0, 1, points)
    else:
        found = np.concatenate([[0.0], np.geomspace(LOWEST, 1, points - 1)])
    return tuple(round(float(rate), 6) for rate in found)


def draws(seed: int, question_id: str, sentences: int) -> NDArray[np.float64]:
    """(sentences,) random numbers in [0, 1) of a question, the same on every machine."""
    return _random(seed, question_id, "keep").random(sentences)


def sample(
    gold: Sequence[bool], p_gold: float, p_noise: float, numbers: NDArray[np.float64]
) -> tuple[int, ...]:
    """Indices of the sentences kept, ascending. numbers: (len(gold),) from `draws`."""
    limits = np.where(np.asarray(gold, bool), p_gold, p_noise)
    return tuple(int(at) for at in np.flatnonzero(numbers < limits))


def capped(chosen: Sequence[int], k: int | None, seed: int, question_id: str) -> tuple[int, ...]:
    """At most k of them, which ones at random; order is kept. None: all."""
    if k is None or len(chosen) <= k:
        return tuple(chosen)
    # An order of all sentences, so that which ones stay does not hang on how many there were.
    order = _random(seed, question_id, "cap").random(max(chosen) + 1)
    kept = sorted(chosen, key=lambda at: float(order[at]))[:k]
    return tuple(sorted(kept))


def noisy(gold: Sequence[bool], seed: int, question_id: str) -> tuple[bool, ...]:
    """The marks with one gold sentence passed off as a distractor, where there are two or more."""
    places = [at for at, mark in enumerate(gold) if mark]
    if len(places) < 2:
        return tuple(gold)
    lost = places[int(_random(seed, question_id, "noisy").integers(len(places)))]
    return tuple(mark and at != lost for at, mark in enumerate(gold))


def precision_recall_f1(chosen: Sequence[int], gold: Sequence[bool]) -> tuple[float, float, float]:
    """Knowledge precision, recall and F1; 0 where there is nothing to divide by."""
    right = sum(gold[at] for at in chosen)
    precision = right / len(chosen) if chosen else 0.0
    recall = right / sum(gold) if any(gold) else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _random(seed: int, question_id: str, purpose: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/{purpose}/{question_id}".encode()).digest()
    return np.random.Generator(np.random.Philox(int.from_bytes(digest[:8], "little")))
