"""`ragcli doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import options
from ragcli.cli.environment import Environment

if TYPE_CHECKING:
    from ragcli.cli.checks import Finding

_MARKS = {"ok": ("✓", "good"), "note": ("-", "dim"), "problem": ("✗", "bad")}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    ctx: typer.Context,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also load the models and read the whole catalog.")
    ] = False,
    index: options.IndexDir = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Check versions, settings, models, the index and the machine.

    Exit code 0: everything works; 2 a setting is wrong, 3 the index cannot be used,
    4 a model or a package is missing or unusable (the highest that applies).
    """
    from ragcli.cli.checks import examine

    env = options.environment(ctx)
    findings = list(examine(env, index=index, deep=deep))
    code = max(finding.exit_code for finding in findings)
    if as_json:
        rows = [
            {"group": one.group, "name": one.name, "state": one.state.value, "value": one.value,
             "remedy": one.remedy} for one in findings
        ]  # fmt: skip
        env.json({"schema": "ragcli/doctor@1", "exit_code": code, "findings": rows})
    else:
        report(env, findings)
    return code


def report(env: Environment, findings: Sequence[Finding]) -> None:
    """The findings for people, by group; remedies below what they are for."""
    from ragcli.render.terminal import clean, count

    printer = env.printer()
    group = ""
    width = max(len(finding.name) for finding in findings)
    for one in findings:
        if one.group != group:
            if group:
                printer.blank()
            group = one.group
            printer.line((group, "heading"))
        mark = _MARKS[one.state.value]
        printer.line(mark, " ", one.name.ljust(width), "  ", clean(one.value), hang=width + 4)
        if one.remedy:
            printer.line("→ ", clean(one.remedy), indent=width + 4, hang=width + 6)
    printer.blank()
    wrong = sum(one.state == "problem" for one in findings)
    printer.line(count(wrong, "problem") if wrong else "no problems")
