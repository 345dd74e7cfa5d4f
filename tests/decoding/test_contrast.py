from __future__ import annotations

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragcli.decoding.contrast import (
    calibrate,
    contrast_context,
    plausible,
    subtract_logits,
    subtract_probabilities,
)
from ragcli.decoding.options import CadOptions, DragOptions
from tests.decoding import naive

SIZE = 10
rows = arrays(np.float64, SIZE, elements=st.floats(-20, 20))
shares = st.one_of(st.just(0.0), st.floats(1e-6, 1))


def _on_the_edge(z: np.ndarray, share: float) -> bool:
    """Whether rounding alone decides if a token is plausible."""
    if share == 0:
        return False
    away = np.abs(z - (z.max() + math.log(share)))
    return bool(((away > 0) & (away < 1e-9)).any())


def test_hand_worked_calibration() -> None:
    # z = ln(4, 2, 1), noise = ln(4, 1, 1), gamma = 1: weights (4/4, 2/1, 1/1) = (1, 2, 1)
    z, noise = np.log([4.0, 2, 1]), np.log([4.0, 1, 1])
    p = np.exp(calibrate(z, noise, DragOptions(gamma=1, plausibility=0)).dense(3))
    np.testing.assert_allclose(p, [1 / 4, 2 / 4, 1 / 4])
    # share 0.3 of the largest (4): token 2 has 1 < 1.2 and goes; (1, 2) / 3 stays
    p = np.exp(calibrate(z, noise, DragOptions(gamma=1, plausibility=0.3)).dense(3))
    np.testing.assert_allclose(p, [1 / 3, 2 / 3, 0])


def test_hand_worked_calibration_of_probabilities() -> None:
    # p = (4, 2, 1)/7, noise = (4, 1, 1)/6, gamma = 1/2:
    # p - noise/2 = (4/7 - 1/3, 2/7 - 1/12, 1/7 - 1/12) = (20, 17, 5)/84
    z, noise = np.log([4.0, 2, 1]), np.log([4.0, 1, 1])
    options = DragOptions(gamma=0.5, plausibility=0, on="probabilities")
    p = np.exp(calibrate(z, noise, options).dense(3))
    np.testing.assert_allclose(p, np.array([20, 17, 5]) / 42)


def test_hand_worked_context_awareness() -> None:
    # a = 1: z = 2 ln(2, 1) - ln(1, 1) = ln(4, 1)
    p = np.exp(contrast_context(np.log([2.0, 1]), np.zeros(2), CadOptions(a=1)).dense(2))
    np.testing.assert_allclose(p, [4 / 5, 1 / 5])


def test_what_is_likelier_under_noise_everywhere_goes_to_the_least_bad() -> None:
    z = np.log([0.5, 0.3, 0.2])
    left = subtract_probabilities(z, z, gamma=2.0, share=0.0)
    # p - 2p = -p: the largest is that of token 2
    assert left.ids is not None
    assert (left.ids.tolist(), left.logp.tolist()) == ([2], [0.0])


@given(rows, rows, st.floats(0.1, 3), st.floats(0, 3), shares)
def test_agrees_with_a_naive_implementation(
    z: np.ndarray, other: np.ndarray, weight: float, gamma: float, share: float
) -> None:
    assume(not _on_the_edge(z, share))
    p = np.exp(subtract_logits(z, other, weight, gamma, share).dense(SIZE))
    expected = naive.contrast(z.tolist(), other.tolist(), weight, gamma, share)
    np.testing.assert_allclose(p, expected, rtol=1e-7, atol=1e-12)
    assert math.isclose(p.sum(), 1, rel_tol=1e-9)


@given(rows, rows, st.floats(0, 2), shares)
def test_differences_of_probabilities_sum_to_one(
    z: np.ndarray, other: np.ndarray, gamma: float, share: float
) -> None:
    p = np.exp(subtract_probabilities(z, other, gamma, share).dense(SIZE))
    assert math.isclose(p.sum(), 1, rel_tol=1e-9)
    kept = plausible(z, share)
    assert kept is None or p[np.setdiff1d(np.arange(SIZE), kept)].sum() == 0


@given(rows, rows, shares, st.sampled_from(["logits", "probabilities"]))
def test_without_weight_it_is_the_main_branch(
    z: np.ndarray, other: np.ndarray, share: float, on: str
) -> None:
    options = DragOptions(gamma=0, plausibility=share, on=on)  # type: ignore[arg-type]
    p = np.exp(calibrate(z, other, options).dense(SIZE))
    main = np.exp(calibrate(z, z * 0, options).dense(SIZE))
    np.testing.assert_allclose(p, main, rtol=1e-9, atol=1e-12)


@given(rows, rows, st.floats(0, 2), st.integers(-40, 40), st.integers(-40, 40))
def test_shifting_the_logits_changes_nothing(
    z: np.ndarray, other: np.ndarray, gamma: float, a: int, b: int
) -> None:
    one = subtract_logits(z, other, 1, gamma, 0)
    two = subtract_logits(z + a, other + b, 1, gamma, 0)
    np.testing.assert_allclose(one.dense(SIZE), two.dense(SIZE), atol=1e-9)


@given(rows, st.floats(1e-6, 1))
def test_the_likeliest_token_is_always_plausible(z: np.ndarray, share: float) -> None:
    kept = plausible(z, share)
    assert kept is not None
    assert int(z.argmax()) in kept


@given(rows, rows, st.sampled_from(["logits", "probabilities"]))
def test_inputs_stay_as_they_are(z: np.ndarray, other: np.ndarray, on: str) -> None:
    before = z.copy(), other.copy()
    z.flags.writeable = other.flags.writeable = False
    calibrate(z, other, DragOptions(on=on))  # type: ignore[arg-type]
    contrast_context(z, other, CadOptions())
    np.testing.assert_array_equal([z, other], before)
