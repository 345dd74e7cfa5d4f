"""What `ragcli eval run` says: the cost before, progress on a terminal, the comparison."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragcli.cli.environment import Environment

if TYPE_CHECKING:
    from ragcli.evaluate.cost import Estimate
    from ragcli.evaluate.plan import Plan
    from ragcli.evaluate.runner import Bench, Done
    from ragcli.evaluate.types import Dataset


def say_left_out(env: Environment, dataset: Dataset) -> None:
    """Questions that are said to have no answer."""
    if dataset.left_out:
        env.note(f"questions without answers are left out: {dataset.left_out}")


def say_cost(env: Environment, plan: Plan, cost: Estimate, budget: float | None) -> None:
    """What the run will take, before it begins."""
    made = sum(cost.missing.values())
    total = len(plan.questions) * len(plan.arms)
    if not made:
        env.note(f"all {total} answers are there already")
        return
    there = f" ({total - made} of {total} are there)" if made < total else ""
    each = ", ".join(f"{name} {seconds:.1f}" for name, seconds in cost.seconds.items())
    env.note(f"{made} answers to make{there}: about {_long(cost.total)}; seconds each: {each}")
    if budget is not None and cost.total > 60 * budget:
        share = budget * 60 / cost.total
        env.note(f"the budget of {budget:g} min is enough for about {share:.0%} of them")


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def progress(env: Environment, plan: Plan) -> Callable[[Done], None]:
    """Told of each row; draws a line on a terminal."""
    began = time.monotonic()
    made = 0

    def tell(done: Done) -> None:
        nonlocal made
        made += not done.known
        if not env.progress:
            return
        left = (len(plan.questions) - done.index) * len(plan.arms)
        pace = (time.monotonic() - began) / max(made, 1)
        text = f"question {done.index + 1} of {len(plan.questions)}, {done.arm.name}"
        env.stderr.write(f"\r\x1b[K{text}; about {_long(left * pace)} left")
        env.stderr.flush()
        if done.index + 1 == len(plan.questions) and done.arm == plan.arms[-1]:
            env.stderr.write("\r\x1b[K")

    return tell


def show(
    env: Environment,
    plan: Plan,
    bench: Bench,
    rows: Sequence[Mapping[str, Any]],
    run: Mapping[str, Any],
    as_json: bool,
) -> None:
    """The comparison, as text or as `ragcli/eval@1`. run: what the bench does not know."""
    from ragcli.evaluate.summary import comparison, details, document, summarise, table

    summaries = summarise(rows, [arm.name for arm in plan.arms])
    if as_json:
        env.json(document(summaries, {**bench.about(plan), **run}, rows))
        return
    from ragcli.render.terminal import clean, columns

    printer = env.printer()
    for lines in (table(summaries), details(summaries), comparison(summaries)):
        if lines:
            columns(printer, [[clean(cell) for cell in line] for line in lines])
            printer.blank()
    printer.line("means with 95 % intervals; below: minus the first, * where 0 is outside")
    printer.line(f"citations judged by {plan.verifier}; rows in {bench.folder}")
