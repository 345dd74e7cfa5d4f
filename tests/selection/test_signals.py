"""BM25, ranks and fusion on hand-made numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.signals import best, bm25, fused, ranks


def test_bm25_by_hand() -> None:
    texts = ["bees bees keeper", "ships night", "tower stone rock"]
    # df 1 of 3; tf 2 of 3 terms, mean length 8/3; k1 = 1.2, b = 0.75
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (0.25 + 0.75 * 3 / (8 / 3))
    scores = bm25("bees", texts, ["en"] * 3)
    assert scores.tolist() == pytest.approx([idf * 2 * 2.2 / (2 + norm), 0, 0])


def test_bm25_reads_the_query_in_each_language() -> None:
    scores = bm25("Katzen", ["Die Katze schläft", "the dog sleeps"], ["de", "en"])
    assert scores[0] > 0 == scores[1]


@pytest.mark.parametrize("texts", [[], [""], ["", "…"]])
def test_bm25_of_nothing(texts: list[str]) -> None:
    assert bm25("bees", texts, ["en"] * len(texts)).tolist() == [0.0] * len(texts)


def test_fusion_by_hand() -> None:
    one, other = np.array([0.1, 0.9, 0.5]), np.array([3.0, 2.0, 1.0])
    assert ranks(one).tolist() == [3, 1, 2]
    expected = [1 / 63 + 1 / 61, 1 / 61 + 1 / 62, 1 / 62 + 1 / 63]
    assert fused(one, other).tolist() == pytest.approx(expected)
    assert best(fused(one, other), 2) == (1, 0)


@given(st.lists(st.floats(-5, 5), max_size=20), st.integers(0, 25))
def test_best_are_the_highest_and_ties_keep_their_order(values: list[float], most: int) -> None:
    scores = np.array(values, np.float64)
    found = best(scores, most)
    assert len(set(found)) == len(found) == min(most, len(values))
    keys = [(-values[at], at) for at in found]
    assert keys == sorted(keys)
    rest = set(range(len(values))) - set(found)
    assert all(values[at] <= values[found[-1]] for at in rest if found)
