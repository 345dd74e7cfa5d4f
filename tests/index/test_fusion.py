"""Reciprocal rank fusion by hand values and by its invariants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.index.fusion import reciprocal_rank_fusion

rankings = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 20), unique=True, max_size=10)
)


def test_hand_values() -> None:
    fused = reciprocal_rank_fusion({"lexical": [1, 2, 3], "dense": [3, 1]}, k=60)
    assert fused == [
        (1, pytest.approx(1 / 61 + 1 / 62)),
        (3, pytest.approx(1 / 63 + 1 / 61)),
        (2, pytest.approx(1 / 62)),
    ]


def test_weights_scale_a_ranking() -> None:
    fused = reciprocal_rank_fusion({"x": ["p"], "y": ["q"]}, k=1, weights={"y": 3.0})
    assert fused == [("q", pytest.approx(1.5)), ("p", pytest.approx(0.5))]


def test_ties_go_by_the_key() -> None:
    assert [item for item, _ in reciprocal_rank_fusion({"x": ["b"], "y": ["a"]})] == ["a", "b"]
    by_length = reciprocal_rank_fusion({"x": ["bb"], "y": ["a", "c"]}, tie=len)
    assert by_length[0][0] == "a"


def test_nothing_gives_nothing() -> None:
    assert reciprocal_rank_fusion({"x": [], "y": []}) == []


@given(rankings)
def test_every_item_once_and_best_first(given: dict[str, list[int]]) -> None:
    fused = reciprocal_rank_fusion(given)
    items = [item for item, _ in fused]
    assert sorted(items) == sorted({item for ranking in given.values() for item in ranking})
    assert [score for _, score in fused] == sorted((s for _, s in fused), reverse=True)


@given(rankings)
def test_the_order_of_rankings_does_not_matter(given: dict[str, list[int]]) -> None:
    assert reciprocal_rank_fusion(given) == reciprocal_rank_fusion(dict(reversed(given.items())))
