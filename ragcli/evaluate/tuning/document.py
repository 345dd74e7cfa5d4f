"""The tuning as a document, and as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragcli.evaluate.metrics.bootstrap import Interval
from ragcli.evaluate.tuning.file import literal, spelled
from ragcli.evaluate.tuning.fit import Fit


def document(fits: Sequence[Fit], about: dict[str, Any]) -> dict[str, Any]:
    """`ragcli/tuning@1`. about: data, model, folds, seed, file, whether it is complete."""
    return {"schema": "ragcli/tuning@1", **about, "parts": [_part(fit) for fit in fits]}


def _part(fit: Fit) -> dict[str, Any]:
    return {
        "part": fit.part,
        "questions": fit.questions,
        "measure": fit.measure,
        "values": [
            {"key": key, "fitted": value, "in_force": fit.before[key]}
            for key, value in fit.values.items()
        ],
        "default": _interval(fit.default),
        "held_in": _interval(fit.held_in),
        "cross_validated": _interval(fit.crossed),
        "gain": _interval(fit.gain),
        "use": fit.keep,
        "why": fit.why,
        "folds": list(fit.folds),
        "facts": fit.facts,
    }


def _interval(value: Interval) -> dict[str, Any]:
    return {"mean": value.estimate, "low": value.low, "high": value.high, "n": value.n}


HEAD = ["", "n", "in force", "held-in", "cross-validated", "gain, cross-validated", "verdict"]


def table(fits: Sequence[Fit]) -> list[list[str]]:
    """A line a part: scores beside one another, the header first."""
    return [
        HEAD,
        *(
            [
                fit.part, str(fit.questions), spelled(fit.default), spelled(fit.held_in),
                spelled(fit.crossed), spelled(fit.gain, signed=True),
                "use" if fit.keep else "keep what is in force",
            ]
            for fit in fits
        ),
    ]  # fmt: skip


def values_table(fits: Sequence[Fit]) -> list[list[str]]:
    """A line a setting: in force, fitted, and what the folds chose."""
    rows = [["setting", "in force", "fitted", "by fold"]]
    for fit in fits:
        for key, value in fit.values.items():
            chosen = ", ".join(literal(fold[key]) for fold in fit.folds)
            rows.append([key, literal(fit.before[key]), literal(value), chosen])
    return rows


def told(fits: Sequence[Fit]) -> list[str]:
    """What follows, a sentence a line."""
    lines = []
    for fit in fits:
        lines.append(f"{fit.part} ({fit.measure}): {fit.why}")
        lines += _FACTS[fit.part](fit.facts) if fit.part in _FACTS else []
    return lines


def _delta(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"  other questions of the kind: delta from {facts['delta_low']:g} to"
        f" {facts['delta_high']:g} (95 %, {facts['tokens']} tokens of {facts['by']})",
        f"  the 95th percentile, where highlights should turn strong, is {facts['strong']:.3g}:"
        f" {facts['strong_factor']:g} times that delta",
    ]
    if "plain" in facts:
        plain = facts["plain"]
        lines.append(
            f"  where retrieval scores the documents (plain): {plain['delta']:g}"
            f" [{plain['delta_low']:g}, {plain['delta_high']:g}], strong from"
            f" {plain['strong']:.3g} ({plain['tokens']} tokens)"
        )
    return lines


def _abstain(facts: dict[str, Any]) -> list[str]:
    def rates(prefix: str) -> str:
        with_, without = facts[f"{prefix}with_source"], facts[f"{prefix}without_source"]
        return f"{with_:.1%} with the source there, {without:.1%} without"

    return [
        f"  abstained: in force {rates('default_')}; fitted {rates('')};"
        f" cross-validated {rates('crossed_')}"
    ]


def _searched(facts: dict[str, Any]) -> list[str]:
    return [f"  {facts['points']} points scored; held-in gain {facts['held_in_gain']:+.3f}"]


_FACTS = {"delta": _delta, "abstain": _abstain, "drag": _searched, "fke": _searched}
