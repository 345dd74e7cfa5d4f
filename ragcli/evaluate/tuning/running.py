"""Scores of points and risks of tokens, from rows that are kept as an evaluation keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragcli.errors import ModelError, UsageError
from ragcli.evaluate.plan import Plan
from ragcli.evaluate.runner import Bench, Done
from ragcli.evaluate.store import Row, read_answers
from ragcli.evaluate.tuning.folds import folds
from ragcli.evaluate.tuning.search import (
    Point,
    Searched,
    Space,
    cross_validate,
    still_wanted,
    table_of,
)
from ragcli.evaluate.types import Arm

# What is searched for and what parts equal scores, by what the data's answers are.
OBJECTIVES = (("f1", "em"), ("str_em", "str_hit"), ("list_f1_5", "list_recall_5"))
UNCALIBRATED = Arm("drag+decode=plain", "drag", decode="plain")  # what delta is measured on
BARE = Arm("plain")  # risk where retrieval scores the documents

Rows = dict[Point, dict[str, Row]]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs points of a method on a bench. stop: as of `Bench.run`; tell: for
    a plan, what is told of its rows."""

    bench: Bench
    plan: Plan
    stop: Callable[[float], bool]
    tell: Callable[[Plan], Callable[[Done], None]]

    def over(self, ids: Iterable[str] | None) -> Plan:
        """The plan on some of its questions; None for all."""
        if ids is None:
            return self.plan
        kept = frozenset(ids)
        return replace(self.plan, questions=tuple(q for q in self.plan.questions if q.id in kept))

    def rows(self, method: str, points: Sequence[Point], ids: Iterable[str] | None = None) -> Rows:
        """Rows by point and question, as far as the budget went. Raises what answering raises."""
        arms = arms_of(method, points)
        plan = replace(self.over(ids), arms=arms)
        names = {arm.name: point for arm, point in zip(arms, points, strict=True)}
        found: Rows = {point: {} for point in points}
        for done in self._run(plan):
            if done.row is not None:
                found[names[done.arm.name]][done.question.id] = done.row
        return found

    def _run(self, plan: Plan) -> Iterator[Done]:
        tell = self.tell(plan)
        for done in self.bench.run(plan, stop=self.stop):
            tell(done)
            yield done

    def risks(self, arm: Arm) -> dict[str, list[float]]:
        """Risk of every token of the arm's answers, by question.

        Raises ModelError where the generator shows no attention, so that risk is unknown.
        """
        plan = replace(self.plan, arms=(arm,))
        keys: dict[str, str] = {}
        for done in self._run(plan):
            if done.row is not None:
                keys[done.question.id] = done.row["key"]
        answers = read_answers(self.bench.folder)
        return {id: risks_of(answers.get(key, {})) for id, key in keys.items()}


def arms_of(method: str, points: Iterable[Point]) -> tuple[Arm, ...]:
    """The points as arms of a method, in order."""
    return tuple(Arm("+".join((method, *point)), method, settings=point) for point in points)


def risks_of(answer: Mapping[str, Any]) -> list[float]:
    """Total risks of a kept answer's tokens. Raises ModelError where they are not known."""
    totals = [(token.get("risk") or {}).get("total") for token in answer.get("tokens", ())]
    known = [float(total) for total in totals if total is not None]
    if len(known) < len(totals):
        raise ModelError(
            "the risk of this model's tokens is unknown: its attention cannot be read",
            hint="--what fke,abstain needs none",
        )
    return known


@dataclass(frozen=True, slots=True)
class Outcome:
    """A search's result. objective: names of the score and of what parts equals.

    questions: ids, in order; points: how many were scored; whole: no budget cut it short.
    """

    searched: Searched
    objective: tuple[str, str]
    questions: tuple[str, ...]
    points: int
    whole: bool


def search(runner: Runner, method: str, space: Space, k: int, seed: int) -> Outcome | None:
    """Both steps of the search, with cross-validation.

    A budget that ends in the first step leaves the questions that were answered at every point,
    one that ends in the second step the points that were scored. None where fewer questions than
    folds are left. Raises UsageError where the answers give no score.
    """
    rows = runner.rows(method, space.alone())
    ids = tuple(q.id for q in runner.plan.questions if all(q.id in of for of in rows.values()))
    if len(ids) < k:
        return None
    objective = objective_of(rows)
    table = table_of(_scores(rows, objective), ids)
    parts = folds(len(ids), k, seed)
    wanted = still_wanted(space, table, parts, tuple(range(len(ids))))
    more = runner.rows(method, wanted, ids) if wanted else {}
    table |= table_of(_scores(more, objective), ids)
    whole = len(ids) == len(runner.plan.questions) and all(point in table for point in wanted)
    return Outcome(cross_validate(space, table, k, seed), objective, ids, len(table), whole)


def objective_of(rows: Rows) -> tuple[str, str]:
    """The first pair of scores that all rows have. Raises UsageError for none."""
    every = [row["scores"] for of in rows.values() for row in of.values()]
    for pair in OBJECTIVES:
        if every and all(name in scores for scores in every for name in pair):
            return pair
    raise UsageError(
        "the data's answers give no score to tune by",
        hint='short answers: {"question": "…", "answers": ["…"]}',
    )


def _scores(rows: Rows, objective: tuple[str, str]) -> dict[Point, dict[str, tuple[float, float]]]:
    first, second = objective
    return {
        point: {id: (row["scores"][first], row["scores"][second]) for id, row in of.items()}
        for point, of in rows.items()
    }
