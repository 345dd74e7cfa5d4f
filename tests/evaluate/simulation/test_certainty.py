"""How often other draws of the questions share a verdict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.evaluate.simulation.analysis import Outcome, correlation
from ragcli.evaluate.simulation.certainty import agreement

MIXES = [(p, r) for p in (0.1, 0.5, 1.0) for r in (0.25, 0.5, 1.0)]


def outcome(kp: float, kr: float, f1: float) -> Outcome:
    return Outcome(kp, kr, 2 * kp * kr / (kp + kr), 0, f1, 1)


def test_questions_that_all_say_the_same_agree_always() -> None:
    cells = [[outcome(p, r, 0.8 * r)] * 6 for p, r in MIXES]
    assert agreement(cells, "strong") == 1
    assert agreement(cells, "weak") == 0
    assert agreement(cells, "undetermined") is None


def test_questions_that_differ_leave_doubt() -> None:
    # three follow recall, three knowledge F1
    cells = [[outcome(p, r, r)] * 3 + [outcome(p, r, 2 * p * r / (p + r))] * 3 for p, r in MIXES]
    strong, weak = agreement(cells, "strong"), agreement(cells, "weak")
    assert strong is not None
    assert weak is not None
    assert 0.05 < strong < 0.95
    assert strong + weak == pytest.approx(1)
    assert agreement(cells, "strong") == strong


def test_draws_whose_answers_never_change_do_not_agree() -> None:
    # one question follows recall, one answers the same from every mix: a quarter of the draws
    # has the second one twice
    cells = [[outcome(p, r, r), outcome(p, r, 0.5)] for p, r in MIXES]
    assert agreement(cells, "strong") == pytest.approx(0.75, abs=0.05)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=9, max_size=9))
def test_one_question_is_its_own_only_draw(answers: list[float]) -> None:
    cells = [[outcome(p, r, f1)] for (p, r), f1 in zip(MIXES, answers, strict=True)]
    recall = correlation([one.kr for (one,) in cells], answers)
    both = correlation([one.kf1 for (one,) in cells], answers)
    if recall is None or both is None or abs(recall - both) < 1e-6:
        return
    assert agreement(cells, "strong") == float(recall > both)
