"""`ragcli eval run`: methods on questions with known answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options, organizers
from ragcli.cli.environment import Environment
from ragcli.cli.evaluation.telling import progress, say_cost, say_left_out, show
from ragcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.evaluate.corpus import Corpus
    from ragcli.evaluate.plan import Plan
    from ragcli.evaluate.runner import Bench
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
    corpus: options.Corpora = None,
    index: options.IndexDir = None,
    limit: options.Limit = None,
    budget: options.Budget = None,
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
    organizer: options.Organizer = None,
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
    Exit code 5 where a budget ended it before the last question.
    """
    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "ctx": ctx_size})
    as_json = options.asks_json(ctx, as_json)
    if style not in ("short", "sentence") or premise not in ("sentence", "passage"):
        raise UsageError("--style is short or sentence, --premise sentence or passage")
    arms = _arms(methods, ablate)
    dataset = _dataset(data, corpus)
    say_left_out(env, dataset)
    asked = _Asked(env, config, dataset, arms, limit, style, premise, not abstain)
    plan = asked.plan()  # what is wrong with it shows before anything is opened
    with _bench(asked, out) as bench:
        return _ran(asked, plan, bench, budget, again, as_json)


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
        """Raises UsageError for settings that are none, ModelError for an organizer that is none."""
        from ragcli.cite.verify import check_verifier
        from ragcli.evaluate.arms import method_of
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
            if arm.knowledge == "retrieved":
                organizers.need_organizer(self.config, method_of(arm))
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

    folder = out or user_cache_dir() / "eval" / "runs" / asked.dataset.name
    with (
        Store(folder) as store,
        corpus_of(asked.config, asked.env, asked.dataset) as corpus,
        closing(engine.generator(asked.config, asked.env)) as generator,
    ):
        bench = Bench(
            corpus, generator, store, describe=answer_document,
            organiser=organizers.organizer(asked.config, asked.env, engine.threads(asked.config)),
        )  # fmt: skip
        try:
            yield bench
        finally:
            bench.close()


def corpus_of(config: Config, env: Environment, dataset: Dataset) -> Corpus:
    """The data's own texts, indexed; or the user's index, where the data brings none."""
    from ragcli.evaluate.corpus import build, over

    if not dataset.corpus and not dataset.own:
        return over(engine.reader(config, env), dataset)
    from ragcli.encoders import resolve_encoder
    from ragcli.encoders.base import EXACT

    precision = config["encoder_precision"] or EXACT
    identity = resolve_encoder(config["encoder"], precision).identity
    return build(
        dataset, engine.encoder(config, env, precision), identity,
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


def _ran(
    asked: _Asked, plan: Plan, bench: Bench, budget: float | None, again: bool, as_json: bool
) -> ExitCode:
    env = asked.env
    _check_arms(env, plan, bench)
    missing = bench.missing(plan) if not again else {a.name: len(plan.questions) for a in plan.arms}
    say_cost(env, plan, bench.estimate(plan, missing), budget)
    rows: list[dict[str, Any]] = []
    seen = -1
    tell = progress(env, plan)
    for done in bench.run(plan, again=again, stop=_stopper(budget)):
        seen = done.index
        tell(done)
        if done.row is not None:
            rows.append({**done.row, "arm": done.arm.name})
    whole = seen + 1 == len(plan.questions)
    if not whole:
        env.note(f"the budget ended it after {seen + 1} of {len(plan.questions)} questions")
    show(env, plan, bench, rows, {"style": asked.style, "answered": seen + 1}, as_json)
    return ExitCode.OK if whole else ExitCode.PARTIAL


def _check_arms(env: Environment, plan: Plan, bench: Bench) -> None:
    """Raises UsageError where the data brings no arm what it needs; names those that lack it."""
    idle = [name for name, keys in bench.keys(plan).items() if not keys]
    if not idle:
        return
    said = f"the data does not mark what is needed to answer, so {', '.join(idle)} cannot be run"
    if len(idle) == len(plan.arms):
        raise UsageError(said, hint="`gold` marks of passages, or --methods without it")
    env.note(said)


def _stopper(budget: float | None) -> Callable[[float], bool]:
    """Whether the time is up, or would be within a question like the last."""
    began = time.monotonic()

    def stop(last: float) -> bool:
        return budget is not None and time.monotonic() - began + last > 60 * budget

    return stop
