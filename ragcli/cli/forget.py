"""`ragcli forget`: take files out of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.index import run
from ragcli.errors import ExitCode, UsageError
from ragcli.paths import shown


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(forget)


def forget(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, or a folder and all in it.")],
    index: options.IndexDir = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Take a file or folder out of the index; the files themselves stay.

    Exit code 2 if nothing of it is in the index.
    """
    from ragcli.index.asked import still_asked
    from ragcli.index.update import forget as forget_path
    from ragcli.render.indexing import index_document, print_forgotten

    env = options.environment(ctx)
    config = configuration.load(env, ctx.params)
    folder = engine.index_dir(config)
    report = run(env, forget_path(folder, named(path)), as_lines=False)
    if (over := still_asked(folder, named(path))) is not None:
        env.note(
            f"{shown(over)} is indexed as a whole: the next run takes this in again, unless a"
            " .ragcliignore names it"
        )
    if as_json:
        env.json(index_document(report, folder))
    else:
        print_forgotten(env.printer(), report, folder)
    return ExitCode.OK


def named(path: str) -> Path:
    """The path, which need not exist any more. Raises UsageError for an empty one."""
    if not path or "\0" in path:
        raise UsageError(f"not a path: {shown(path)!r}")
    return Path(path)
