"""Rates, draws and marks of a simulation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.simulation.sampling import (
    LOWEST,
    capped,
    draws,
    noisy,
    precision_recall_f1,
    rates,
    sample,
)

MARKS = st.lists(st.booleans(), min_size=1, max_size=60)
RATE = st.floats(0, 1)
SEED = st.integers(0, 2**31)


def test_rates_are_even_or_geometric() -> None:
    assert rates(5, "linear") == (0, 0.25, 0.5, 0.75, 1)
    first, *rest = rates(5, "exponential")
    assert first == 0
    assert (rest[0], rest[-1]) == (LOWEST, 1)
    steps = [b / a for a, b in pairwise(rest)]
    assert steps == pytest.approx([(1 / LOWEST) ** (1 / 3)] * 3, rel=1e-4)
    assert rates(2, "exponential") == (0, 1)
    with pytest.raises(ValueError, match="two points"):
        rates(1, "linear")


@given(MARKS, SEED)
def test_the_corners_are_nothing_everything_and_gold_alone(gold: list[bool], seed: int) -> None:
    numbers = draws(seed, "q", len(gold))
    every = tuple(range(len(gold)))
    assert sample(gold, 0, 0, numbers) == ()
    assert sample(gold, 1, 1, numbers) == every
    assert sample(gold, 1, 0, numbers) == tuple(at for at in every if gold[at])
    assert sample(gold, 0, 1, numbers) == tuple(at for at in every if not gold[at])


@given(MARKS, RATE, RATE, RATE, SEED)
def test_sets_grow_with_the_rates_and_keep_the_order(
    gold: list[bool], low: float, high: float, noise: float, seed: int
) -> None:
    numbers = draws(seed, "q", len(gold))
    less = sample(gold, min(low, high), noise, numbers)
    more = sample(gold, max(low, high), noise, numbers)
    assert set(less) <= set(more)
    assert list(more) == sorted(more)
    assert less == sample(gold, min(low, high), noise, draws(seed, "q", len(gold)))


def test_a_rate_is_the_share_that_is_kept() -> None:
    gold = [at % 10 == 0 for at in range(20_000)]
    kept = sample(gold, 0.7, 0.2, draws(1, "long", len(gold)))
    share = sum(gold[at] for at in kept) / sum(gold)
    noise = sum(not gold[at] for at in kept) / (len(gold) - sum(gold))
    # four standard deviations: √(.7 .3 / 2000) = .0102, √(.2 .8 / 18000) = .0030
    assert share == pytest.approx(0.7, abs=0.041)
    assert noise == pytest.approx(0.2, abs=0.012)


def test_questions_and_seeds_draw_for_themselves() -> None:
    one = draws(0, "a", 50)
    assert not np.array_equal(one, draws(0, "b", 50))
    assert not np.array_equal(one, draws(1, "a", 50))
    assert np.array_equal(one[:20], draws(0, "a", 20))


@given(st.sets(st.integers(0, 80)), st.integers(1, 10), SEED)
def test_a_cap_keeps_at_most_k_in_order(chosen: set[int], k: int, seed: int) -> None:
    every = tuple(sorted(chosen))
    kept = capped(every, k, seed, "q")
    assert len(kept) == min(k, len(every))
    assert set(kept) <= chosen
    assert list(kept) == sorted(kept)
    assert capped(every, None, seed, "q") == every


@given(MARKS, SEED)
def test_noisy_gold_loses_one_of_several(gold: list[bool], seed: int) -> None:
    marks = noisy(gold, seed, "q")
    assert sum(marks) == (sum(gold) - 1 if sum(gold) > 1 else sum(gold))
    assert all(before or not after for before, after in zip(gold, marks, strict=True))


def test_precision_and_recall_by_hand() -> None:
    gold = (True, False, True, False, False)
    # of {0, 1, 3} one is gold: precision 1/3; one of two is found: recall 1/2; F1 = 2/6 / (5/6)
    assert precision_recall_f1((0, 1, 3), gold) == pytest.approx((1 / 3, 1 / 2, 0.4))
    assert precision_recall_f1((), gold) == (0, 0, 0)
    assert precision_recall_f1((1,), (False, False)) == (0, 0, 0)
    assert precision_recall_f1((0, 2), gold) == (1, 1, 1)
