"""What can be told of the plots without looking at them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from ragcli.evaluate.simulation.analysis import Baselines, Point
from ragcli.evaluate.simulation.plots import _base_lines, _near, draw


def at(kp: float, kr: float, f1: float) -> Point:
    both = 2 * kp * kr / (kp + kr) if kp + kr else 0.0
    return Point(kr, 0.1, 10, kp, kr, both, f1, f1, 0.05, 3.0, 0.05)


def test_every_colour_is_a_grey(tmp_path: Path) -> None:
    points = [at(p, r, p * r) for p in (0.1, 0.4, 1.0) for r in (0.2, 0.5, 1.0)]
    bases = Baselines(at(0, 0, 0.05), at(0.1, 1, 0.4), at(1, 1, 0.6))
    files = draw(points, bases, [0, 0.4, 1], tmp_path)
    for file in files:
        if file.suffix == ".svg":
            colours = re.findall(r"#([0-9a-f]{6})\b", file.read_text(encoding="utf-8"))
            assert colours
            assert all(c[:2] == c[2:4] == c[4:] for c in colours), file.name


def test_labels_that_would_cover_each_other_are_one() -> None:
    points = [at(0.05, 0.2, 0.1), at(0.01, 0.2, 0.0), at(0.3, 0.2, 0.2), at(0.05, 0.5, 0.3)]
    groups = [[one.f1 for one in group] for group in _near(points)]
    assert groups == [[0.0, 0.1], [0.2], [0.3]]


@pytest.mark.parametrize(
    ("heights", "names"),
    [
        ((0.1, 0.4, 0.9), ["none", "full", "gold"]),
        ((0.1, 0.11, 0.9), ["none, full", "gold"]),
        ((0.5, 0.2, 0.2), ["full, gold", "none"]),
    ],
)
def test_baselines_are_named_once(heights: tuple[float, float, float], names: list[str]) -> None:
    axes = Figure().subplots()
    axes.set_ylim(0, 1)
    none, full, gold = (at(0, 0, f1) for f1 in heights)
    _base_lines(axes, Baselines(none, full, gold))
    assert [text.get_text() for text in axes.texts] == names
