"""Means with intervals as small drawings: coordinates here, SVG in the template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.evaluate.metrics.bootstrap import Interval
from ragcli.evaluate.metrics.registry import DERIVED, METRICS
from ragcli.evaluate.summary import HEADLINE, LABELS, ArmSummary
from ragcli.text.normalise import safe_for_terminal

PLOTTED = (*HEADLINE, "knowledge_f1", "citation_f1", "label_f1", "abstention", "seconds",
           "prompt_tokens")  # fmt: skip
WIDTH, LEFT, RIGHT = 320.0, 8.0, 312.0
TOP, ROW, AXIS = 4.0, 34.0, 22.0
_TITLES = {"seconds": "seconds", "prompt_tokens": "tokens read", "abstention": "abstention"}
_NAME = 30  # characters of an arm's name that fit above its line


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Point:
    """An arm's line. low, high None: no interval. differs: from the first, 0 being outside."""

    arm: str
    name: str
    y: float
    x: float
    low: float | None
    high: float | None
    value: str
    first: bool
    differs: bool


@dataclass(frozen=True, slots=True)
class Plot:
    """A metric's drawing. reference: x of the first arm's mean."""

    label: str
    doc: str
    better: str
    height: float
    axis: float  # y of its line
    ticks: tuple[Tick, ...]
    points: tuple[Point, ...]
    reference: float


def plots(summaries: Sequence[ArmSummary]) -> tuple[Plot, ...]:
    """One a metric that has numbers, in a fixed order."""
    return tuple(
        _plot(name, summaries) for name in PLOTTED if any(name in s.metrics for s in summaries)
    )


def _plot(name: str, summaries: Sequence[ArmSummary]) -> Plot:
    given = [(one, one.metrics[name]) for one in summaries if name in one.metrics]
    top = _top([_ends(value)[1] for _, value in given])
    points = tuple(
        _point(one, name, value, index, top, one is summaries[0])
        for index, (one, value) in enumerate(given)
    )
    axis = TOP + ROW * len(points) + 2
    doc, better = (
        (METRICS[name].doc, METRICS[name].better)
        if name in METRICS
        else (DERIVED[name].doc, "higher")
    )
    ticks = tuple(Tick(_x(top * part / 4, top), f"{top * part / 4:g}") for part in (0, 1, 2, 3, 4))
    return Plot(
        _title(name), doc, better, axis + AXIS, axis, ticks, points, points[0].x
    )  # fmt: skip


def _point(
    one: ArmSummary, name: str, value: Interval, index: int, top: float, first: bool
) -> Point:
    low, high = _ends(value)
    against = one.against.get(name)
    differs = (
        against is not None
        and against.low is not None
        and against.high is not None
        and (against.low > 0 or against.high < 0)
    )
    none = value.low is None
    arm = safe_for_terminal(one.name)
    return Point(
        arm=arm,
        name=arm if len(arm) <= _NAME else arm[: _NAME - 1] + "…",
        y=TOP + ROW * index + 24,
        x=_x(value.estimate, top),
        low=None if none else _x(low, top),
        high=None if none else _x(high, top),
        value=f"{value.estimate:.{1 if abs(value.estimate) >= 10 else 2}f}",
        first=first,
        differs=differs,
    )


def _title(name: str) -> str:
    return _TITLES.get(name) or LABELS.get(name, name.replace("_", " "))


def _ends(value: Interval) -> tuple[float, float]:
    if value.low is None or value.high is None:
        return value.estimate, value.estimate
    return value.low, value.high


def _top(highs: Sequence[float]) -> float:
    """End of the axis: 1, or the next of 2, 4, 8, 10 times a power of ten."""
    most = max(highs)
    if most <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 8, 10) if most <= step * power)


def _x(value: float, top: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * min(max(value / top, 0.0), 1.0), 2)
