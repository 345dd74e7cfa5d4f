"""`ragcli methods`: how a question can be answered, and every setting."""

from __future__ import annotations

from typing import Annotated

import typer

from ragcli.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(methods)


def methods(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Explain this one.")] = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """List the methods, decoders and settings, or explain one."""
    from ragcli.render.catalogue import catalogue, methods_document, print_method, print_methods

    env = options.environment(ctx)
    found = catalogue(name)
    if as_json:
        env.json(methods_document(found))
    elif name is None:
        print_methods(env.printer(), found)
    else:
        print_method(env.printer(), found)
    return 0
