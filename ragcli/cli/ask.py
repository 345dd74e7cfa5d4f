"""`ragcli ask`: an answer from the documents, every sentence cited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ask)


def ask(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="Any text; - reads questions, one a line."),
    ],
    method: Annotated[
        str | None, typer.Option("--method", metavar="M", help="See `ragcli methods`.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="B", help="plain, crag or dragin.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            "--select", metavar="S", help="rank, similar, fke, drag, ko-rag or ggatrieval."
        ),
    ] = None,
    decode: Annotated[
        str | None, typer.Option("--decode", metavar="D", help="plain, fke, drag, drag-all or cad.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as fke.alpha=1; may be repeated."),
    ] = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    organizer: options.Organizer = None,
    encoder: options.Encoder = None,
    verifier: Annotated[
        str | None,
        typer.Option("--verifier", metavar="V", help="Judge of support: lexical, llm or nli:PATH."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", metavar="N", min=1, max=100, help="Passages in the prompt.")
    ] = None,
    globs: options.Globs = None,
    kinds: options.Kinds = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show stages, calibrated tokens, sources.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 6 if a sentence is unsupported.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Answer even if nothing found fits the question.")
    ] = False,
    verbatim: Annotated[
        bool,
        typer.Option("--verbatim", help="Give the source sentences themselves, no generation."),
    ] = False,
    index: options.IndexDir = None,
    threads: options.Threads = None,
    ctx_size: options.Ctx = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    as_lines: options.Jsonl = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Answer a question from the documents, every sentence cited.

    Exit code 1 if the documents do not hold the answer.
    """
    from ragcli.cli.asking import Manner, ask_all, ask_one
    from ragcli.index.where import Where

    env = options.environment(ctx)
    config = configuration.load(env, _flags(ctx.params))
    batch = words == ["-"]
    question = "" if batch else engine.query(words)
    manner = Manner(engine.levels(config), as_json, as_lines, explain, strict)
    where = Where(tuple(globs or ()), tuple(kinds or ()))
    with engine.answering(config, env, where=where, force=force, verbatim=verbatim) as put:
        if batch:
            return ask_all(env, put, questions(env), manner)
        return ask_one(env, put, question, manner)


def _flags(params: Mapping[str, Any]) -> dict[str, Any]:
    """The flags by their configuration keys; -k is `retrieval.k` here."""
    k = [f"retrieval.k={params['k']}"] if params["k"] is not None else []
    return {
        **params,
        "ctx": params["ctx_size"],
        "k": None,
        "settings": [*(params["settings"] or ()), *k],
    }


def questions(env: Environment) -> Iterator[str]:
    """Questions from stdin, one a line; blank lines are none."""
    if env.stdin.isatty():
        env.note("one question a line, Ctrl-D ends")
    for line in env.stdin:
        if line.strip():
            yield engine.query([line.strip()])
