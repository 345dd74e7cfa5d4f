"""How often is a verifier right? Its accuracy, class by class, on `pairs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np

from ragcli.cite.verify import Verifier
from ragcli.evaluate.pairs import FORMS, MAKINGS, Form, Making, Pair

TOGETHER = 4  # questions whose pairs are judged in one call: they share their premises
_Z = 1.959964  # 95 % of a normal distribution lies within


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Pairs of one making and form. right: judged as labelled; low, high: Wilson, 95 %."""

    making: Making
    form: Form
    supported: bool
    n: int
    right: int
    low: float
    high: float

    @property
    def accuracy(self) -> float:
        return self.right / self.n


@dataclass(frozen=True, slots=True)
class Judged:
    """A verifier's results.

    supported, unsupported: accuracy on the pairs of either label. balanced: their mean, 0.5 for
    a coin. auc: how often a supported pair scores above an unsupported one, ties half: what
    another bar could reach at best. Premise-only habits show as a class near 0.
    """

    verifier: str
    bar: float
    classes: tuple[ClassResult, ...]
    supported: float
    unsupported: float
    auc: float
    seconds: float

    @property
    def balanced(self) -> float:
        return (self.supported + self.unsupported) / 2


def judged(
    verifier: Verifier, pairs: Sequence[Pair], tick: Callable[[int], None] = lambda done: None
) -> Judged:
    """Let a verifier judge all pairs; its verdict "supported" counts as yes, any other as no.

    tick: called with the number of pairs done. Raises ValueError where one label has no pairs,
    and what the verifier raises.
    """
    labels = np.array([pair.supported for pair in pairs], bool)
    if not labels.any() or labels.all():
        raise ValueError("supported and unsupported pairs are needed")
    start = perf_counter()
    scores: list[float] = []
    for part in _parts(pairs):
        scores += verifier.entails([one.premise for one in part], [one.claim for one in part])
        tick(len(scores))
    seconds = perf_counter() - start
    right = (np.array(scores) >= verifier.supported) == labels
    return Judged(
        verifier=verifier.name,
        bar=verifier.supported,
        classes=tuple(_classes(pairs, right.tolist())),
        supported=float(right[labels].mean()),
        unsupported=float(right[~labels].mean()),
        auc=auc(np.array(scores)[labels], np.array(scores)[~labels]),
        seconds=seconds,
    )


def auc(supported: Any, unsupported: Any) -> float:
    """Area under the ROC curve: P(supported above unsupported) + half the ties."""
    above = np.asarray(supported)[:, None] - np.asarray(unsupported)[None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def wilson(right: int, n: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927), which holds near 0 and 1 too."""
    share, z = right / n, _Z**2 / n
    centre = (share + z / 2) / (1 + z)
    half = _Z / (1 + z) * sqrt(share * (1 - share) / n + z / (4 * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def verifiers_document(results: Sequence[Judged], *, data: str, questions: int) -> dict[str, Any]:
    """`ragcli/verifiers@1`."""
    return {
        "schema": "ragcli/verifiers@1",
        "data": data,
        "questions": questions,
        "verifiers": [
            {
                "verifier": one.verifier,
                "bar": one.bar,
                "balanced": one.balanced,
                "supported": one.supported,
                "unsupported": one.unsupported,
                "auc": one.auc,
                "seconds": one.seconds,
                "classes": [
                    {"making": each.making, "claim": each.form, "supported": each.supported,
                     "n": each.n, "right": each.right, "accuracy": each.accuracy,
                     "low": each.low, "high": each.high}
                    for each in one.classes
                ],
            }
            for one in results
        ],
    }  # fmt: skip


def _parts(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Pairs in their order, a few questions at a time."""
    part: list[Pair] = []
    for number, (_, group) in enumerate(groupby(pairs, key=lambda pair: pair.question_id), 1):
        part += group
        if number % TOGETHER == 0:
            yield part
            part = []
    if part:
        yield part


def _classes(pairs: Sequence[Pair], right: Sequence[bool]) -> Iterator[ClassResult]:
    for making in MAKINGS:
        for form in FORMS:
            hits = [
                hit
                for pair, hit in zip(pairs, right, strict=True)
                if (pair.making, pair.form) == (making, form)
            ]
            if hits:
                low, high = wilson(sum(hits), len(hits))
                yield ClassResult(making, form, making == "gold", len(hits), sum(hits), low, high)
