from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragcli.decoding.distribution import Distribution, log_sum_exp, top_ids
from ragcli.decoding.fusion import document_share, fuse, kept_tokens, tempered_softmax
from ragcli.decoding.options import FkeOptions, SamplingOptions
from ragcli.decoding.sampling import choose
from tests.decoding import naive

SIZE = 12
rows = arrays(np.float64, SIZE, elements=st.floats(-30, 30))
taus = st.one_of(st.just(0.0), st.floats(0.05, 5))
alphas = st.floats(0, 5)
LN2, LN3 = math.log(2), math.log(3)


def probabilities(distribution: Distribution, size: int = SIZE) -> np.ndarray:
    return np.exp(distribution.dense(size))


def test_hand_worked_mixture() -> None:
    # z_d = ln(1, 2, 1): p_d = (1/4, 2/4, 1/4).  z_s = ln(3, 1, 1), tau_s = 1/2 squares the
    # weights: (9, 1, 1)/11.  alpha = 1: ((1/4 + 9/11)/2, (1/2 + 1/11)/2, (1/4 + 1/11)/2)
    # = (47/88, 26/88, 15/88)
    z_d, z_s = np.array([0, LN2, 0]), np.array([LN3, 0, 0])
    p = probabilities(fuse(z_d, z_s, FkeOptions(alpha=1, tau_d=1, tau_s=0.5, top_k=0)), 3)
    np.testing.assert_allclose(p, [47 / 88, 26 / 88, 15 / 88], rtol=1e-12)


