from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragcli.decoding.options import DragOptions
from ragcli.decoding.risk import (
    attention_risk,
    combine,
    document_masses,
    lexical_risk,
    prediction_risk,
    source_masses,
)
from ragcli.types import Component
from tests.decoding import naive

unit = st.floats(0, 1)
DOCUMENTS = 4
masses = arrays(np.float64, DOCUMENTS, elements=st.floats(0, 0.25))
scores = arrays(np.float64, DOCUMENTS, elements=unit)


def test_hand_worked_lexical_risk() -> None:
    # one invariant, two variants, one supplementary: 0.1 + 2 * 0.2 + 0.4 = 0.9
    options = DragOptions(lambda_inv=0.1, lambda_var=0.2, lambda_sup=0.4)
    components = [
        Component("invariant", "Portland"),
        Component("variant", "capital"),
        Component("variant", "of"),
        Component("supplementary", "state"),
    ]
    assert math.isclose(lexical_risk(components, options), 0.9)
    assert lexical_risk([], options) == 0.2


@pytest.mark.parametrize(
    ("reading", "risk"),
    # raw: 0.3/(1+0.5) + 0.1/(1+0) = 0.2 + 0.1; renormalised: that over 0.3 + 0.1
    [("raw", 0.3), ("renormalised", 0.75)],
)
def test_hand_worked_attention_risk(reading: str, risk: float) -> None:
    assert math.isclose(attention_risk(np.array([0.3, 0.1]), np.array([0.5, 0.0]), reading), risk)
    assert attention_risk(np.zeros(2), np.zeros(2), reading) == 0


def test_hand_worked_product() -> None:
    # 0.9 * 0.3 * (1 - 0.6) = 0.108
    risk = combine(0.9, 0.3, prediction_risk(math.log(0.6)))
    assert risk.total is not None
    assert math.isclose(risk.total, 0.108)
    assert combine(0.9, None, 0.4).total is None


def test_attention_is_summed_by_sentence_and_by_document() -> None:
    # tokens 0-1 belong to none, 2-3 to sentence 0, 4 to sentence 1, 5 to none, 6 to sentence 2;
    # position 7 is a generated token
    owner = np.array([-1, -1, 0, 0, 1, -1, 2], np.int32)
    row = np.array([0.5, 0, 0.1, 0.05, 0.05, 0.1, 0.15, 0.05], np.float32)
    by_sentence = source_masses(row, owner, 4)
    np.testing.assert_allclose(by_sentence, [0.15, 0.05, 0.15, 0], atol=1e-7)
    by_document = document_masses(by_sentence, np.array([0, 0, 1, 2]), 3)
    np.testing.assert_allclose(by_document, [0.2, 0.15, 0], atol=1e-7)


def test_a_row_shorter_than_the_prompt_is_what_a_first_token_sees() -> None:
    np.testing.assert_allclose(
        source_masses(np.array([0.25, 0.75], np.float32), np.array([-1, 0, 0], np.int32), 1), [0.75]
    )


@given(unit, masses, scores, unit)
def test_agrees_with_a_naive_implementation(
    lexical: float, mass: np.ndarray, score: np.ndarray, top: float
) -> None:
    log_top = math.log(top) if top else -math.inf
    risk = combine(lexical, attention_risk(mass, score), prediction_risk(log_top))
    expected = naive.risk(lexical, mass.tolist(), score.tolist(), top)
    assert risk.total is not None
    assert math.isclose(risk.total, expected, rel_tol=1e-9, abs_tol=1e-12)


@given(unit, unit, st.floats(0, 2), st.floats(0, 2), unit, unit)
def test_the_total_never_falls_as_a_part_rises(
    a: float, b: float, lexical: float, more: float, p: float, q: float
) -> None:
    low = combine(lexical, min(a, b), min(p, q)).total
    high = combine(lexical + more, max(a, b), max(p, q)).total
    assert low is not None
    assert high is not None
    assert low <= high


@given(masses, scores, scores)
def test_better_documents_carry_less_risk(mass: np.ndarray, s: np.ndarray, t: np.ndarray) -> None:
    better, worse = np.maximum(s, t), np.minimum(s, t)
    assert attention_risk(mass, better) <= attention_risk(mass, worse)
    # bounds of eq. 5 for scores in [0, 1]: half the mass to all of it
    assert mass.sum() / 2 - 1e-12 <= attention_risk(mass, s) <= mass.sum() + 1e-12


@given(masses, scores)
def test_inputs_stay_as_they_are(mass: np.ndarray, score: np.ndarray) -> None:
    before = mass.copy(), score.copy()
    mass.flags.writeable = score.flags.writeable = False
    attention_risk(mass, score, "renormalised")
    np.testing.assert_array_equal([mass, score], before)
