"""What a simulation says: points, correlations, how the generator behaves, advice. Pure.

Source: paper 003, sections 5, 6.1 (strong and weak generators) and 6.2 (recommendations).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Literal

Behaviour = Literal["strong", "weak", "undetermined"]

_BINS = 10
_HIGH_RECALL = 0.8  # what the paper calls high is not published
_SURE = 0.9  # agreement of other draws, from which on a verdict is said without a doubt


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one mix: knowledge metrics, answer metrics, sentences read."""

    kp: float
    kr: float
    kf1: float
    em: float
    f1: float
    sentences: int


@dataclass(frozen=True, slots=True)
class Point:
    """Means over n questions, and the standard error of the mean answer F1 (0 for one).

    full_error: standard error of the mean difference in answer F1 to all knowledge, taken
    question by question: hard questions are hard with either.
    """

    p_gold: float
    p_noise: float
    n: int
    kp: float
    kr: float
    kf1: float
    em: float
    f1: float
    f1_error: float
    sentences: float
    full_error: float


@dataclass(frozen=True, slots=True)
class Baselines:
    """No knowledge, all of it, and the gold sentences alone."""

    none: Point
    full: Point
    gold: Point


def point(
    p_gold: float, p_noise: float, outcomes: Sequence[Outcome], full: Sequence[Outcome]
) -> Point:
    """full: the same questions with all knowledge. Raises ValueError for no outcomes."""
    if not outcomes:
        raise ValueError("no question was answered")
    return Point(
        p_gold=p_gold,
        p_noise=p_noise,
        n=len(outcomes),
        kp=mean(one.kp for one in outcomes),
        kr=mean(one.kr for one in outcomes),
        kf1=mean(one.kf1 for one in outcomes),
        em=mean(one.em for one in outcomes),
        f1=mean(one.f1 for one in outcomes),
        f1_error=standard_error([one.f1 for one in outcomes]),
        sentences=mean(one.sentences for one in outcomes),
        full_error=standard_error(
            [one.f1 - other.f1 for one, other in zip(outcomes, full, strict=True)]
        ),
    )