def test_hand_worked_truncation() -> None:
    # top-1 of the documents is token 1, of the sentences token 0: V' = {0, 1}.
    # p_d over V' = (1/3, 2/3); p_s at tau 1 = (3/4, 1/4); alpha = 3: (1/3 + 9/4)/4 = 31/48
    z_d, z_s = np.array([0, LN2, 0]), np.array([LN3, 0, 0])
    p = probabilities(fuse(z_d, z_s, FkeOptions(alpha=3, tau_d=1, tau_s=1, top_k=1)), 3)
    np.testing.assert_allclose(p, [31 / 48, 17 / 48, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("which", "kept"), [("documents", [1]), ("sentences", [0]), ("union", [0, 1])]
)
def test_whose_tokens_are_kept(which: str, kept: list[int]) -> None:
    z_d, z_s = np.array([0, LN2, 0]), np.array([LN3, 0, 0])
    assert kept_tokens(z_d, z_s, 1, which).tolist() == kept


def test_temperature_zero_is_the_lowest_id_of_the_largest() -> None:
    np.testing.assert_array_equal(tempered_softmax(np.array([1.0, 5, 5, 2]), 0), [0, 1, 0, 0])


@given(rows)
def test_temperature_zero_is_the_limit(z: np.ndarray) -> None:
    z = np.sort(z)
    z[-1] += 0.5  # a clear winner
    np.testing.assert_allclose(
        tempered_softmax(z, 1e-2), tempered_softmax(z, 0), atol=SIZE * math.exp(-50)
    )
    np.testing.assert_array_equal(tempered_softmax(z, 1e-300), tempered_softmax(z, 0))


@given(rows, st.integers(0, SIZE + 2))
def test_top_ids_are_the_k_largest_lowest_id_first(z: np.ndarray, k: int) -> None:
    z = np.round(z / 10)  # many ties
    assert set(top_ids(z, k).tolist()) == naive.largest(z.tolist(), k)
    assert top_ids(z, k).tolist() == sorted(top_ids(z, k).tolist())


@given(rows, rows, alphas, taus, taus, st.integers(0, SIZE), st.sampled_from(
    ["union", "documents", "sentences"]))  # fmt: skip
def test_agrees_with_a_naive_implementation(
    z_d: np.ndarray, z_s: np.ndarray, alpha: float, tau_d: float, tau_s: float, k: int, which: str
) -> None:
    options = FkeOptions(alpha=alpha, tau_d=tau_d, tau_s=tau_s, top_k=k, vocabulary=which)  # type: ignore[arg-type]
    expected = naive.fke(z_d.tolist(), z_s.tolist(), alpha, tau_d, tau_s, k, which)
    p = probabilities(fuse(z_d, z_s, options))
    np.testing.assert_allclose(p, expected, rtol=1e-9, atol=1e-300)
    assert math.isclose(p.sum(), 1, rel_tol=1e-9)


@given(rows, rows, taus, taus, st.integers(0, SIZE))
def test_without_weight_it_is_the_document_branch(
    z_d: np.ndarray, z_s: np.ndarray, tau_d: float, tau_s: float, k: int
) -> None:
    options = FkeOptions(alpha=0, tau_d=tau_d, tau_s=tau_s, top_k=k, vocabulary="documents")
    np.testing.assert_allclose(
        probabilities(fuse(z_d, z_s, options)),
        probabilities(document_share(z_d, options)),
        rtol=1e-9,
    )


@given(rows, alphas, taus, st.integers(0, SIZE))
def test_equal_branches_give_that_branch(z: np.ndarray, alpha: float, tau: float, k: int) -> None:
    options = FkeOptions(alpha=alpha, tau_d=tau, tau_s=tau, top_k=k)
    alone = tempered_softmax(z[top_ids(z, k)], tau)
    p = probabilities(fuse(z, z, options))
    np.testing.assert_allclose(p[top_ids(z, k)], alone, rtol=1e-9, atol=1e-300)


@given(rows, rows, taus, taus, st.floats(-50, 50), st.floats(-50, 50))
def test_shifting_the_logits_changes_nothing(
    z_d: np.ndarray, z_s: np.ndarray, tau_d: float, tau_s: float, a: float, b: float
) -> None:
    z_d, z_s = np.round(z_d, 3), np.round(z_s, 3)
    a, b = round(a), round(b)  # so that a shift makes no new ties
    options = FkeOptions(tau_d=tau_d, tau_s=tau_s, top_k=0)
    np.testing.assert_allclose(
        probabilities(fuse(z_d + a, z_s + b, options)),
        probabilities(fuse(z_d, z_s, options)),
        atol=1e-9,
    )


@given(rows, rows)
def test_inputs_stay_as_they_are(z_d: np.ndarray, z_s: np.ndarray) -> None:
    z_d.flags.writeable = z_s.flags.writeable = False
    before = z_d.copy(), z_s.copy()
    fuse(z_d, z_s, FkeOptions(top_k=3))
    np.testing.assert_array_equal([z_d, z_s], before)


@given(rows, rows, st.floats(0, 1), taus)
def test_the_trap_greedy_with_tau_d_zero_is_the_document_branch(
    z_d: np.ndarray, z_s: np.ndarray, alpha: float, tau_s: float
) -> None:
    # p[argmax] >= 1/(1+alpha); any other token has at most alpha/(1+alpha) <= 1/(1+alpha).
    # alpha = 1 and all of p_s on one token is an exact tie (the lower id): left out here.
    if alpha > 1 - 1e-9 and max(naive.softmax(z_s.tolist(), tau_s)) > 1 - 1e-9:
        return
    fused = fuse(z_d, z_s, FkeOptions(alpha=alpha, tau_d=0, tau_s=tau_s))
    assert choose(fused, SamplingOptions(), 0).token == int(z_d.argmax())


def test_beyond_the_trap_the_sentences_win() -> None:
    z_d, z_s = np.array([1.0, 0, 0]), np.array([0, 9.0, 0])
    greedy = SamplingOptions()
    assert choose(fuse(z_d, z_s, FkeOptions(alpha=1.1, tau_d=0)), greedy, 0).token == 1
    assert choose(fuse(z_d, z_s, FkeOptions(alpha=1, tau_d=1)), greedy, 0).token == 1
    paper = FkeOptions(tau_d=0, tau_s=0.2, draw="sample")
    drawn = {
        choose(fuse(z_d, z_s, paper), SamplingOptions(temperature=1), i).token for i in range(40)
    }
    assert drawn == {0, 1}


@given(rows)
def test_log_sum_exp_survives_any_size(z: np.ndarray) -> None:
    expected = math.log(math.fsum(math.exp(x - z.max()) for x in z)) + z.max() + 1000
    assert math.isclose(log_sum_exp(z + 1000), expected, rel_tol=1e-12)


def test_float32_rows_of_a_whole_vocabulary_stay_accurate() -> None:
    z = np.random.default_rng(0).normal(0, 3, 151_936).astype(np.float32)
    exact = np.exp(z.astype(np.float64))
    whole = Distribution.of(z)
    np.testing.assert_allclose(np.exp(whole.dense(len(z))), exact / exact.sum(), rtol=1e-5)
    p = exact / exact.sum()
    assert math.isclose(whole.entropy(), -float((p * np.log(p)).sum()), rel_tol=1e-5)
