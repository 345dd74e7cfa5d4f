"""Plackett-Luce with the placeholder: exhaustive, against brute force, by differences."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.train.plackett import gradient, log_full, log_partial, partial_orders, sample

scored = st.lists(st.floats(-8, 8), min_size=1, max_size=5).map(np.array)


def orders(scores: np.ndarray) -> list[tuple[int, ...]]:
    """All partial orders; the placeholder is the last item."""
    last = len(scores) - 1
    return list(partial_orders(range(last), last))


@given(scored)
def test_all_partial_orders_sum_to_one(scores: np.ndarray) -> None:
    total = sum(np.exp(log_partial(scores, order)) for order in orders(scores))
    assert total == pytest.approx(1.0, abs=1e-9)


@given(scored)
def test_all_full_rankings_sum_to_one(scores: np.ndarray) -> None:
    every = permutations(range(len(scores)))
    assert sum(np.exp(log_full(scores, order)) for order in every) == pytest.approx(1, abs=1e-9)


@given(scored)
def test_a_partial_order_is_the_sum_of_the_full_ones_that_begin_so(scores: np.ndarray) -> None:
    """Appendix A."""
    fulls = {order: np.exp(log_full(scores, order)) for order in permutations(range(len(scores)))}
    for order in orders(scores):
        brute = sum(p for full, p in fulls.items() if full[: len(order)] == order)
        assert np.exp(log_partial(scores, order)) == pytest.approx(brute, rel=1e-9, abs=1e-12)


def test_the_number_of_partial_orders_is_that_of_section_2() -> None:
    for n, expected in ((0, 1), (1, 2), (2, 5), (3, 16), (4, 65)):  # ⌊e · n!⌋ for n > 0
        found = list(partial_orders(range(n), n))
        assert len(set(found)) == len(found) == expected


@given(scored, st.randoms(use_true_random=False))
def test_the_gradient_is_that_of_differences(scores: np.ndarray, random) -> None:
    order = random.choice(orders(scores))
    step = 1e-5
    for at in range(len(scores)):
        up, down = scores.copy(), scores.copy()
        up[at] += step
        down[at] -= step
        slope = (log_partial(up, order) - log_partial(down, order)) / (2 * step)
        assert gradient(scores, order)[at] == pytest.approx(slope, abs=1e-6)


@given(scored, st.floats(-50, 50))
def test_only_differences_of_scores_count(scores: np.ndarray, shift: float) -> None:
    for order in orders(scores):
        assert log_partial(scores + shift, order) == pytest.approx(log_partial(scores, order))


def test_samples_follow_the_probabilities() -> None:
    scores = np.array([1.0, -0.5, 0.3])
    rng = np.random.default_rng(0)
    n = 20_000
    drawn = Counter(sample(scores, 2, rng) for _ in range(n))
    for order in orders(scores):
        expected = np.exp(log_partial(scores, order))
        assert drawn[order] / n == pytest.approx(expected, abs=4 * np.sqrt(0.25 / n))


def test_extreme_scores_stay_finite() -> None:
    assert log_partial(np.array([1e4, -1e4, 0.0]), (1, 0, 2)) == pytest.approx(-2e4)


@pytest.mark.parametrize("order", [(), (0, 0, 2), (1, 1)])
def test_what_is_no_ranking_is_refused(order: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):
        log_partial(np.zeros(3), order)
    with pytest.raises(ValueError):
        log_full(np.zeros(3), order)


def test_inputs_are_left_alone() -> None:
    scores = np.array([0.5, 1.5, 0.0])
    log_partial(scores, (1, 2))
    gradient(scores, (1, 2))
    sample(scores, 2, np.random.default_rng(1))
    assert scores.tolist() == [0.5, 1.5, 0.0]