def standard_error(values: Sequence[float]) -> float:
    """Of the mean: sample deviation by √n; 0 for a single value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def marked(one: Point, baselines: Baselines) -> Literal["above full", "below none", ""]:
    """As the paper's Figure 2 marks its points."""
    if one.f1 > baselines.full.f1:
        return "above full"
    return "below none" if one.f1 < baselines.none.f1 else ""


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r; None for fewer than three points, or where one side does not vary."""
    if len(x) < 3:
        return None
    mean_x, mean_y = mean(x), mean(y)
    a, b = [value - mean_x for value in x], [value - mean_y for value in y]
    scale = math.sqrt(sum(v * v for v in a) * sum(v * v for v in b))
    return sum(p * q for p, q in zip(a, b, strict=True)) / scale if scale > 1e-12 else None


def correlations(points: Sequence[Point]) -> dict[str, float | None]:
    """Of answer F1 with knowledge precision, recall and F1, over the points."""
    f1 = [one.f1 for one in points]
    return {
        name: correlation([getattr(p, name) for p in points], f1) for name in ("kp", "kr", "kf1")
    }


def behaviour(points: Sequence[Point]) -> Behaviour:
    """strong: answer F1 follows recall; weak: it follows knowledge F1 (section 6.1)."""
    found = correlations(points)
    recall, both = found["kr"], found["kf1"]
    if recall is None or both is None or recall == both:
        return "undetermined"
    return "strong" if recall > both else "weak"


def histogram(values: Sequence[float]) -> list[int]:
    """Counts in ten bins of answer F1: [0, 0.1), … [0.9, 1] (appendix A.4)."""
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value * _BINS), _BINS - 1)] += 1
    return counts


def advice(
    points: Sequence[Point],
    baselines: Baselines,
    *,
    agreement: float | None = None,
    cap: int | None = None,
) -> list[str]:
    """Section 6.2 in words, with these numbers; one finding a line.

    agreement: how often other draws of the questions give the same verdict on the generator.
    cap: most sentences of a mix.
    """
    none, full, gold = baselines.none, baselines.full, baselines.gold
    lines = [_value(full, none), _room(full, gold), _kind(points, agreement)]
    better = [one for one in points if marked(one, baselines) == "above full"]
    lines += [_where(better, points, full), _harm(points, baselines), _capped(points, full, cap)]
    return [line for line in lines if line]


def _value(full: Point, none: Point) -> str:
    gain = full.f1 - none.f1
    verb = "Retrieval helps" if gain > 0 else "Retrieval without selection does not help"
    return (
        f"{verb}: answer F1 is {none.f1:.3f} without knowledge and {full.f1:.3f} with all of it"
        f" ({gain:+.3f})."
    )


def _room(full: Point, gold: Point) -> str:
    room = gold.f1 - full.f1
    numbers = f"F1 {full.f1:.3f} with all candidates, {gold.f1:.3f} with the gold ones alone"
    if room <= 0:
        return f"A selector has nothing to win here: {numbers}."
    return f"A perfect selector could win {room:.3f} F1 ({numbers}){_doubt(gold, full)}."


def _doubt(one: Point, full: Point) -> str:
    """Where the lead over all knowledge may be luck."""
    if one.f1 - full.f1 > 2 * one.full_error:
        return ""
    return f", within noise (standard error {one.full_error:.3f}): ask more questions"


def _kind(points: Sequence[Point], agreement: float | None) -> str:
    found, kind = correlations(points), behaviour(points)
    if kind == "undetermined":
        return (
            "Whether the generator behaves as a strong or a weak one cannot be told: its answers"
            " do not change with the mix."
        )
    numbers = f"r = {found['kr']:.2f} with knowledge recall, {found['kf1']:.2f} with knowledge F1"
    doubt = ""
    if agreement is not None:
        doubt = f"; so in {agreement:.0%} of other draws of these questions"
        doubt += "" if agreement >= _SURE else ", which is not certain: ask more"
    if kind == "strong":
        return (
            f"The generator behaves as a strong one on this data ({numbers}{doubt}). Improve the"
            " recall of retrieval first (more passages, a better encoder); a selector comes second."
        )
    return (
        f"The generator behaves as a weak one on this data ({numbers}{doubt}). Distractors hurt"
        " it, so a selector that keeps most of the gold sentences pays (--method fke, --select)."
    )


def _where(better: Sequence[Point], points: Sequence[Point], full: Point) -> str:
    if not better:
        return "No mix did better than all candidates: read everything, without a selector."
    easiest = min(better, key=lambda one: (one.kp, -one.kr))
    text = (
        f"A selector must reach about precision {easiest.kp:.2f} at recall {easiest.kr:.2f} to beat"
        f" reading everything (F1 {easiest.f1:.3f} against {full.f1:.3f}){_doubt(easiest, full)}."
    )
    low = [one for one in points if one.kr < _HIGH_RECALL and one in better]
    if not low:
        text += f" Below recall {_HIGH_RECALL} no mix did."
    return text


def _harm(points: Sequence[Point], baselines: Baselines) -> str:
    """Distractors may leave less than the model knows by itself (section 5)."""
    below = [one for one in points if marked(one, baselines) == "below none"]
    if not below:
        return ""
    worst = min(below, key=lambda one: one.f1)
    return (
        f"{len(below)} of {len(points)} mixes did worse than no knowledge at all, the worst with"
        f" F1 {worst.f1:.3f} at precision {worst.kp:.2f}, recall {worst.kr:.2f}: where retrieval"
        " finds nothing that fits, abstain rather than answer from it."
    )


def _capped(points: Sequence[Point], full: Point, cap: int | None) -> str:
    if cap is None:
        return ""
    best = max(points, key=lambda one: one.f1)
    noun = "sentence" if cap == 1 else "sentences"
    return (
        f"With at most {cap} {noun} the best mix has F1 {best.f1:.3f} (precision {best.kp:.2f},"
        f" recall {best.kr:.2f}), all candidates {full.f1:.3f}: fewer sentences cost nothing only"
        " where precision and recall stay."
    )
