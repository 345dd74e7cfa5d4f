"""`ragcli search`: passages that answer a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode

if TYPE_CHECKING:
    from ragcli.types import Hit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(search)


def search(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="Any text; after -- it may begin with a dash."),
    ],
    k: Annotated[
        int | None, typer.Option("-k", metavar="N", min=1, max=10_000, help="Most hits.")
    ] = None,
    mode: Annotated[
        Literal["hybrid", "lexical", "dense"] | None, typer.Option("--mode", help="How to search.")
    ] = None,
    globs: options.Globs = None,
    kinds: options.Kinds = None,
    encoder: options.Encoder = None,
    index: options.IndexDir = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    as_lines: options.Jsonl = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Search the index. Exit code 1 if nothing is found."""
    from ragcli.index.where import Where
    from ragcli.render.json import event_document, search_document
    from ragcli.types import SearchMode

    env = options.environment(ctx)
    config = configuration.load(env, ctx.params)
    query = engine.query(words)
    chosen, most = SearchMode(config["mode"]), config["k"]
    where = Where(globs=tuple(globs or ()), kinds=tuple(kinds or ()))
    with engine.reader(config, env) as reader:
        hits = reader.search(query, k=most, mode=chosen, where=where)
        warnings = engine.stale_warnings(reader, [hit.document for hit in hits])
    if as_lines:
        for hit in hits:
            env.json(event_document(hit))
    elif as_json:
        env.json(search_document(query, hits, mode=chosen, k=most, globs=where.globs,
                 kinds=where.kinds, index=reader.identity, warnings=warnings))  # fmt: skip
    else:
        show_hits(env, query, hits)
    for warning in warnings:
        env.note(warning)
    return ExitCode.OK if hits else ExitCode.NOTHING


def show_hits(env: Environment, query: str, hits: Sequence[Hit]) -> None:
    """The hits for people; a remark where there is none."""
    from ragcli.render.hits import print_hits

    if not hits:
        env.note("nothing found")
    print_hits(env.printer(), hits, _matcher(query) if env.styled else lambda word: False)


def _matcher(query: str) -> Callable[[str], bool]:
    """Does a word share a search term with the query?"""
    from ragcli.text.analysis import analyse

    terms = set(analyse(query, "en"))
    return lambda word: not terms.isdisjoint(analyse(word, "en"))
