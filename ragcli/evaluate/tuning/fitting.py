"""A part of the tuning from beginning to end: runs, then what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ragcli.evaluate.arms import method_of
from ragcli.evaluate.tuning.delta import STRONG, fit_delta, spread, threshold
from ragcli.evaluate.tuning.fit import Fit
from ragcli.evaluate.tuning.running import BARE, UNCALIBRATED, Outcome, Runner, search
from ragcli.evaluate.tuning.search import Axis, Point
from ragcli.evaluate.tuning.spaces import keys_of, space_of, values_at
from ragcli.methods.analysing import for_method

_MEASURES = {"f1": "token F1", "str_em": "str-EM", "list_f1_5": "list F1-5"}


def fit_risks(runner: Runner, share: float, k: int, seed: int) -> Fit | None:
    """delta, from the risks of answers that are not calibrated; None where a budget left too few.

    Risks are those of drag's own prompts, with its analysis of the question; the scale of
    methods without one is told beside it. Raises ModelError where risk is unknown.
    """
    found = runner.risks(UNCALIBRATED)
    bare = runner.risks(BARE)
    risks = [one for one in found.values() if one]
    if len(risks) < k:
        return None
    settings = for_method(runner.plan.settings(UNCALIBRATED), method_of(UNCALIBRATED))
    in_force = settings.drag.delta
    fit = fit_delta(risks, share=share, in_force=in_force, k=k, seed=seed)
    facts = {**fit.facts, "answered": min(len(found), len(bare))}
    every = list(chain.from_iterable(bare.values()))
    if not every:
        return replace(fit, facts=facts)
    low, high = spread(list(bare.values()), share, seed)
    plain = {
        "delta": threshold(every, share),
        "delta_low": low,
        "delta_high": high,
        "strong": threshold(every, STRONG),
        "tokens": len(every),
    }
    return replace(fit, facts={**facts, "plain": plain})


def fit_settings(
    runner: Runner, part: str, axes: Sequence[Axis], start: Point, k: int, seed: int
) -> tuple[Fit | None, bool]:
    """The searched settings of a part, and whether no budget cut the search short."""
    in_force = runner.plan.assignments
    space = space_of(axes, in_force, start)
    outcome = search(runner, part, space, k, seed)
    if outcome is None:
        return None, False
    return _fit(part, outcome, axes, in_force, start), outcome.whole


def _fit(
    part: str, outcome: Outcome, axes: Sequence[Axis], in_force: Sequence[str], start: Point
) -> Fit:
    found, keys = outcome.searched, keys_of(axes)
    values = values_at(found.point, in_force, keys)
    before = values_at((), in_force, keys)
    keep = found.better and values != before
    verdict = "better" if found.better else "not better"
    return Fit(
        part, len(outcome.questions), values, before,
        _MEASURES[outcome.objective[0]],
        found.default, found.held_in, found.crossed, found.gain, keep,
        f"on held-out questions {verdict} than what is in force, beyond noise",
        tuple(values_at(point, in_force, keys) for point in found.by_fold),
        {
            "objective": list(outcome.objective),
            "points": outcome.points,
            "start": list(start),
            "held_in_gain": found.held_in_gain.estimate,
            "gain_over_start": found.over_start.estimate,
        },
    )  # fmt: skip
