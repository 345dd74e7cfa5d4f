"""The abstention threshold on made-up scores."""

from __future__ import annotations

import numpy as np
import pytest

from ragcli.evaluate.tuning.abstention import Judged, Weighed, choose, fit_abstention


def judged(there: float, gone: float, *, refused: bool = False) -> Judged:
    return Judged("", Weighed(there, refused), Weighed(gone))


def test_the_threshold_that_parts_them_best() -> None:
    rows = [judged(1.6, 0.8), judged(1.4, 1.0), judged(1.5, 0.9)]
    assert choose(rows, 0.5) == 1.2  # between 1.0 and 1.4
    assert choose(rows, 1.3) == 1.3  # parts them as well, and is in force


def test_the_bound_on_abstentions_with_the_source_holds() -> None:
    """J is largest at 1.25, but that abstains on 2 of 10 whose source is there."""
    rows = [judged(1.5, 1.2)] * 8 + [judged(1.0, 0.5), judged(1.1, 0.5)]
    assert choose(rows, 0.5, most=1.0) == 1.35
    assert choose(rows, 0.5) == 0.75


def test_where_other_rules_abstain_too_often_no_threshold_adds_to_it() -> None:
    rows = [judged(1.5, 1.2, refused=at < 3) for at in range(10)]
    assert choose(rows, 0.9) == 0.9
    assert choose(rows, 1.9) <= 1.5


def test_a_better_threshold_is_found_and_holds() -> None:
    rng = np.random.default_rng(0)
    rows = [judged(rng.uniform(1.2, 1.8), rng.uniform(0.4, 1.0)) for _ in range(60)]
    fit = fit_abstention(rows, in_force=0.5, k=5, seed=0)
    assert 0.95 < fit.values["evidence.enough"] < 1.25
    assert fit.keep
    assert fit.crossed.estimate > 0.95
    assert (fit.facts["with_source"], fit.facts["without_source"]) == (0.0, 1.0)


def test_scores_that_say_nothing_leave_what_is_in_force() -> None:
    rng = np.random.default_rng(1)
    rows = [judged(*rng.uniform(0.5, 1.8, 2)) for _ in range(60)]
    fit = fit_abstention(rows, in_force=0.6, k=5, seed=0)
    assert not fit.keep
    assert fit.held_in.estimate >= fit.crossed.estimate
    assert "not better" in fit.why


def test_what_is_in_force_is_replaced_where_it_abstains_too_often() -> None:
    rows = [judged(1.0 + at / 100, 0.99 + at / 100) for at in range(60)]
    fit = fit_abstention(rows, in_force=1.5, k=5, seed=0)
    assert fit.keep
    assert fit.facts["default_with_source"] == pytest.approx(50 / 60, abs=1e-3)
    assert fit.facts["with_source"] <= 0.15
    assert "more than 15%" in fit.why
