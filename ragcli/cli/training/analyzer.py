"""`ragcli train analyzer`: DRAG's analyzer, a LoRA on one's own generator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.cli.training.telling import Bars, estimated, long
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.llm.base import Generator
    from ragcli.render.terminal import Printer
    from ragcli.train.analyzer_data import Row
    from ragcli.train.analyzer_plan import AnalyzerOptions

_NEEDED = ("torch", "transformers", "gguf", "accelerate")


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(analyzer)


def analyzer(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option("--data", metavar="FILE", help="Instructions, JSON lines; may be repeated."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Adapter (GGUF) to write.")],
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            metavar="DIR|FILE",
            help="What the generator was made from (default: itself).",
        ),
    ] = None,
    model: options.Model = None,
    rank: Annotated[
        int, typer.Option("--rank", metavar="N", min=1, max=512, help="Of the change.")
    ] = 8,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="X", min=1e-3, max=1e4, help="Its weight, by rank.")
    ] = 16.0,
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", min=1, max=1000, help="At most.")
    ] = 3,
    rate: Annotated[
        float, typer.Option("--rate", metavar="X", min=1e-8, max=1.0, help="Of learning (Adam).")
    ] = 1e-3,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, max=4096, help="Instructions an update.")
    ] = 8,
    limit: options.LimitOfParts = None,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Say what it will take, and train nothing.")
    ] = False,
    threads: options.Threads = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Train DRAG's analyzer: it takes questions apart and scores passages by the parts.

    A line of data is a question with its components, or a component's relevance for a passage:
    {"question": "…", "components": [{"text": "…", "attribute": "invariant|variant|supplementary"}]},
    {"question": "…", "component": "…", "passage": "…", "relevant": true}. A training that was
    stopped goes on when it is called again. `ragcli ask --method drag --set drag.analyzer=adapter
    --adapter FILE` uses the result.
    """
    from ragcli.train.analyzer_data import read
    from ragcli.train.analyzer_plan import AnalyzerOptions

    env = options.environment(ctx)
    _check(out, base)
    given = model or (str(base) if base is not None and base.is_file() else None)
    config = configuration.load(env, {**ctx.params, "base": None, "model": given})
    chosen = AnalyzerOptions(rank, alpha, epochs, rate, batch, seed or 0)
    rows = read(data)
    with closing(engine.generator(config, env)) as generator:
        return _train(
            env, config, generator, rows, chosen, limit, base, out, estimate_only, as_json
        )  # fmt: skip


def _check(out: Path, base: Path | None) -> None:
    """Raises UsageError, before anything is loaded."""
    from ragcli.paths import shown
    from ragcli.train.outputs import check_ours, check_writable

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"training an analyzer needs the package {missing[0]}",
            hint="pip install 'ragcli[train]'",
        )
    if out.suffix != ".gguf" or out.is_dir():
        raise UsageError(
            f"{shown(out)} is no name for an adapter", hint="--out FILE.gguf; it is a GGUF file"
        )
    if base is not None and not base.exists():
        raise UsageError(
            f"there is no base {shown(base)}",
            hint="--base takes the folder of a Hugging Face causal model, or a GGUF",
        )
    if base is not None and base.resolve() == out.resolve():
        raise UsageError("--base and --out are the same file", hint="--out is written anew")
    report = out.with_suffix(".json")
    check_ours((out, report, out.with_suffix(".md")), report, "ragcli/analyzer@1")
    check_writable(out.parent)


def _train(
    env: Environment,
    config: Config,
    generator: Generator,
    rows: tuple[Row, ...],
    chosen: AnalyzerOptions,
    limit: int | None,
    base: Path | None,
    out: Path,
    estimate_only: bool,
    as_json: bool,
) -> int:
    from ragcli.paths import shown
    from ragcli.render.terminal import count
    from ragcli.train.analyzer_plan import estimate, pace, plan

    made = plan(rows, generator, chosen, limit)
    if made.useless:
        env.note(
            f"{count(made.useless, 'row')} left out: no component in the question, or too long"
        )
    env.note("loading what trains the analyzer")
    os.environ["HF_HUB_OFFLINE"] = "1"
    from ragcli.train.analyzer import AnalyzerTraining
    from ragcli.train.lora import open_lora

    base = base or generator.identity.path
    lora = open_lora(
        base, generator.identity.path, chosen.rank, chosen.alpha,
        seed=chosen.seed, threads=engine.threads(config),
    )  # fmt: skip
    seconds = pace(made, lora)
    env.note(
        f"{len(made.training)} instructions of about {made.tokens} tokens to learn from,"
        f" {len(made.development)} held aside; {seconds:.2f} s each, an epoch"
        f" {long(seconds * len(made.training))}, at most {long(estimate(made, seconds))}"
    )
    if estimate_only:
        if as_json:
            parts = len(made.training), len(made.development)
            env.json(estimated("analyzer", *parts, estimate(made, seconds)))
        return 0
    with Bars(env) as bars:
        training = AnalyzerTraining(made, lora, generator, base, out, bars.watch)
        if training.resumed:
            env.note("going on where an earlier run stopped")
        report = training.run()
    if as_json:
        env.json(report)
    else:
        _show(env.printer(), report, shown(out))
    return 0


def _show(printer: Printer, report: Mapping[str, Any], file: str) -> None:
    """Losses of the epochs, what the engine reads with the adapter, and how to use it."""
    from ragcli.render.terminal import columns, size

    rows = [["epoch", "loss", "held aside"]]
    for one in report["epochs"]:
        held = ", ".join(f"{name} {value:.3f}" for name, value in one["development"].items())
        rows.append(
            [str(one["epoch"]), "" if one["loss"] is None else f"{one['loss']:.3f}", held or "-"]
        )
    columns(printer, rows, styles=("number",))
    engine_, made = report["engine"], report["adapter"]
    printer.line(
        f"{engine_['instructions']} of them in the engine: loss {engine_['without']:.3f} without the"
        f" adapter, {engine_['with']:.3f} with it ({engine_['training']:.3f} where it was trained)"
    )
    printer.line(
        f"{file}: adapter {made['name']} ({made['sha256'][:12]}), {size(made['bytes'])}; ragcli ask"
        f" --method drag --set drag.analyzer=adapter --adapter {file} …"
    )
