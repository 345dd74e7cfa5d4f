"""`ragcli eval simulate`: whether a selector would help this generator on this data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ragcli.evaluate.simulation.pools import Pool
    from ragcli.evaluate.simulation.simulate import Design, Mix, Result, Simulator
    from ragcli.llm.base import Generator

QUESTIONS, POINTS = 30, 5
_FIXED, _ANSWER = 60, 8  # tokens of a prompt beside its sentences, and of an answer, about


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(simulate)


def simulate(
    ctx: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Questions with gold sentences.")
    ],
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Questions, in a fixed order.")
    ] = QUESTIONS,
    grid: Annotated[
        int, typer.Option("--grid", metavar="N", min=2, max=50, help="Rates a side.")
    ] = POINTS,
    spacing: Annotated[
        str, typer.Option("--spacing", metavar="S", help="Of p_noise: exponential or linear.")
    ] = "exponential",
    cap: Annotated[
        int | None, typer.Option("--cap", metavar="K", min=1, help="Most sentences of a mix.")
    ] = None,
    noisy_gold: Annotated[
        bool, typer.Option("--noisy-gold", help="Pass one gold sentence off as a distractor.")
    ] = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="Answer from each sentence by itself, too.")
    ] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Draw them into --out.")] = False,
    budget: options.Budget = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where answers and plots are kept.")
    ] = None,
    model: options.Model = None,
    threads: options.Threads = None,
    ctx_size: options.Ctx = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Answer from controlled mixes of gold and distractor sentences, and say what follows.

    Shows how answers depend on knowledge precision and recall, and what a selector could win
    with this generator. Answers are kept, so a run can be stopped and goes on where it was.
    """
    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "ctx": ctx_size})
    as_json = options.asks_json(ctx, as_json)
    design = _design(
        grid, spacing, cap, noisy_gold, alone, engine.parse(config.assignments).sampling.seed
    )
    if plots:
        from ragcli.evaluate.simulation.plots import check

        check()
    found, name = _pools(env, data, limit)
    folder = out or _default_folder(name)
    with _opened(env, config, folder) as (simulator, generator):
        _say_cost(env, simulator.missing(found, design), generator, budget)
        done = _run(env, simulator, found, design, budget)
        if not done:
            raise UsageError(
                "the budget ended before the first question", hint="allow more minutes"
            )
        result = simulator.result(done, design)
        identity = generator.identity
    drawn = _drawn(result, folder) if plots else []
    about = {"data": name, "model": {"name": identity.name, "sha256": identity.sha256}}
    _show(env, result, design, {**about, "folder": _shown(folder), "plots": drawn}, as_json)
    if len(done) < len(found):
        env.note(f"the budget ended it after {len(done)} of {len(found)} questions")
        return ExitCode.PARTIAL
    return ExitCode.OK


def _design(
    grid: int, spacing: str, cap: int | None, noisy_gold: bool, alone: bool, seed: int
) -> Design:
    from ragcli.evaluate.simulation.sampling import rates
    from ragcli.evaluate.simulation.simulate import Design

    if spacing not in ("linear", "exponential"):
        raise UsageError(f"--spacing {spacing}: exponential or linear")
    noise = rates(grid, spacing)  # type: ignore[arg-type]
    return Design(rates(grid, "linear"), noise, cap, noisy_gold, seed, alone)


def _pools(env: Environment, data: Path, limit: int) -> tuple[tuple[Pool, ...], str]:
    from ragcli.evaluate.datasets import load
    from ragcli.evaluate.simulation.pools import pools

    dataset = load(data, limit)
    found = pools(dataset)
    left = len(dataset.questions) - len(found)
    if left:
        env.note(f"{left} of {len(dataset.questions)} questions left out: none of their sentences"
                 " is marked as gold, or they have no answers")  # fmt: skip
    return found, dataset.name


def _default_folder(name: str) -> Path:
    from ragcli.paths import user_cache_dir

    return user_cache_dir() / "eval" / "simulations" / name


def _shown(folder: Path) -> str:
    from ragcli.paths import shown

    return shown(folder)


@contextmanager
def _opened(
    env: Environment, config: configuration.Config, folder: Path
) -> Iterator[tuple[Simulator, Generator]]:
    from ragcli.evaluate.simulation.simulate import Simulator
    from ragcli.evaluate.store import Store

    with Store(folder) as store, closing(engine.generator(config, env)) as generator:
        simulator = Simulator(generator, store, config["ctx"])
        try:
            yield simulator, generator
        finally:
            simulator.close()


def _say_cost(
    env: Environment, missing: Sequence[Mix], generator: Generator, budget: float | None
) -> None:
    """What the answers that are missing will take, by a measurement of the model's speed."""
    from ragcli.evaluate.cost import measure

    if not missing:
        env.note("all answers are there already")
        return
    largest = max(missing, key=lambda mix: len(mix.chosen))
    text = " ".join(largest.pool.sentences)
    speed = measure(generator, text)
    each = len(generator.vocabulary.tokenize(text)) / len(largest.pool.sentences)
    read = sum(_FIXED + each * new for new in _unread(missing))
    minutes = (read / speed.reading + _ANSWER * len(missing) / speed.writing) / 60
    env.note(f"{len(missing)} answers to make: about {max(1, round(minutes))} min")
    if budget is not None and minutes > budget:
        env.note(f"the budget of {budget:g} min is enough for about {budget / minutes:.0%} of them")


def _unread(missing: Sequence[Mix]) -> Iterator[int]:
    """Sentences that each set does not begin with as the one before it does: those are kept."""
    before: tuple[str, tuple[int, ...]] = ("", ())
    for mix in missing:
        name, chosen = mix.pool.question.id, before[1]
        same = 0
        if name == before[0]:
            pairs = zip(chosen, mix.chosen, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        yield len(mix.chosen) - same
        before = (name, mix.chosen)


def _run(
    env: Environment,
    simulator: Simulator,
    found: Sequence[Pool],
    design: Design,
    budget: float | None,
) -> list[Pool]:
    from ragcli.render.counting import counting_bar

    began = time.monotonic()

    def stop(last: float) -> bool:
        return budget is not None and time.monotonic() - began + last > 60 * budget

    def run(tick: Callable[[int], None]) -> list[Pool]:
        return list(simulator.run(found, design, stop=stop, tick=tick))

    total = len(simulator.missing(found, design))
    if not env.progress or not total:
        return run(lambda done: None)
    with counting_bar(env.stderr, "answers", total, env.width) as tick:
        return run(tick)


def _drawn(result: Result, folder: Path) -> list[str]:
    from ragcli.evaluate.simulation.plots import draw

    assert result.baselines is not None
    return [file.name for file in draw(result.points, result.baselines, result.alone, folder)]


def _show(
    env: Environment, result: Result, design: Design, about: dict[str, object], as_json: bool
) -> None:
    from ragcli.evaluate.simulation.document import alone_table, document, table, told

    if result.cut:
        env.note(f"{result.cut} sets of sentences did not fit into the context and were cut: --ctx")
    if as_json:
        env.json(document(result, design, about))
        return
    from ragcli.render.terminal import columns, count

    printer = env.printer()
    columns(printer, table(result))
    printer.blank()
    if result.alone:
        columns(printer, alone_table(result.alone))
        printer.blank()
    for line in told(result, design):
        printer.line(line)
    printer.line(f"{count(result.questions, 'question')}; answers in {about['folder']}")
