"""`ragcli train`: models of one's own, from one's own data and generator."""

from __future__ import annotations

import typer

from ragcli.cli import options
from ragcli.cli.training import analyzer, organizer, questions


def register(app: typer.Typer) -> None:
    """Add the group with its commands, in the order of the help text."""
    group = type(app)(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(train)
    for module in (organizer, analyzer, questions):
        module.register(group)
    app.add_typer(group, name="train")


def train(
    ctx: typer.Context,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> None:
    """Train what a method needs, on this machine, with your own generator."""
    if ctx.invoked_subcommand is None:
        options.environment(ctx).line(ctx.get_help())
