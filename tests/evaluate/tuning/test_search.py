"""The search on made-up scores: right answers known, and overfitting that must show."""

from __future__ import annotations

import numpy as np
import pytest

from ragcli.errors import UsageError
from ragcli.evaluate.tuning.folds import folds
from ragcli.evaluate.tuning.search import (
    Axis,
    Point,
    Searched,
    Space,
    Table,
    best,
    cross_validate,
    still_wanted,
    table_of,
    together,
)
from ragcli.evaluate.tuning.spaces import GRIDS, declared, keys_of, parse_parts, space_of, values_at

A = Axis("a", (("a=1",), ("a=2",)))
B = Axis("b", (("b=1",),))
C = Axis("c", (("c=1",),))
SPACE = Space((A, B, C))
N = 40


def table(**means: float) -> dict[Point, np.ndarray]:
    """Columns of one value; `a1_b1` is the point (a=1, b=1), `_` what is in force."""
    return {
        tuple(f"{one[0]}={one[1:]}" for one in name.split("_") if one): np.full((N, 2), mean)
        for name, mean in means.items()
    }


def test_every_value_is_tried_alone() -> None:
    assert SPACE.alone() == ((), ("a=1",), ("a=2",), ("b=1",), ("c=1",))
    started = Space((B,), ("d=1",))
    assert started.alone() == ((), ("d=1",), ("d=1", "b=1"))


def test_gains_are_put_together_largest_first() -> None:
    scores = table(_=0.5, a1=0.52, a2=0.55, b1=0.6, c1=0.4)
    whole = tuple(range(N))
    assert together(SPACE, scores, whole) == (("b=1", "a=2"),)
    scores |= table(c1=0.51)
    assert together(SPACE, scores, whole) == (("b=1", "a=2"), ("b=1", "a=2", "c=1"))
    assert still_wanted(SPACE, scores, folds(N, 4, 0), whole) == together(SPACE, scores, whole)


def test_the_best_point_wins_and_equals_are_parted_by_the_second_score_then_by_fewer_changes() -> (
    None
):
    whole = tuple(range(N))
    scores = table(_=0.5, a1=0.6, a2=0.5, b1=0.6, c1=0.5, b1_a1=0.55)
    assert best(SPACE, scores, whole) == ("a=1",)  # what is together is worse
    scores[("b=1",)][:, 1] = 0.7
    assert best(SPACE, scores, whole) == ("b=1",)
    assert best(SPACE, table(_=0.5, a1=0.5, a2=0.5, b1=0.5, c1=0.5), whole) == ()


def searched(scores: Table, k: int = 5, seed: int = 0, space: Space = SPACE) -> Searched:
    return cross_validate(space, scores, k, seed)


def test_what_is_really_better_is_found_in_every_fold() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0, 1, (N, 1)).repeat(2, axis=1)
    scores = {point: base + rng.normal(0, 0.02, (N, 2)) for point in SPACE.alone()}
    scores[("a=2",)] += 0.1
    scores[("b=1",)] += 0.2
    scores[("b=1", "a=2")] = base + 0.3
    found = searched(scores)
    assert found.point == ("b=1", "a=2")
    assert set(found.by_fold) == {("b=1", "a=2")}
    assert found.better
    assert found.crossed == found.held_in
    assert found.gain.estimate == pytest.approx(0.3, abs=0.02)


def test_overfitting_shows() -> None:
    """Points of pure noise: the best looks good on the questions it was chosen by only."""
    noisy = Space((Axis("a", tuple((f"a={n}",) for n in range(12))),))
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        scores = {point: rng.integers(0, 2, (N, 2)).astype(float) for point in noisy.alone()}
        found.append(searched(scores, space=noisy, seed=seed))
    assert np.mean([one.held_in_gain.estimate for one in found]) > 0.1
    assert abs(np.mean([one.gain.estimate for one in found])) < 0.05
    assert sum(one.better for one in found) <= 3


def test_the_start_may_differ_from_what_is_in_force() -> None:
    space = Space((B,), ("d=1",))
    scores = {(): np.zeros((N, 2)), ("d=1",): np.ones((N, 2)), ("d=1", "b=1"): np.full((N, 2), 0.5)}
    found = searched(scores, space=space)
    assert found.point == ("d=1",)
    assert found.better
    worse = {**scores, (): np.full((N, 2), 2.0)}
    assert not searched(worse, space=space).better  # though there is nothing else to choose


def test_points_that_were_not_scored_on_all_questions_are_left_out() -> None:
    rows = {
        (): {"x": (0.0, 0.0), "y": (1.0, 1.0)},
        ("b=1",): {"x": (1.0, 0.0), "y": (1.0, 1.0)},
        ("a=1",): {"x": (1.0, 1.0)},
    }
    scores = table_of(rows, ["x", "y"])
    assert list(scores) == [(), ("b=1",)]
    assert best(SPACE, scores, (0, 1)) == ("b=1",)
    with pytest.raises(UsageError, match="2 questions cannot be parted into 5"):
        searched(scores)


@pytest.mark.parametrize("part", GRIDS)
def test_the_grids_are_valid_and_leave_out_what_is_in_force(part: str) -> None:
    space = space_of(GRIDS[part], [])
    assert all(len(axis.moves) >= 2 for axis in space.axes)
    assert len(space.alone()) == 1 + sum(len(axis.moves) - 1 for axis in GRIDS[part])
    keys = keys_of(GRIDS[part])
    before = values_at((), [], keys)
    assert all(values_at(point, [], keys) != before for point in space.alone() if point)


def test_the_grid_of_other_settings_in_force_holds_the_defaults() -> None:
    space = space_of(GRIDS["fke"], ["fke.alpha=4"])
    assert ("fke.alpha=1",) in space.alone()
    assert ("fke.alpha=4",) not in space.alone()


def test_what_the_user_declares() -> None:
    assert declared(["fke.alpha=0.5, 2", "fke.top_k=5"])["fke"] == (
        Axis("alpha", (("fke.alpha=0.5",), ("fke.alpha=2",))),
        Axis("top_k", (("fke.top_k=5",),)),
    )
    for wrong in ("fke.alpha", "fke.alpha=", "sampling.seed=1", "fke.alfa=1", "drag.alpha=7"):
        with pytest.raises(UsageError):
            declared([wrong])


def test_parts() -> None:
    assert parse_parts("fke, drag") == ("delta", "drag", "fke")
    assert parse_parts("abstain") == ("abstain",)
    with pytest.raises(UsageError, match="crag cannot be tuned"):
        parse_parts("crag")
    with pytest.raises(UsageError, match="nothing to tune"):
        parse_parts(",")
