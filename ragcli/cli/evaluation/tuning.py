"""What `ragcli eval tune` runs: each part in turn, within the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcli.cli import engine
from ragcli.cli.environment import Environment
from ragcli.cli.evaluation.run import corpus_of
from ragcli.cli.evaluation.telling import progress
from ragcli.errors import UsageError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.evaluate.corpus import Corpus
    from ragcli.evaluate.plan import Plan
    from ragcli.evaluate.runner import Bench
    from ragcli.evaluate.tuning.fit import Fit
    from ragcli.evaluate.tuning.search import Axis, Point
    from ragcli.evaluate.types import Dataset, Question


@dataclass(slots=True)
class Result:
    """What was fitted so far. whole: nothing was cut short."""

    fits: list[Fit]
    about: dict[str, Any]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    env: Environment
    config: Config
    dataset: Dataset
    parts: tuple[str, ...]
    tries: dict[str, tuple[Axis, ...]]
    style: str | None
    folds: int
    share: float
    budget: float | None
    began: float = field(default_factory=time.monotonic)

    @property
    def seed(self) -> int:
        return engine.parse(self.config.assignments).sampling.seed

    def axes(self, part: str) -> tuple[Axis, ...]:
        """What is tried for a part that is searched."""
        from ragcli.evaluate.tuning.spaces import GRIDS

        return self.tries.get(part) or GRIDS[part]

    def plan(self, style: str) -> Plan:
        from ragcli.evaluate.plan import Plan, assignments

        return Plan(
            self.dataset.questions, (), assignments(self.style or style, self.config.assignments),
            n_ctx=self.config["ctx"],
        )  # fmt: skip

    def check(self) -> None:
        """Raises UsageError for too few questions, and for what does not go together."""
        from ragcli.evaluate.tuning.folds import folds
        from ragcli.evaluate.tuning.spaces import space_of

        folds(len(self.dataset.questions), self.folds, self.seed)
        for part in self.parts:
            if part in ("drag", "fke"):
                space_of(self.axes(part), self.plan("short").assignments)

    def stopper(self, parts_left: int) -> Callable[[float], bool]:
        """Whether a part's time is up: what is left is dealt out evenly."""
        if self.budget is None:
            return lambda last: False
        now = time.monotonic()
        end = now + max(0.0, self.began + 60 * self.budget - now) / parts_left
        return lambda last: time.monotonic() + last > end

    def fits(self, rows: Path | None) -> Result:
        """Every part, one after another. Raises what answering raises."""
        self.check()
        with ExitStack() as stack:
            corpus = stack.enter_context(corpus_of(self.config, self.env, self.dataset))
            result = Result([], {"data": self.dataset.name, "model": None, "folds": self.folds,
                                  "seed": self.seed, "rows": None})  # fmt: skip
            parts = list(self.parts)
            if "abstain" in parts:
                _abstain(self, corpus, result, self.stopper(len(parts)))
                parts.remove("abstain")
            if parts:
                bench = self._bench(stack, corpus, rows, result)
                _say_cost(self, bench, parts)
                for number, part in enumerate(parts):
                    _generating(self, bench, part, result, self.stopper(len(parts) - number))
        return result

    def _bench(self, stack: ExitStack, corpus: Corpus, rows: Path | None, result: Result) -> Bench:
        from ragcli.evaluate.runner import Bench
        from ragcli.evaluate.store import Store
        from ragcli.paths import user_cache_dir
        from ragcli.render.json import answer_document

        folder = rows or user_cache_dir() / "eval" / "tuning" / self.dataset.name
        store = stack.enter_context(Store(folder))
        generator = stack.enter_context(closing(engine.generator(self.config, self.env)))
        identity = generator.identity
        result.about["model"] = {"name": identity.name, "sha256": identity.sha256}
        result.about["rows"] = shown(folder)
        return stack.enter_context(
            closing(Bench(corpus, generator, store, describe=answer_document))
        )


