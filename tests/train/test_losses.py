"""The losses against numpy, by hand and by differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ragcli.train.losses import dpo, info_nce, integrated, log_partial, terms
from ragcli.train.plackett import gradient, partial_orders
from ragcli.train.plackett import log_partial as exact

scored = st.lists(st.floats(-6, 6), min_size=1, max_size=5).map(np.array)
RNG = np.random.default_rng(0)


@given(scored)
def test_partial_rankings_equal_numpy_with_their_gradients(scores: np.ndarray) -> None:
    last = len(scores) - 1
    for order in list(partial_orders(range(last), last))[:12]:
        tensor = torch.tensor(scores, requires_grad=True)
        found = log_partial(tensor, order)
        assert found.item() == pytest.approx(exact(scores, order), abs=1e-9)
        found.backward()
        assert tensor.grad is not None
        assert tensor.grad.numpy() == pytest.approx(gradient(scores, order), abs=1e-9)


def test_positives_are_what_is_as_good_as_nothing_and_nothing_itself() -> None:
    #         helps  hurts  helps more  as nothing  nothing
    values = [-1.0, -5.0, -0.5, -2.0, -2.0]
    assert terms(values, RNG) == [(0, (1, 3, 4)), (2, (0, 1, 3, 4)), (3, (1,)), (4, (1,))]


def test_a_question_that_nothing_helps_still_trains_the_placeholder() -> None:
    assert terms([-3.0, -4.0, -1.0], RNG) == [(2, (0, 1))]


def test_where_all_are_alike_nothing_is_taught() -> None:
    assert terms([-1.0, -1.0, -1.0], RNG) == []
    assert terms([-1.0], RNG) == []


def test_no_more_negatives_than_asked_for() -> None:
    values = [1.0, *(-float(n) for n in range(1, 50)), 0.0]
    drawn = terms(values, np.random.default_rng(3), negatives=31)
    assert [len(negatives) for _, negatives in drawn] == [31, 31]
    assert drawn == terms(values, np.random.default_rng(3), negatives=31)


def test_info_nce_by_hand() -> None:
    scores = torch.tensor([2.0, 0.0, 1.0])
    expected = -np.log(np.exp(4) / (np.exp(4) + np.exp(0)))
    assert info_nce(scores, [(0, (1,))], 0.5).item() == pytest.approx(expected, rel=1e-5)
    both = info_nce(scores, [(0, (1,)), (2, (1,))], 1.0).item()
    assert both == pytest.approx((np.log1p(np.exp(-2)) + np.log1p(np.exp(-1))) / 2, rel=1e-5)


def test_dpo_by_hand() -> None:
    win, lose, win_before, lose_before = map(torch.tensor, (-1.0, -2.0, -1.5, -1.0))
    margin = 0.2 * ((-1.0 + 1.5) - (-2.0 + 1.0))
    found = dpo(win, lose, win_before, lose_before, 0.2).item()
    assert found == pytest.approx(np.log1p(np.exp(-margin)), rel=1e-5)


def test_at_the_reference_dpo_is_the_log_of_two() -> None:
    scores = torch.tensor([0.3, -0.2, 0.1])
    assert integrated(scores, scores, (0, 2), (1, 2), 0.2, 0.0).item() == pytest.approx(np.log(2))


@pytest.mark.parametrize(("beta", "weight"), [(0.2, 0.1), (0.2, 0.0), (1.0, 1.0)])
def test_a_step_down_prefers_the_winner(beta: float, weight: float) -> None:
    before = torch.tensor([0.3, -0.2, 0.1, 0.0])
    win, lose = (1, 3), (0, 2, 3)
    scores = before.clone().requires_grad_(True)
    integrated(scores, before, win, lose, beta, weight).backward()
    assert scores.grad is not None
    moved = (scores - 0.1 * scores.grad).detach()
    gain = log_partial(moved, win) - log_partial(before, win)
    loss = log_partial(moved, lose) - log_partial(before, lose)
    assert gain > max(loss, 0)


def test_the_likelihood_loss_is_added() -> None:
    scores = torch.tensor([0.3, -0.2, 0.1])
    alone = integrated(scores, scores, (0, 2), (1, 2), 0.2, 0.0)
    added = integrated(scores, scores, (0, 2), (1, 2), 0.2, 0.1)
    assert (added - alone).item() == pytest.approx(-0.1 * log_partial(scores, (0, 2)).item())
