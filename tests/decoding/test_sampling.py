from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragcli.decoding.distribution import Distribution
from ragcli.decoding.options import SamplingOptions
from ragcli.decoding.sampling import choose, restrict

SIZE = 8
rows = arrays(np.float64, SIZE, elements=st.floats(-10, 10))


def test_greedy_takes_the_lowest_id_of_equals_and_says_by_how_much() -> None:
    choice = choose(Distribution.of(np.array([0.0, 3, 3, 1])), SamplingOptions(), 0)
    assert (choice.token, choice.margin) == (1, 0.0)
    choice = choose(Distribution.of(np.array([0.0, 3, 1]), np.array([0, 2])), SamplingOptions(), 0)
    assert (choice.token, choice.margin) == (2, pytest.approx(1.0))
    alone = choose(Distribution.of(np.array([0.0, 3]), np.array([0])), SamplingOptions(), 0)
    assert (alone.token, alone.margin) == (0, math.inf)


def test_drawn_frequencies_are_the_probabilities() -> None:
    p, draws = np.array([0.5, 0.3, 0.15, 0.05]), 4000
    distribution, sampling = Distribution.of(np.log(p)), SamplingOptions(temperature=1, seed=7)
    counts = np.bincount(
        [choose(distribution, sampling, step).token for step in range(draws)], minlength=4
    )
    chi_square = float(((counts - draws * p) ** 2 / (draws * p)).sum())
    assert chi_square < 16.3  # 3 degrees of freedom, 0.999 quantile; the seed is fixed


def test_a_step_draws_the_same_however_often_it_is_asked() -> None:
    distribution = Distribution.of(np.zeros(50))
    draws = [
        [choose(distribution, SamplingOptions(temperature=1, seed=seed), i).token for i in order]
        for seed, order in ((1, range(20)), (1, range(19, -1, -1)), (2, range(20)))
    ]
    assert draws[0] == draws[1][::-1]
    assert draws[0] != draws[2]


def test_a_token_keeps_its_noise_when_others_are_left_out() -> None:
    logits = np.zeros(50)
    sampling = SamplingOptions(temperature=1)
    for step in range(30):
        winner = choose(Distribution.of(logits), sampling, step).token
        ids = np.array(sorted({winner, 3, 40}))
        assert choose(Distribution.of(logits, ids), sampling, step).token == winner


@given(rows, st.integers(0, SIZE), st.floats(0, 1), st.floats(0.05, 5))
def test_restriction_keeps_the_likeliest_and_sums_to_one(
    z: np.ndarray, k: int, top_p: float, temperature: float
) -> None:
    sampling = SamplingOptions(temperature=temperature, top_k=k, top_p=top_p)
    kept = restrict(Distribution.of(z), sampling)
    p = np.exp(kept.dense(SIZE))
    assert math.isclose(p.sum(), 1, rel_tol=1e-9)
    ids = set(range(SIZE) if kept.ids is None else kept.ids.tolist())
    assert 1 <= len(ids) <= (k or SIZE)
    left_out = [z[v] for v in range(SIZE) if v not in ids]
    assert max(left_out, default=-math.inf) <= min(z[v] for v in ids) + 1e-9


def test_hand_worked_nucleus_and_temperature() -> None:
    # p = (0.5, 0.3, 0.2): 0.7 is reached by two tokens, scaled to (5/8, 3/8)
    distribution = Distribution.of(np.log([0.5, 0.3, 0.2]))
    p = np.exp(restrict(distribution, SamplingOptions(temperature=1, top_p=0.7)).dense(3))
    np.testing.assert_allclose(p, [0.625, 0.375, 0])
    # temperature 1/2 squares: (25, 9, 4) / 38
    p = np.exp(restrict(distribution, SamplingOptions(temperature=0.5)).dense(3))
    np.testing.assert_allclose(p, np.array([25, 9, 4]) / 38)


def test_the_nucleus_of_a_flat_vocabulary_is_found_too() -> None:
    kept = restrict(
        Distribution.of(np.zeros(10_000, np.float32)), SamplingOptions(temperature=1, top_p=0.5)
    )
    assert kept.ids is not None
    assert abs(len(kept.ids) - 5000) <= 1


@given(rows)
def test_inputs_stay_as_they_are(z: np.ndarray) -> None:
    distribution = Distribution.of(z)
    distribution.logp.flags.writeable = False
    before = distribution.logp.copy()
    choose(distribution, SamplingOptions(temperature=0.7, top_k=5, top_p=0.9), 3)
    np.testing.assert_array_equal(distribution.logp, before)
