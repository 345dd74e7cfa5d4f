"""Intervals: against numpy, against theory, and how often they hold the truth."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.evaluate.metrics.bootstrap import interval, mean_interval, paired_difference
from ragcli.evaluate.metrics.registry import f1_of_means

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=12)


def test_as_drawn_by_hand_with_numpy() -> None:
    rng = np.random.default_rng(3)
    ours, theirs = rng.random(40), rng.random(40)
    rows = rng.integers(0, 40, (20_000, 40))
    low, high = np.percentile((ours - theirs)[rows].mean(axis=1), [2.5, 97.5])
    found = paired_difference(ours, theirs)
    assert found.estimate == pytest.approx(ours.mean() - theirs.mean())
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)
    assert found.n == 40


def test_near_the_normal_interval_for_many() -> None:
    values = np.random.default_rng(1).random(400)
    half = 1.96 * values.std() / np.sqrt(400)
    found = mean_interval(values)
    assert found.low == pytest.approx(values.mean() - half, abs=0.003)
    assert found.high == pytest.approx(values.mean() + half, abs=0.003)


def test_pairs_are_kept() -> None:
    # one always 0.1 above the other, however much questions differ
    theirs = np.random.default_rng(2).random(30)
    found = paired_difference(theirs + 0.1, theirs)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for trial in range(200):
        found = mean_interval((rng.random(40) < 0.3).astype(float), seed=trial)
        held += found.low <= 0.3 <= found.high
    assert 176 <= held <= 198  # 0.95 · 200 = 190; 40 yes-or-no questions give a little less


def test_a_statistic_of_several_means() -> None:
    precision, recall = [1.0, 0.5, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]
    found = interval([precision, recall], f1_of_means)
    # means 0.625 and 0.375: 2 · 0.625 · 0.375 / 1
    assert found.estimate == pytest.approx(0.46875)
    assert 0 <= found.low < found.estimate < found.high <= 1


def test_one_question_has_no_interval() -> None:
    found = mean_interval([0.5])
    assert (found.estimate, found.low, found.high, found.n) == (0.5, None, None, 1)


@pytest.mark.parametrize("columns", [[], [[]], [[1.0], [1.0, 0.0]], [[float("nan"), 1.0]]])
def test_what_cannot_be_drawn_from(columns) -> None:
    with pytest.raises(ValueError):
        interval(columns, np.subtract)


@settings(max_examples=15)
@given(VALUES, st.integers(0, 9))
def test_properties(values: list[float], seed: int) -> None:
    found = mean_interval(values, seed=seed)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found == mean_interval(values, seed=seed)
    same = paired_difference(values, values, seed=seed)
    assert (same.estimate, same.low, same.high) == (0, 0, 0)


def test_a_missing_library_is_one_line(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(UsageError, match="scipy"):
        mean_interval([0.0, 1.0])
