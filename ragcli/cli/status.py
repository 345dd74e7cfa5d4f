"""`ragcli status`: what the index holds and whether it is up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    ctx: typer.Context,
    files: Annotated[bool, typer.Option("--files", help="List every file and its fate.")] = False,
    index: options.IndexDir = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Show what the index holds, what could not be read, what changed since."""
    from ragcli.render.status import View, print_status, status_document

    env = options.environment(ctx)
    config = configuration.load(env, {"index": index})
    with engine.reader(config, env) as reader:
        view = View(reader.status(), reader.freshness(), tuple(reader.files()), listed=files)
    if as_json:
        env.json(status_document(view))
    else:
        print_status(env.printer(), view)
    return 0
