"""`ragcli eval tune`: parameters fitted on questions with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import options
from ragcli.cli.evaluation import tuned
from ragcli.cli.evaluation.tuning import Asked
from ragcli.errors import ExitCode, UsageError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.evaluate.types import Dataset

FILE = Path("tuned.toml")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tune)


def tune(
    ctx: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Questions with answers, JSON lines.")
    ],
    what: Annotated[
        str, typer.Option("--what", metavar="P,…", help="Some of delta, drag, fke, abstain.")
    ] = "drag,fke,abstain",
    corpus: options.Corpora = None,
    index: options.IndexDir = None,
    limit: options.LimitOfParts = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="K", min=2, help="Parts of the cross-validation.")
    ] = 5,
    budget: options.Budget = None,
    share: Annotated[
        float,
        typer.Option("--share", metavar="S", min=0, max=1, help="Share of tokens to calibrate."),
    ] = 0.15,
    tries: Annotated[
        list[str] | None,
        typer.Option("--try", metavar="KEY=V,…", help="Try these instead; may be repeated."),
    ] = None,
    style: Annotated[
        str | None,
        typer.Option(
            "--style",
            metavar="S",
            help="Answers: short or sentence; left alone, scores are of short ones, delta of"
            " sentences.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="What is in force; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Configuration to write.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Replace that file.")] = False,
    rows: Annotated[
        Path | None, typer.Option("--rows", metavar="DIR", help="Where answers are kept.")
    ] = None,
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
    """Fit parameters on questions with known answers, and say whether the fit holds on others.

    Writes a configuration for `.ragcli/config.toml` or the user's own; values that are not
    better beyond noise stand in it as comments. Answers are kept, so a run can be stopped and
    goes on where it was. Exit code 5 where a budget cut it short.
    """
    from ragcli.evaluate.tuning.spaces import declared, parse_parts

    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "ctx": ctx_size})
    as_json = options.asks_json(ctx, as_json)
    file = out or FILE
    if style not in (None, "short", "sentence"):
        raise UsageError("--style is short or sentence")
    if file.exists() and not again:
        raise UsageError(
            f"{shown(file)} is there already", hint="--again replaces it, --out names another"
        )
    asked = Asked(
        env, config, _dataset(data, corpus, limit), parse_parts(what), declared(tries or ()),
        style, folds, share, budget,
    )  # fmt: skip
    result = asked.fits(rows)
    if not result.fits:
        raise UsageError(
            f"the budget ended before {folds} questions were answered", hint="allow more minutes"
        )
    tuned.write(file, result.fits, result.about)
    about = {**result.about, "file": shown(file), "complete": result.whole}
    tuned.show(env, result.fits, about, as_json)
    return ExitCode.OK if result.whole else ExitCode.PARTIAL


def _dataset(data: Path, corpora: Sequence[Path] | None, limit: int | None) -> Dataset:
    """In the fixed order also without a limit: a budget must not leave the first texts alone."""
    from ragcli.evaluate.datasets import first, load

    dataset = load(data, corpora=tuple(corpora or ()))
    return first(dataset, limit or len(dataset.questions))
