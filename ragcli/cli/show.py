"""`ragcli show`: the extracted text round a hit, a page, a line or a citation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.target import Target, parse_target
from ragcli.errors import NothingFound
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.index.reader import Reader
    from ragcli.render.excerpt import Excerpt
    from ragcli.types import Document, Span


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="PATH, PATH:LINE, PATH:PAGE (formats with pages), PATH:pN or PATH:START-END "
            "(offsets, as in JSON).",
        ),
    ],
    context: Annotated[
        int, typer.Option("--context", "-C", metavar="N", min=0, help="Lines before and after.")
    ] = 3,
    index: options.IndexDir = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Show the text that ragcli read from a file. An existing path is taken as it is."""
    from ragcli.render.excerpt import print_excerpt, show_document

    env = options.environment(ctx)
    config = configuration.load(env, {"index": index})
    with engine.reader(config, env) as reader:
        found = look_up(reader, target, context)
        warnings = engine.stale_warnings(reader, [found.document])
    if as_json:
        env.json(show_document(found))
    else:
        print_excerpt(env.printer(), found)
    for warning in warnings:
        env.note(warning)
    return 0


def look_up(reader: Reader, text: str, context: int) -> Excerpt:
    """The excerpt that `text` asks for. Raises NothingFound, UsageError."""
    from ragcli.render.excerpt import excerpt

    target = parse_target(text, lambda path: _document(reader, path) is not None)
    document = _document(reader, target.path)
    if document is None:
        raise NothingFound(
            f"not in the index: {shown(target.path)}",
            hint="`ragcli status --files` lists what is; `ragcli index PATH` adds it",
        )
    whole = reader.text(document.id)
    span = _span(reader, document, whole, target)
    return excerpt(document, whole, reader.page_starts(document.id), span, context=context)


def _document(reader: Reader, path: str) -> Document | None:
    return reader.document_at(Path(path)) if path and "\0" not in path else None


def _span(reader: Reader, document: Document, text: str, target: Target) -> Span:
    from ragcli.render.excerpt import span_of_line, span_of_page
    from ragcli.types import Span

    if target.span is not None:
        return Span(*target.span)
    page_starts = reader.page_starts(document.id)
    page = target.page or (target.number if page_starts else None)
    if page is not None:
        return span_of_page(text, page_starts, page)
    return span_of_line(text, target.number) if target.number else Span(0, len(text))


__all__ = ["look_up", "register", "show"]