def _abstain(asked: Asked, corpus: Corpus, result: Result, stop: Callable[[float], bool]) -> None:
    """The abstention threshold; no generator is loaded."""
    from ragcli.evaluate.tuning.abstention import fit_abstention
    from ragcli.evaluate.tuning.evidence import judge, marked

    env = asked.env
    questions = marked(corpus, asked.dataset.questions)
    if len(questions) < asked.folds:
        said = f"abstain: the source of {len(questions)} questions is marked, too few to fit it"
        if asked.parts == ("abstain",):
            raise UsageError(said, hint="`gold` marks, and passages to take them from")
        env.note(said)
        return
    settings = engine.parse(asked.config.assignments)
    judged = list(_timed(env, judge(corpus, questions, settings), questions, stop))
    if len(judged) < len(questions):
        result.whole = False
        env.note(f"abstain: the budget ended it after {len(judged)} of {len(questions)} questions")
    if len(judged) >= asked.folds:
        in_force = float(settings.extra["evidence.enough"])
        fit = fit_abstention(judged, in_force=in_force, k=asked.folds, seed=asked.seed)
        result.fits.append(fit)


def _timed(
    env: Environment, each: Iterator[Any], questions: Sequence[Question],
    stop: Callable[[float], bool],
) -> Iterator[Any]:  # fmt: skip
    """The items, as far as time goes; says after the second what all will take."""
    last = 0.0
    for number in range(len(questions)):
        if stop(last):
            return
        began = time.monotonic()
        yield next(each)
        last = time.monotonic() - began
        if number == 1:  # the first one opened the encoder
            env.note(f"abstain: {len(questions)} questions judged twice: about"
                     f" {_long(last * len(questions))}")  # fmt: skip


def _generating(
    asked: Asked, bench: Bench, part: str, result: Result, stop: Callable[[float], bool]
) -> None:
    """A part that has the generator answer."""
    from ragcli.evaluate.tuning.fitting import fit_risks, fit_settings
    from ragcli.evaluate.tuning.running import Runner

    env, total = asked.env, len(asked.dataset.questions)
    style = "sentence" if part == "delta" else "short"
    runner = Runner(bench, asked.plan(style), stop, partial(progress, env))
    if part == "delta":
        fit = fit_risks(runner, asked.share, asked.folds, asked.seed)
        whole = fit is not None and fit.facts["answered"] == total
    else:
        start = _start(result.fits) if part == "drag" else ()
        fit, whole = fit_settings(runner, part, asked.axes(part), start, asked.folds, asked.seed)
    result.whole &= whole
    if not whole:
        done = f"{fit.questions} of {total}" if fit is not None else "too few"
        env.note(f"{part}: the budget cut it short; {done} questions were used")
    if fit is not None:
        result.fits.append(fit)


def _start(fits: Sequence[Fit]) -> Point:
    """The fitted delta, where it is to be used."""
    delta = next((fit for fit in fits if fit.part == "delta" and fit.keep), None)
    return (f"drag.delta={delta.values['drag.delta']!r}",) if delta else ()


def _say_cost(asked: Asked, bench: Bench, parts: Sequence[str]) -> None:
    """What the answers will take at most: prompts that points share are reckoned for each."""
    from ragcli.evaluate.tuning.running import BARE, UNCALIBRATED, arms_of
    from ragcli.evaluate.tuning.spaces import space_of

    answers, seconds = 0, 0.0
    plans = [replace(asked.plan("sentence"), arms=(UNCALIBRATED, BARE))] if "delta" in parts else []
    short = asked.plan("short")
    searched = [part for part in parts if part != "delta"]
    arms = tuple(
        arm
        for part in searched
        for arm in arms_of(part, space_of(asked.axes(part), short.assignments).alone())
    )
    plans += [replace(short, arms=arms)] if arms else []
    for plan in plans:
        cost = bench.estimate(plan, bench.missing(plan))
        answers += sum(cost.missing.values())
        seconds += cost.total
    if not answers:
        asked.env.note("the answers that are needed first are there already")
        return
    more = ", and a few more where changes are put together" if searched else ""
    asked.env.note(f"{answers} answers to make: at most about {_long(seconds)}{more}")
    if asked.budget is not None and seconds > 60 * asked.budget:
        share = 60 * asked.budget / seconds
        asked.env.note(
            f"the budget of {asked.budget:g} min is enough for {share:.0%} of them or more"
        )


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
