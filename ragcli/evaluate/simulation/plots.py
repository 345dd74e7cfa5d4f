"""The plots of a simulation; the only import of matplotlib.

Source: paper 003, Figures 2 (points over precision and recall), 3 (answer F1 against each
knowledge metric), 4 (contours of recall), 7 (each sentence alone). Readable without colour: what
is marked differs in shape, contours in dash and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragcli.errors import UsageError
from ragcli.evaluate.simulation.analysis import Baselines, Point, correlations, histogram, marked

_SHAPES = {"": ("o", "0.75", "other"), "above full": ("^", "0.1", "above full knowledge"),
           "below none": ("v", "white", "below no knowledge")}  # fmt: skip
_LINES = ("-", "--", "-.", ":")
_MARKERS = "osD^vPX*"
_METRICS = {"kp": "knowledge precision", "kr": "knowledge recall", "kf1": "knowledge F1"}


def check() -> None:
    """Raises UsageError where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "plots need the package matplotlib", hint="pip install 'ragcli[plots]'"
        ) from error


def draw(
    points: Sequence[Point], baselines: Baselines, alone: Sequence[float], folder: Path
) -> list[Path]:
    """Writes each plot as PNG and SVG into an existing folder. Raises UsageError, OSError."""
    check()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figures = {
        "precision-recall": _plane(points, baselines),
        "metrics": _metrics(points, baselines),
        "contours": _contours(points, baselines),
    }
    if alone:
        figures["alone"] = _alone(alone)
    written = []
    for name, figure in figures.items():
        FigureCanvasAgg(figure)
        for kind in ("png", "svg"):
            file = folder / f"{name}.{kind}"
            # No date and no random ids: the same numbers give the same bytes.
            figure.savefig(file, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            written.append(file)
    return written


def _figure(columns: int = 1) -> tuple[Any, Any]:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "ragcli"
    figure = Figure(figsize=(5.2 * columns, 4.4), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for one in axes:
        one.grid(color="0.9")
        one.set_axisbelow(True)
    return figure, axes


def _plane(points: Sequence[Point], baselines: Baselines) -> Any:
    """Answer F1 written beside each point of the plane of precision and recall."""
    figure, (axes,) = _figure()
    _scatter(axes, points, baselines, "kp", "kr")
    for group in _near(points):
        low, high = min(one.f1 for one in group), max(one.f1 for one in group)
        text = _short(low) if _short(low) == _short(high) else f"{_short(low)}-{_short(high)}"
        axes.annotate(text, (group[-1].kp, group[-1].kr), (6, 5),
                      textcoords="offset points", fontsize=7)  # fmt: skip
    axes.set(xlabel="knowledge precision", ylabel="knowledge recall", xlim=(-0.05, 1.1),
             ylim=(-0.05, 1.1), title="answer F1 by mix")  # fmt: skip
    _legend(figure, axes)
    return figure


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _near(points: Sequence[Point]) -> list[list[Point]]:
    """Points whose labels would cover each other, from left to right."""
    groups: list[list[Point]] = []
    for one in sorted(points, key=lambda one: (round(one.kr, 2), one.kp)):
        last = groups[-1][-1] if groups else None
        if last and abs(one.kr - last.kr) < 0.03 and one.kp - last.kp < 0.06:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _scatter(axes: Any, points: Sequence[Point], baselines: Baselines, x: str, y: str) -> None:
    for mark, (shape, shade, label) in _SHAPES.items():
        some = [one for one in points if marked(one, baselines) == mark]
        if some:
            axes.scatter(
                [getattr(one, x) for one in some], [getattr(one, y) for one in some],
                marker=shape, c=shade, edgecolors="0.1", s=50, label=label, zorder=3,
            )  # fmt: skip


def _metrics(points: Sequence[Point], baselines: Baselines) -> Any:
    """Answer F1 against each knowledge metric, with standard errors and correlation."""
    figure, every = _figure(3)
    found = correlations(points)
    for axes, (name, label) in zip(every, _METRICS.items(), strict=True):
        axes.errorbar(
            [getattr(one, name) for one in points], [one.f1 for one in points],
            [one.f1_error for one in points],
            fmt="none", color="0.7", ecolor="0.7", capsize=2,
        )  # fmt: skip
        _scatter(axes, points, baselines, name, "f1")
        _base_lines(axes, baselines)
        r = found[name]
        axes.set(xlabel=label, xlim=(-0.05, 1.05), title="" if r is None else f"r = {r:.2f}")
    every[0].set_ylabel("answer F1")
    _legend(figure, every[0])
    return figure


def _contours(points: Sequence[Point], baselines: Baselines) -> Any:
    """Answer F1 against precision, a line for each rate of gold sentences."""
    figure, (axes,) = _figure()
    rates = sorted({one.p_gold for one in points})
    for number, rate in enumerate(rates):
        line = sorted((one for one in points if one.p_gold == rate), key=lambda one: one.kp)
        recall = sum(one.kr for one in line) / len(line)
        axes.plot(
            [one.kp for one in line], [one.f1 for one in line],
            linestyle=_LINES[number % len(_LINES)], marker=_MARKERS[number % len(_MARKERS)],
            color=f"{0.7 * (1 - number / len(rates)):.2f}", label=f"recall {recall:.2f}",
        )  # fmt: skip
    _base_lines(axes, baselines)
    axes.set(xlabel="knowledge precision", ylabel="answer F1", xlim=(-0.05, 1.05))
    _legend(figure, axes)
    return figure


def _legend(figure: Any, axes: Any) -> None:
    """Beside the points: it covers none."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)


def _base_lines(axes: Any, baselines: Baselines) -> None:
    """Lines of the baselines, named at the right edge; near ones share a name."""
    low, high = axes.get_ylim()
    names: list[tuple[float, str]] = []
    for one, style, label in sorted(
        ((baselines.none, (0, (1, 3)), "none"), (baselines.full, (0, (5, 2)), "full"),
         (baselines.gold, (0, (1, 1)), "gold")),
        key=lambda line: line[0].f1,
    ):  # fmt: skip
        axes.axhline(one.f1, color="0.45", linewidth=1, linestyle=style)
        if names and one.f1 - names[-1][0] < 0.05 * (high - low):
            names[-1] = (names[-1][0], f"{names[-1][1]}, {label}")
        else:
            names.append((one.f1, label))
    for height, text in names:
        axes.annotate(text, (1, height), (3, 0), xycoords=("axes fraction", "data"),
                      textcoords="offset points", va="center", fontsize=7, color="0.3")  # fmt: skip


def _alone(values: Sequence[float]) -> Any:
    """How many sentences give which answer F1 by themselves."""
    figure, (axes,) = _figure()
    counts = histogram(values)
    axes.bar([at / 10 + 0.05 for at in range(10)], [count / len(values) for count in counts],
             width=0.09, color="0.6", edgecolor="0.1", hatch="//")  # fmt: skip
    axes.set(xlabel="answer F1 from the sentence alone", ylabel="share of sentences")
    return figure
