"""The organizer in force: checked before a model is loaded, opened when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragcli.cli.config import COMMAND_LINE, Config
from ragcli.cli.environment import Environment
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.methods.stages import Method
    from ragcli.selection.organiser import Organiser


def organizer(config: Config, env: Environment, threads: int | None) -> Callable[[], Organiser]:
    """Opens it when it is first needed; later calls return the same one."""
    opened: list[Organiser] = []

    def open_once() -> Organiser:
        if not opened:
            from ragcli.encoders.organiser import open_organiser

            opened.append(open_organiser(config["organizer"], threads=threads, log=env.note))
        return opened[0]

    return open_once


def check_organizer(config: Config, method: Method) -> None:
    """Raises ModelError where the method needs one that is not there, UsageError for an idle flag."""
    if need_organizer(config, method):
        return
    given = config.settings.get("organizer")
    if given is not None and given.origin == COMMAND_LINE:
        raise UsageError(
            "nothing would read --organizer here",
            hint="add --method ko-rag or --select ko-rag, or leave it out",
        )


def need_organizer(config: Config, method: Method) -> bool:
    """Whether the method reads an organizer. Raises ModelError where it is not there."""
    from ragcli.encoders.organiser import find_organiser
    from ragcli.methods.ko_rag import organises

    if organises(method):
        find_organiser(config["organizer"])
        return True
    return False
