"""The order of sentences and where it is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.organiser import Order, complete, long_enough, organise, runs

numbers = st.lists(st.integers(-5, 5).map(float), max_size=12)


@pytest.mark.parametrize(
    ("scores", "placeholder", "limits", "expected"),
    [
        ([0.1, 0.9, 0.5], 0.3, {}, Order((1, 2), 2)),
        ([0.1, 0.9, 0.5], 1.0, {}, Order((), 0)),
        ([0.1, 0.9, 0.5], 1.0, {"least": 1}, Order((1,), 0)),
        ([0.1, 0.9, 0.5], 0.0, {"most": 2}, Order((1, 2), 3)),
        ([0.1, 0.9, 0.5], 0.3, {"margin": 0.3}, Order((1,), 1)),
        ([0.1, 0.9, 0.5], 0.9, {"margin": -0.5}, Order((1, 2), 2)),
        ([1.0, 1.0, 1.0], 0.0, {}, Order((0, 1, 2), 3)),  # ties: as they came
        ([1.0, 1.0], 1.0, {}, Order((), 0)),  # what equals nothing is no help
        ([], 0.0, {"least": 3}, Order((), 0)),
    ],
)
def test_orders(scores, placeholder, limits, expected) -> None:
    assert organise(scores, placeholder, **limits) == expected


@given(numbers, st.integers(-6, 6).map(float))
def test_what_is_kept_descends_and_nothing_better_is_left_out(scores, placeholder) -> None:
    kept = organise(scores, placeholder).kept
    assert [scores[at] for at in kept] == sorted(
        (s for s in scores if s > placeholder), reverse=True
    )
    for one, other in pairwise(kept):
        assert (-scores[one], one) < (-scores[other], other)


@given(numbers, st.integers(0, 14), st.integers(0, 14))
def test_bounds_hold(scores, least, most) -> None:
    kept = organise(scores, 0.0, least=least, most=most).kept
    assert len(kept) <= most
    assert len(kept) >= min(least, most, len(scores))


@pytest.mark.parametrize(
    ("text", "long", "whole"),
    [
        ("The bridge was built in 1904.", True, True),
        ("Built in 1904.", False, True),
        ("The bridge was built in", True, False),
        ('He said: "The bridge was built in 1904."', True, True),
        ("北京是中国的首都。", True, True),
        ("", False, False),
    ],
)
def test_what_a_sentence_is(text: str, long: bool, whole: bool) -> None:
    assert (long_enough(text), complete(text)) == (long, whole)


def test_runs_of_one_document() -> None:
    assert runs([4, 4, 2, 4]) == [(0, 2), (2, 3), (3, 4)]
    assert runs([]) == []


@given(st.lists(st.integers(0, 2), max_size=10))
def test_runs_cover_everything_once(owners: list[int]) -> None:
    assert [at for first, last in runs(owners) for at in range(first, last)] == list(
        range(len(owners))
    )
