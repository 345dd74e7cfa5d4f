"""Where points and intervals are drawn."""

from __future__ import annotations

import pytest

from ragcli.evaluate.report.plots import LEFT, RIGHT, plots
from ragcli.evaluate.summary import summarise


def rows(values: dict[str, list[float]], metric: str) -> list[dict[str, object]]:
    return [
        {"arm": arm, "question_id": str(number), "scores": {metric: value}}
        for arm, column in values.items()
        for number, value in enumerate(column)
    ]


@pytest.mark.parametrize(
    ("most", "last"), [(0.5, "1"), (1.0, "1"), (1.5, "2"), (3, "4"), (41, "80"), (1000, "1000")]
)
def test_the_axis_holds_the_largest(most: float, last: str) -> None:
    (plot,) = plots(summarise(rows({"a": [0, most, most]}, "seconds"), ["a"]))
    assert plot.ticks[-1].text == last
    (point,) = plot.points
    assert point.low is not None
    assert point.high is not None
    assert LEFT <= point.low <= point.x <= point.high <= RIGHT


def test_arms_that_differ_are_told_apart() -> None:
    table = {"first": [0.0] * 8, "same": [0.0] * 8, "better": [1.0] * 8, "one": [1.0]}
    (plot,) = plots(summarise(rows(table, "em"), list(table)))
    assert [(p.arm, p.first, p.differs) for p in plot.points] == [
        ("first", True, False), ("same", False, False), ("better", False, True),
        ("one", False, False),
    ]  # fmt: skip
    assert plot.points[3].low is None
    assert plot.reference == LEFT
    assert plot.points[2].x == RIGHT
    heights = [point.y for point in plot.points]
    assert heights == sorted(heights)
    assert heights[-1] < plot.axis < plot.height
