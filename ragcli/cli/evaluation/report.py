"""`ragcli eval report`: a run as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragcli.cli import options
from ragcli.errors import UsageError
from ragcli.paths import shown

NAME = "report.html"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of `ragcli eval run`.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help=f"Where to write (default: DIR/{NAME})."),
    ] = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Write a run as one HTML page that needs no network.

    It compares the arms, and shows every answer with the risk of its tokens and the sentences it
    cites. A run that is not over can be shown too.
    """
    from ragcli.evaluate.report.build import build
    from ragcli.evaluate.report.kept import read
    from ragcli.evaluate.report.page import html
    from ragcli.render.risk import HIGH_FACTOR

    env = options.environment(ctx)
    page = build(read(folder), high=HIGH_FACTOR)
    file = out or folder / NAME
    _write(file, html(page))
    if options.asks_json(ctx, as_json):
        arms = [row.name for row in page.tables[0].rows]
        env.json({
            "schema": "ragcli/report@1", "path": file, "questions": len(page.questions),
            "arms": arms, "bytes": file.stat().st_size,
        })  # fmt: skip
    else:
        env.line(shown(file))
    return 0


def _write(file: Path, text: str) -> None:
    """All of it, or the file as it was."""
    fresh = file.with_name(f".{file.name}.new")
    try:
        if file.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        fresh.write_text(text, encoding="utf-8", newline="\n")
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UsageError(f"cannot write {shown(file)}: {error.strerror}") from error
