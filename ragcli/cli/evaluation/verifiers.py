"""`ragcli eval verifiers`: how often each verifier is right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.cite.verify import Verifier
    from ragcli.cli.config import Config
    from ragcli.evaluate.pairs import Pair
    from ragcli.evaluate.verifiers import Judged
    from ragcli.render.terminal import Printer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verifiers)


def verifiers(
    ctx: typer.Context,
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Questions with gold sentences.")
    ],
    named: Annotated[
        list[str] | None,
        typer.Option("--verifier", metavar="V", help="lexical, llm or nli:PATH; may be repeated."),
    ] = None,
    limit: options.LimitOfParts = None,
    model: options.Model = None,
    threads: options.Threads = None,
    ctx_size: options.Ctx = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Accuracy of verifiers on pairs whose truth is known, class by class.

    Pairs are made from questions with gold sentences: those sentences support what they say;
    other sentences, and claims with the answer exchanged, do not.
    """
    from ragcli.cite.verify import check_verifier
    from ragcli.evaluate.verifiers import verifiers_document

    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "ctx": ctx_size})
    specs = list(dict.fromkeys(named or [config["verifier"]]))
    for spec in specs:
        check_verifier(spec)
    pairs = _pairs(data, limit)
    results = [_judged(env, config, spec, pairs) for spec in specs]
    if options.asks_json(ctx, as_json):
        asked = len({pair.question_id for pair in pairs})
        env.json(verifiers_document(results, data=data.name, questions=asked))
    else:
        _print(env.printer(), results)
    return 0


def _pairs(data: Path, limit: int | None) -> tuple[Pair, ...]:
    """Raises UsageError where the data cannot give pairs of both labels."""
    from ragcli.evaluate.datasets import load
    from ragcli.evaluate.pairs import make_pairs
    from ragcli.paths import shown

    pairs = make_pairs(load(data, limit).questions)
    if len({pair.supported for pair in pairs}) < 2:
        raise UsageError(
            f"no pairs can be made from {shown(data)}",
            hint="questions with answers, and passages whose gold sentences are marked, are needed",
        )
    return pairs


def _judged(env: Environment, config: Config, spec: str, pairs: Sequence[Pair]) -> Judged:
    from ragcli.evaluate.verifiers import judged
    from ragcli.render.counting import counting_bar

    verifier = _open(env, config, spec)
    if not env.progress:
        return judged(verifier, pairs)
    with counting_bar(env.stderr, verifier.name, len(pairs), env.width) as tick:
        return judged(verifier, pairs, tick)


def _open(env: Environment, config: Config, spec: str) -> Verifier:
    from ragcli.cite.verify import open_verifier
    from ragcli.llm.ondemand import OnDemand

    return open_verifier(spec, OnDemand(partial(engine.generator, config, env)))


def _print(printer: Printer, results: Sequence[Judged]) -> None:
    """A table a verifier."""
    from ragcli.render.terminal import clean, columns

    for number, one in enumerate(results):
        if number:
            printer.blank()
        printer.line(
            (clean(one.verifier), "heading"),
            f"  accuracy {one.balanced:.2f}: supported {one.supported:.2f}, "
            f"unsupported {one.unsupported:.2f}; AUC {one.auc:.2f}; {one.seconds:.1f} s",
        )
        rows = [
            [f"  {each.making}", each.form, "supported" if each.supported else "unsupported",
             f"{each.accuracy:.2f}", f"[{each.low:.2f}, {each.high:.2f}]", f"n={each.n}"]
            for each in one.classes
        ]  # fmt: skip
        head = ["  pairs", "claim", "truth", "right", "95 %", ""]
        columns(printer, [head, *rows], styles=("", "dim", "dim", "number"))
