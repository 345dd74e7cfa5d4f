"""`ragcli completions SHELL`: the script that a shell loads to complete ragcli."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ragcli.cli import options


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


# Where each shell's script lies in the folder completions/ of the sources.
FILES = {Shell.BASH: "ragcli.bash", Shell.ZSH: "_ragcli", Shell.FISH: "ragcli.fish"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(completions)


def script(shell: Shell) -> str:
    """The script, which asks ragcli itself for what may come next."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    text = get_completion_script(prog_name="ragcli", complete_var="_RAGCLI_COMPLETE", shell=shell)
    return text.rstrip() + "\n"


def completions(
    ctx: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="For which shell.")],
) -> int:
    """Print the completion script of a shell.

    bash: ragcli completions bash > ~/.local/share/bash-completion/completions/ragcli
    """
    options.environment(ctx).write(script(shell))
    return 0
