"""Points on a bench: what is run, what a budget leaves, and what the results say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ragcli.errors import ModelError, UsageError
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.plan import SHORT, Plan
from ragcli.evaluate.runner import Bench, Done
from ragcli.evaluate.store import Store, read_rows
from ragcli.evaluate.tuning.fitting import fit_settings
from ragcli.evaluate.tuning.running import Runner, objective_of, risks_of, search
from ragcli.evaluate.tuning.search import Axis, Point, Space
from ragcli.evaluate.types import Question
from tests.methods.fakes import FakeGenerator

QUESTIONS = tuple(Question(str(at), f"What is {at}?", ("it",)) for at in range(12))
ALPHA = Axis("alpha", (("fke.alpha=0.5",), ("fke.alpha=2",)))
TAU = Axis("tau_s", (("fke.tau_s=0.5",),))
BOTH = ("fke.alpha=2", "fke.tau_s=0.5")
Score = Callable[[Point, int], float]


class Scripted:
    """A bench whose rows are a function of point and question; a row takes a unit of time."""

    def __init__(self, score: Score, rows: int = 10_000) -> None:
        self.score, self.left = score, rows
        self.ran: list[tuple[Point, str]] = []

    def run(self, plan: Plan, *, stop: Callable[[float], bool]) -> Iterator[Done]:
        for index, question in enumerate(plan.questions):
            if self.left < len(plan.arms):
                return
            for arm in plan.arms:
                self.left -= 1
                self.ran.append((arm.settings, question.id))
                value = self.score(arm.settings, int(question.id))
                row = {"key": arm.name + question.id, "scores": {"f1": value, "em": value}}
                yield Done(index, question, arm, row)


def runner(bench: object, questions: tuple[Question, ...] = QUESTIONS) -> Runner:
    plan = Plan(questions, (), SHORT)
    return Runner(cast(Bench, bench), plan, lambda last: False, lambda plan: lambda done: None)


def gains(point: Point, at: int) -> float:
    return 0.2 + 0.1 * ("fke.alpha=2" in point) + 0.05 * ("fke.tau_s=0.5" in point) + at / 100


def test_both_steps_and_no_row_twice() -> None:
    bench = Scripted(gains)
    outcome = search(runner(bench), "fke", Space((ALPHA, TAU)), 3, 0)
    assert outcome is not None
    assert (outcome.searched.point, outcome.points, outcome.whole) == (BOTH, 5, True)
    assert outcome.objective == ("f1", "em")
    assert len(bench.ran) == len(set(bench.ran)) == 5 * 12
    assert [point for point, _ in bench.ran[:4]] == [(), *ALPHA.moves, *TAU.moves]


def test_a_budget_in_the_first_step_leaves_fewer_questions() -> None:
    outcome = search(runner(Scripted(gains, rows=4 * 7)), "fke", Space((ALPHA, TAU)), 3, 0)
    assert outcome is not None
    assert outcome.questions == tuple("0123456")
    assert (outcome.searched.point, outcome.whole) == (("fke.alpha=2",), False)
    assert search(runner(Scripted(gains, rows=8)), "fke", Space((ALPHA, TAU)), 3, 0) is None


def test_a_budget_in_the_second_step_leaves_what_was_tried_alone() -> None:
    outcome = search(runner(Scripted(gains, rows=4 * 12 + 5)), "fke", Space((ALPHA, TAU)), 3, 0)
    assert outcome is not None
    assert (outcome.searched.point, outcome.points) == (("fke.alpha=2",), 4)
    assert (len(outcome.questions), outcome.whole) == (12, False)


def test_a_fit_that_holds_is_kept_and_one_that_does_not_is_not() -> None:
    fit, whole = fit_settings(runner(Scripted(gains)), "fke", (ALPHA, TAU), (), 3, 0)
    assert fit is not None
    assert whole
    assert fit.keep
    assert fit.changed == {"fke.alpha": 2.0, "fke.tau_s": 0.5}
    assert fit.before == {"fke.alpha": 1.0, "fke.tau_s": 1.0}
    assert fit.gain.estimate == pytest.approx(0.15)

    def lucky(point: Point, at: int) -> float:  # one question decides
        return float(point == ("fke.alpha=2",) and at == 4)

    fit, _ = fit_settings(runner(Scripted(lucky)), "fke", (ALPHA, TAU), (), 3, 0)
    assert fit is not None
    assert fit.changed == {"fke.alpha": 2.0}
    assert fit.crossed.estimate < fit.held_in.estimate
    assert not fit.keep
    assert "not better" in fit.why


def test_a_start_is_compared_with_what_is_in_force() -> None:
    def score(point: Point, at: int) -> float:
        return 0.5 + 0.3 * ("drag.delta=0.4" in point)

    gamma = Axis("gamma", (("drag.gamma=1",),))
    start = ("drag.delta=0.4",)
    fit, _ = fit_settings(runner(Scripted(score)), "drag", (gamma,), start, 3, 0)
    assert fit is not None
    assert fit.gain.estimate == pytest.approx(0.3)
    assert not fit.keep  # delta is another part's; gamma stays
    assert fit.facts["start"] == ["drag.delta=0.4"]


def test_what_a_search_adds_to_nothing_is_not_kept_for_the_gain_of_its_start() -> None:
    def score(point: Point, at: int) -> float:
        noise = 0.1 if at % 2 else -0.09
        return 0.5 + 0.3 * ("drag.delta=0.4" in point) + noise * ("drag.gamma=1" in point)

    gamma = Axis("gamma", (("drag.gamma=1",),))
    fit, _ = fit_settings(runner(Scripted(score)), "drag", (gamma,), ("drag.delta=0.4",), 3, 0)
    assert fit is not None
    assert fit.changed == {"drag.gamma": 1.0}
    assert fit.gain.low is not None
    assert fit.gain.low > 0.2
    assert fit.facts["gain_over_start"] < 0.05
    assert not fit.keep


def test_scores_are_what_the_answers_allow() -> None:
    def rows(*names: str) -> Any:
        return {(): {"1": {"scores": dict.fromkeys(names, 1.0)}}}

    assert objective_of(rows("f1", "em", "str_em", "str_hit")) == ("f1", "em")
    assert objective_of(rows("str_em", "str_hit")) == ("str_em", "str_hit")
    with pytest.raises(UsageError, match="no score to tune by"):
        objective_of(rows("rouge_l"))


def test_risks_of_kept_answers() -> None:
    known = {"tokens": [{"risk": {"total": 0.5}}, {"risk": {"total": 0}}]}
    assert risks_of(known) == [0.5, 0.0]
    assert risks_of({}) == []
    for unknown in ({"risk": None}, {"risk": {"total": None}}):
        with pytest.raises(ModelError, match="attention cannot be read"):
            risks_of({"tokens": [*known["tokens"], unknown]})


def test_on_a_real_bench_rows_are_kept(small: Corpus, tmp_path: Path) -> None:
    space = Space((Axis("k", (("retrieval.k=1",),)),))
    for expected in (6, 0):
        generator = FakeGenerator("Mira Oskan")
        with Store(tmp_path / "out") as store:
            before = len(list(read_rows(tmp_path / "out")))
            bench = Bench(small, generator, store)
            plan = Plan(small.dataset.questions, (), SHORT)
            one = replace(runner(bench), plan=plan)
            outcome = search(one, "plain", space, 2, 0)
            bench.close()
        assert outcome is not None
        assert outcome.searched.default.n == 3
        assert outcome.searched.default.estimate == pytest.approx(1 / 3)
        assert len(list(read_rows(tmp_path / "out"))) - before == expected
