"""What `ragcli eval tune` leaves: a configuration, and a table or document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcli.cli import config as configuration
from ragcli.cli.environment import Environment
from ragcli.errors import UsageError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.evaluate.tuning.fit import Fit


def write(file: Path, fits: Sequence[Fit], about: dict[str, Any]) -> None:
    """The configuration, whole or not at all. Raises UsageError where it cannot be written."""
    from ragcli.evaluate.tuning.file import toml

    model = f", model {about['model']['name']}" if about["model"] else ""
    text = toml(fits, (
        f"Fitted by `ragcli eval tune` on {about['data']}{model},"
        f" {about['folds']} folds, seed {about['seed']}.",
        "A configuration of ragcli: .ragcli/config.toml beside an index, or the user's own.",
    ))  # fmt: skip
    configuration.check(configuration.parse(text), shown(file))
    fresh = file.with_name(f".{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UsageError(f"cannot write {shown(file)}: {error.strerror or error}") from error


def show(env: Environment, fits: Sequence[Fit], about: dict[str, Any], as_json: bool) -> None:
    from ragcli.evaluate.tuning.document import document, table, told, values_table

    if as_json:
        env.json(document(fits, about))
        return
    from ragcli.render.terminal import clean, columns

    printer = env.printer()
    for lines in (table(fits), values_table(fits)):
        columns(printer, [[clean(cell) for cell in line] for line in lines])
        printer.blank()
    for line in told(fits):
        printer.line(line)
    printer.line(f"95 % intervals over questions; written to {about['file']}")
