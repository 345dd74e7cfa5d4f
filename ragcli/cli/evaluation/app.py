"""`ragcli eval`: which method pays, measured on one's own data."""

from __future__ import annotations

import typer

from ragcli.cli import options
from ragcli.cli.evaluation import report, run, simulate, tune, verifiers


def register(app: typer.Typer) -> None:
    """Add the group with its commands, in the order of the help text."""
    group = type(app)(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(evaluation)
    for module in (run, simulate, tune, report, verifiers):
        module.register(group)
    app.add_typer(group, name="eval")


def evaluation(
    ctx: typer.Context,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> None:
    """Measure methods and their parts on data with known answers."""
    if ctx.invoked_subcommand is None:
        options.environment(ctx).line(ctx.get_help())
