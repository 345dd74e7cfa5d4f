"""What a simulation says of its points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.simulation.analysis import (
    Baselines,
    Outcome,
    Point,
    advice,
    behaviour,
    correlation,
    histogram,
    marked,
    point,
    standard_error,
)


def at(kp: float, kr: float, f1: float, error: float = 0.01) -> Point:
    both = 2 * kp * kr / (kp + kr) if kp + kr else 0.0
    return Point(kr, 0.1, 10, kp, kr, both, f1, f1, error, 3.0, error)


BASES = Baselines(at(0, 0, 0.1), at(0.1, 1, 0.4), at(1, 1, 0.6))
GRID = [(p, r) for p in (0.1, 0.4, 0.7, 1.0) for r in (0.2, 0.5, 0.8, 1.0)]


def test_a_point_is_the_means_and_the_standard_error() -> None:
    some = [Outcome(1, 0.5, 0.6, 0, 0.2, 1), Outcome(0.5, 1, 0.7, 1, 0.6, 4)]
    full = [Outcome(0.1, 1, 0.2, 0, 0.1, 9), Outcome(0.1, 1, 0.2, 0, 0.3, 9)]
    found = point(0.5, 0.1, some, full)
    assert (found.kp, found.kr, found.em, found.sentences) == (0.75, 0.75, 0.5, 2.5)
    assert found.f1 == pytest.approx(0.4)
    # deviation of 0.2 and 0.6 over n - 1: √(2 · 0.04) = 0.2828; by √2: 0.2
    assert found.f1_error == pytest.approx(0.2)
    # differences 0.1 and 0.3: √(2 · 0.01) = 0.1414; by √2: 0.1
    assert found.full_error == pytest.approx(0.1)
    assert point(1, 1, full, full).full_error == 0
    with pytest.raises(ValueError, match="no question"):
        point(0, 0, [], [])


def test_one_value_has_no_error() -> None:
    assert standard_error([0.3]) == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=30))
def test_correlation_is_pearsons(pairs: list[tuple[float, float]]) -> None:
    x, y = zip(*pairs, strict=True)
    found = correlation(x, y)
    if np.std(x) < 1e-3 or np.std(y) < 1e-3:
        return
    assert found == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)


def test_correlation_of_what_does_not_vary_is_unknown() -> None:
    assert correlation([1, 1, 1], [0, 1, 2]) is None
    assert correlation([0, 1], [0, 1]) is None


def test_strong_generators_follow_recall_and_weak_ones_knowledge_f1() -> None:
    strong = [at(p, r, 0.2 + 0.5 * r) for p, r in GRID]
    weak = [at(p, r, 2 * p * r / (p + r)) for p, r in GRID]
    assert behaviour(strong) == "strong"
    assert behaviour(weak) == "weak"
    assert behaviour([at(0.5, 0.5, 0.3)] * 4) == "undetermined"


def test_marks_are_against_full_and_none() -> None:
    assert marked(at(1, 1, 0.41), BASES) == "above full"
    assert marked(at(1, 1, 0.4), BASES) == ""
    assert marked(at(1, 0, 0.09), BASES) == "below none"


def test_histogram_holds_every_value() -> None:
    assert histogram([0, 0.05, 0.1, 0.95, 1, 1]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]


def test_advice_has_the_users_numbers() -> None:
    weak = [at(p, r, 0.6 * 2 * p * r / (p + r)) for p, r in GRID]
    value, room, kind, where, harm = advice(weak, BASES)
    assert "0.100 without knowledge and 0.400 with all" in value
    assert "could win 0.200 F1" in room
    assert "weak" in kind
    # the first to pass 0.4 by precision: 0.6 · 2 · 0.7 · 0.8 / 1.5 = 0.448, recall 1 ahead of 0.8
    assert "precision 0.70 at recall 1.00" in where
    assert "within noise" not in room
    # below 0.1: precision 0.1 at recall 0.2 (0.08) only; 0.5 has 0.6 · 2 · 0.1 · 0.5 / 0.6 = 0.1
    assert harm.startswith("1 of 16 mixes did worse than no knowledge at all")
    assert "F1 0.080 at precision 0.10, recall 0.20" in harm


def test_a_cap_is_judged_by_its_best_mix() -> None:
    weak = [at(p, r, 0.6 * 2 * p * r / (p + r)) for p, r in GRID]
    line = advice(weak, BASES, cap=3)[-1]
    assert line.startswith("With at most 3 sentences the best mix has F1 0.600 (precision 1.00")


@pytest.mark.parametrize(("share", "said"), [(0.62, "62%"), (0.97, "97%")])
def test_a_verdict_that_other_draws_do_not_share_is_doubted(share: float, said: str) -> None:
    strong = [at(p, r, 0.2 + 0.5 * r) for p, r in GRID]
    text = " ".join(advice(strong, BASES, agreement=share))
    assert f"so in {said} of other draws" in text
    assert ("not certain" in text) == (share < 0.9)
    flat = " ".join(advice([at(0.5, 0.5, 0.3)] * 4, BASES))
    assert "cannot be told" in flat


def test_advice_says_where_there_is_nothing_to_win() -> None:
    strong = [at(p, r, 0.39 * r) for p, r in GRID]
    bases = Baselines(at(0, 0, 0.45), at(0.1, 1, 0.4), at(1, 1, 0.4))
    text = " ".join(advice(strong, bases))
    assert "does not help" in text
    assert "nothing to win" in text
    assert "without a selector" in text


def test_advice_names_noise() -> None:
    full = at(0.1, 1, 0.4)
    mixes = [at(p, r, 0.3 * r) for p, r in GRID] + [at(0.8, 0.8, 0.42, 0.02)]
    near = Baselines(at(0, 0, 0.1), full, at(1, 1, 0.45, 0.05))
    _, room, _, where, *_ = advice(mixes, near)
    assert "within noise (standard error 0.050)" in room
    assert "within noise (standard error 0.020)" in where
    sure = Baselines(near.none, full, at(1, 1, 0.45, 0.02))
    assert "within noise" not in advice(mixes, sure)[1]
