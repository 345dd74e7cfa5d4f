"""`ragcli eval run`: methods on questions with known answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.evaluate.corpus import Corpus
    from ragcli.evaluate.cost import Estimate
    from ragcli.evaluate.plan import Plan
    from ragcli.evaluate.runner import Bench, Done
    from ragcli.evaluate.types import Arm, Dataset

DEFAULT = "plain,fke,drag,crag,sentences,closed-book"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    ctx: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Questions with answers, JSON lines.")
    ],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="M,…",
            help="Compared with the first; parts as in drag+select=fke+drag.gamma=1; also gold,"
            " full, sentences, verbatim.",
        ),
    ] = None,
    ablate: Annotated[
        str | None, typer.Option("--ablate", metavar="NAME", help="A list of arms from a paper.")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", metavar="FILE", help="Texts to search; may be repeated."),
    ] = None,
    index: options.IndexDir = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Questions, in an order that is fixed."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget-minutes", metavar="M", min=0, help="Stop after so long."),
    ] = None,
    style: Annotated[
        str, typer.Option("--style", metavar="S", help="Answers: short or sentence.")
    ] = "short",
    abstain: Annotated[
        bool, typer.Option("--abstain", help="Let it abstain, as `ragcli ask` does.")
    ] = False,
    premise: Annotated[
        str, typer.Option("--premise", metavar="P", help="What a citation says: sentence, passage.")
    ] = "sentence",
    verifier: Annotated[
        str | None, typer.Option("--verifier", metavar="V", help="Judge of citations.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="For all methods; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where rows are kept.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Make rows anew that are there.")] = False,
    model: options.Model = None,
    encoder: options.Encoder = None,
    threads: options.Threads = None,
    ctx_size: options.Ctx = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Run methods on questions with known answers, and compare them.

    Rows are kept as they are made, so a run can be stopped and goes on where it was.
    Exit code 1 where a budget ended it before the last question.
    """
    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "ctx": ctx_size})
    as_json = as_json or bool(ctx.parent is not None and ctx.parent.params.get("as_json"))
    if style not in ("short", "sentence") or premise not in ("sentence", "passage"):
        raise UsageError("--style is short or sentence, --premise sentence or passage")
    arms = _arms(methods, ablate)
    dataset = _dataset(data, corpus)
    asked = _Asked(env, config, dataset, arms, limit, style, premise, not abstain)
    with _bench(asked, out) as bench:
        return _ran(asked, bench, budget, again, as_json)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks for."""

    env: Environment
    config: Config
    dataset: Dataset
    arms: tuple[Arm, ...]
    limit: int | None
    style: str
    premise: str
    force: bool

    def plan(self) -> Plan:
        """Raises UsageError for settings that are none."""
        from ragcli.cite.verify import check_verifier
        from ragcli.evaluate.datasets import first
        from ragcli.evaluate.plan import Plan, assignments

        check_verifier(self.config["verifier"])
        chosen = first(self.dataset, self.limit) if self.limit else self.dataset
        plan = Plan(
            chosen.questions,
            self.arms,
            assignments(self.style, self.config.assignments),
            self.config["verifier"],
            self.premise,  # type: ignore[arg-type]
            self.force,
            self.config["ctx"],
        )
        for arm in self.arms:
            plan.settings(arm)
        return plan


def _arms(methods: str | None, ablate: str | None) -> tuple[Arm, ...]:
    from ragcli.evaluate.arms import parse_arms

    if methods and ablate:
        raise UsageError("--methods and --ablate are two ways to say the same")
    if ablate is None:
        return parse_arms(methods or DEFAULT)
    from ragcli.evaluate.ablations import find_ablation

    return find_ablation(ablate).arms


def _dataset(data: Path, corpora: Sequence[Path] | None) -> Dataset:
    from ragcli.evaluate.datasets import load

    return load(data, corpora=tuple(corpora or ()))


@contextmanager
def _bench(asked: _Asked, out: Path | None) -> Iterator[Bench]:
    from ragcli.evaluate.runner import Bench
    from ragcli.evaluate.store import Store
    from ragcli.paths import user_cache_dir
    from ragcli.render.json import answer_document

    asked.plan()  # what is wrong with it shows before anything is opened
    folder = out or user_cache_dir() / "eval" / "runs" / asked.dataset.name
    with (
        Store(folder) as store,
        _corpus(asked) as corpus,
        engine.generator(asked.config, asked.env) as generator,  # type: ignore[attr-defined]
    ):
        bench = Bench(corpus, generator, store, describe=answer_document)
        try:
            yield bench
        finally:
            bench.close()


def _corpus(asked: _Asked) -> Corpus:
    """The data's own texts, indexed; or the user's index, where the data brings none."""
    from ragcli.evaluate.corpus import build, over

    config, env = asked.config, asked.env
    if not asked.dataset.corpus and not asked.dataset.own:
        return over(engine.reader(config, env), asked.dataset)
    from ragcli.encoders import resolve_encoder

    identity = resolve_encoder(config["encoder"]).identity
    return build(
        asked.dataset, engine.encoder(config, env), identity,
        workers=engine.workers(config), watch=_Indexing(env),
    )  # fmt: skip


class _Indexing:
    """Says once that texts are being indexed."""

    def __init__(self, env: Environment) -> None:
        self._env, self._said = env, False

    def __call__(self, event: object) -> None:
        if not self._said:
            self._env.note("indexing the data's texts (once)")
            self._said = True


def _ran(asked: _Asked, bench: Bench, budget: float | None, again: bool, as_json: bool) -> ExitCode:
    plan = asked.plan()
    env = asked.env
    missing = bench.missing(plan) if not again else {a.name: len(plan.questions) for a in plan.arms}
    _say_cost(env, plan, bench.estimate(plan, missing), budget)
    rows: list[dict[str, Any]] = []
    seen = -1
    progress = _progress(env, plan)
    for done in bench.run(plan, again=again, stop=_stopper(budget)):
        seen = done.index
        progress(done)
        if done.row is not None:
            rows.append({**done.row, "arm": done.arm.name})
    whole = seen + 1 == len(plan.questions)
    if not whole:
        env.note(f"the budget ended it after {seen + 1} of {len(plan.questions)} questions")
    _show(asked, bench, rows, seen + 1, as_json)
    return ExitCode.OK if whole else ExitCode.NOTHING


def _stopper(budget: float | None) -> Callable[[float], bool]:
    """Whether the time is up, or would be within a question like the last."""
    began = time.monotonic()

    def stop(last: float) -> bool:
        return budget is not None and time.monotonic() - began + last > 60 * budget

    return stop


def _say_cost(env: Environment, plan: Plan, cost: Estimate, budget: float | None) -> None:
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


def _progress(env: Environment, plan: Plan) -> Callable[[Done], None]:
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


def _show(
    asked: _Asked, bench: Bench, rows: Sequence[Mapping[str, Any]], questions: int, as_json: bool
) -> None:
    from ragcli.evaluate.summary import comparison, document, summarise, table

    plan = asked.plan()
    summaries = summarise(rows, [arm.name for arm in plan.arms])
    if as_json:
        run = {**bench.about(plan), "style": asked.style, "answered": questions}
        asked.env.json(document(summaries, run, rows))
        return
    from ragcli.render.terminal import clean, columns

    printer = asked.env.printer()
    for lines in (table(summaries), comparison(summaries)):
        if lines:
            columns(printer, [[clean(cell) for cell in line] for line in lines])
            printer.blank()
    printer.line("means with 95 % intervals; below: minus the first, * where 0 is outside")
    printer.line(f"citations judged by {plan.verifier}; rows in {bench.folder}")
