"""Agreement with the generator: hand-made tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.train.agreement import Changes, changes, kappa, pair_accuracy


def test_the_four_groups_and_their_ratio() -> None:
    before = [True, True, False, False, False, True]
    after = [True, False, True, True, False, True]
    found = changes(before, after)
    assert found == Changes(pp=2, np=2, pn=1, nn=1)
    assert found.efficiency == 2.0


def test_where_nothing_was_spoiled_there_is_no_ratio() -> None:
    assert changes([False, True], [True, True]).efficiency is None
    assert changes([True], [False]).efficiency == 0.0


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("yyyynn", "yyyynn", 1.0),
        ("yynn", "nnyy", -1.0),
        ("yyyy", "yyyy", 0.0),  # neither ever says anything else
        # Agreement 0.7; by habit 0.5 · 0.6 + 0.5 · 0.4 = 0.5
        ("yyyyynnnnn", "yyyynyynnn", 0.4),
    ],
)
def test_kappa(first: str, second: str, expected: float) -> None:
    assert kappa(first, second) == pytest.approx(expected)


def test_kappa_of_nothing_is_refused() -> None:
    for first, second in ((), ()), ((1,), (1, 2)):
        with pytest.raises(ValueError):
            kappa(first, second)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_is_symmetric_and_bounded(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)
    assert kappa(first, second) == pytest.approx(kappa(second, first))
    assert -1 <= kappa(first, second) <= 1


def test_pairs_whose_values_are_equal_do_not_count() -> None:
    assert pair_accuracy([3, 2, 1], [9, 5, 5]) == (2, 2)
    assert pair_accuracy([1, 2, 3], [9, 5, 1]) == (0, 3)
    assert pair_accuracy([1, 1], [2, 1]) == (0, 1)
    assert pair_accuracy([], []) == (0, 0)
