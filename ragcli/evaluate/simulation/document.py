"""A simulation as its JSON document and as a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragcli.evaluate.simulation.analysis import (
    Baselines,
    Point,
    advice,
    behaviour,
    correlations,
    histogram,
    marked,
)
from ragcli.evaluate.simulation.simulate import Design, Result

_HEAD = ["p gold", "p noise", "KP", "KR", "KF1", "sentences", "EM", "F1", "±", ""]


def document(result: Result, design: Design, about: Mapping[str, Any]) -> dict[str, Any]:
    """`ragcli/simulation@1`. about: data, model, folder, plots."""
    baselines = _known(result)
    return {
        "schema": "ragcli/simulation@1",
        **about,
        "questions": result.questions,
        "grid": {
            "p_gold": list(design.p_gold),
            "p_noise": list(design.p_noise),
            "cap": design.cap,
            "noisy_gold": design.noisy_gold,
            "seed": design.seed,
        },
        "baselines": {name: _rounded(one) for name, one in _named(baselines)},
        "points": [{**_rounded(one), "mark": marked(one, baselines)} for one in result.points],
        "correlation": {
            name: None if r is None else round(r, 4)
            for name, r in correlations(result.points).items()
        },
        "behaviour": behaviour(result.points),
        "agreement": result.agreement,
        "advice": list(told(result, design)),
        "cut": result.cut,
        "alone": {"bins": histogram(result.alone), "sentences": len(result.alone)}
        if result.alone
        else None,
    }


def table(result: Result) -> list[list[str]]:
    """Baselines, then points; the first row is the head."""
    baselines = _known(result)
    rows = [["", name, *_cells(one), ""] for name, one in _named(baselines)]
    rows += [
        [f"{p.p_gold:.2f}", f"{p.p_noise:.2f}", *_cells(p), marked(p, baselines)]
        for p in result.points
    ]
    return [_HEAD, *rows]


def told(result: Result, design: Design) -> Sequence[str]:
    """The advice, a finding a line."""
    return advice(result.points, _known(result), agreement=result.agreement, cap=design.cap)


def alone_table(values: Sequence[float]) -> list[list[str]]:
    """Answer F1 from single sentences in ten bins; the first row is the head (appendix A.4)."""
    counts = histogram(values)
    rows = [
        [f"{at / 10:.1f}-{(at + 1) / 10:.1f}", str(count), f"{count / len(values):.0%}"]
        for at, count in enumerate(counts)
    ]
    return [["F1 of a sentence alone", "sentences", "share"], *rows]


def _known(result: Result) -> Baselines:
    if result.baselines is None:
        raise ValueError("no question was answered")
    return result.baselines


def _named(baselines: Baselines) -> list[tuple[str, Point]]:
    return [("none", baselines.none), ("full", baselines.full), ("gold", baselines.gold)]


def _cells(one: Point) -> list[str]:
    values = [f"{value:.3f}" for value in (one.kp, one.kr, one.kf1)]
    answers = [f"{value:.3f}" for value in (one.em, one.f1, one.f1_error)]
    return [*values, f"{one.sentences:.1f}", *answers]


def _rounded(one: Point) -> dict[str, Any]:
    return {k: round(v, 6) if isinstance(v, float) else v for k, v in asdict(one).items()}
