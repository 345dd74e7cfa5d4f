"""delta: quantiles worked by hand, and folds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.evaluate.tuning.delta import fit_delta, share_of, threshold
from ragcli.evaluate.tuning.folds import folds, held_out, others

TWENTY = [n / 100 for n in range(1, 21)]  # 0.01 … 0.20


@pytest.mark.parametrize(
    ("risks", "share", "delta"),
    [
        (TWENTY, 0.15, 0.175),  # 0.18, 0.19 and 0.20 reach it: 3 of 20
        (TWENTY, 0.05, 0.195),
        (TWENTY, 0.5, 0.105),
        (TWENTY, 1.0, 0.01),  # all of them
        (TWENTY, 0.0, 0.3),  # none
        ([0.1, 0.1, 0.1, 0.4], 0.15, 0.25),  # 1 of 4 is nearer than none
        ([0.1, 0.1, 0.1, 0.1], 0.15, 0.15),  # equal ones cannot be parted: none
        ([0.1, 0.3], 0.25, 0.45),  # none and half are equally near: the fewer
        ([0.0], 0.1, 0.5),
        ([0.12341, 0.12342], 0.5, 0.123415),  # three digits would not part them
    ],
)
def test_quantiles_by_hand(risks: list[float], share: float, delta: float) -> None:
    assert threshold(risks, share) == pytest.approx(delta)
    assert threshold(risks[::-1], share) == threshold(risks, share)


def test_no_tokens() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        threshold([], 0.15)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.floats(0, 1))
def test_no_risk_as_threshold_is_nearer_to_the_share(risks: list[float], share: float) -> None:
    def off(delta: float) -> float:
        return abs(sum(one >= delta for one in risks) / len(risks) - share)

    found = off(threshold(risks, share))
    assert all(found <= off(one) + 1e-12 for one in [*risks, max(risks) + 1])


def test_shares_are_of_tokens_not_of_questions() -> None:
    found = share_of([[0.3] * 8, [0.1, 0.1], []], 0.2)
    assert (found.estimate, found.n) == (0.8, 2)


def test_a_default_that_gives_the_share_is_kept() -> None:
    fit = fit_delta([TWENTY] * 6, share=0.15, in_force=0.172, k=3, seed=0)
    assert (fit.values, fit.keep) == ({"drag.delta": 0.175}, False)
    assert "within" in fit.why
    assert fit.held_in.estimate == fit.crossed.estimate == pytest.approx(0.15)


def test_a_default_of_another_scale_is_replaced() -> None:
    rng = np.random.default_rng(3)
    risks = [rng.uniform(0, 1, 40).tolist() for _ in range(20)]
    fit = fit_delta(risks, share=0.15, in_force=0.15, k=5, seed=1, by="plain")
    assert fit.values["drag.delta"] == pytest.approx(0.85, abs=0.03)
    assert fit.keep
    assert fit.crossed.estimate == pytest.approx(0.15, abs=0.03)
    assert fit.gain.low is not None
    assert fit.gain.low > 0.5
    assert fit.facts["delta_low"] <= fit.values["drag.delta"] <= fit.facts["delta_high"]
    assert fit.facts["strong"] == pytest.approx(0.95, abs=0.02)
    assert (fit.facts["by"], fit.facts["tokens"]) == ("plain", 800)


def test_a_delta_that_hangs_on_one_question_shows() -> None:
    """All risky tokens are one question's: the fold without it chooses quite another delta."""
    risks = [[0.9] * 30, *([[0.01 + at / 1000] * 30 for at in range(4)])]
    fit = fit_delta(risks, share=0.2, in_force=0.5, k=5, seed=0)
    assert fit.held_in.estimate == pytest.approx(0.2)
    assert sorted(one["drag.delta"] < 0.1 for one in fit.folds) == [False] * 4 + [True]
    assert fit.facts["delta_high"] > 10 * fit.facts["delta_low"]
    assert (fit.crossed.low, fit.crossed.high) == (0.0, pytest.approx(0.6))


@given(st.integers(2, 60), st.integers(2, 10), st.integers(0, 5))
def test_folds_part_the_questions_evenly(n: int, k: int, seed: int) -> None:
    if n < k:
        with pytest.raises(UsageError, match="cannot be parted"):
            folds(n, k, seed)
        return
    parts = folds(n, k, seed)
    assert sorted(at for part in parts for at in part) == list(range(n))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts == folds(n, k, seed)
    assert set(others(parts[0], n)).isdisjoint(parts[0])
    assert held_out(parts, range(k), lambda one, at: float(at in parts[one])) == [1.0] * n
