"""Changes one line of the user's `config.toml` and leaves the rest, comments included."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ragcli.cli import config as configuration
from ragcli.cli.keys import KEYS
from ragcli.errors import UsageError
from ragcli.paths import shown


def write(key: str, value: str) -> Path:
    """Set `key` to `value` and return the file. Raises UsageError for what is not valid.

    The new text is parsed and compared with what was meant before it replaces the file.
    """
    file = configuration.user_file()
    typed = _typed(key, value)
    meant = configuration.read_file(file) | {key: typed}
    configuration.check(meant, shown(file))
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    changed = replace(text, key, _toml(typed))
    _replace_file(file, changed)
    return file


def replace(text: str, key: str, value: str) -> str:
    """The TOML text with `key = value` in its place; `value` is TOML already.

    Raises UsageError where the text is laid out in a way that this cannot change safely.
    """
    table, _, name = key.rpartition(".")
    lines = text.splitlines()
    begin, end = _section(lines, table)
    if begin is None:
        lines += [*([""] if lines else []), f"[{table}]", f"{name} = {value}"]
    else:
        assigned = re.compile(rf"\s*{re.escape(name)}\s*=")
        at = next((n for n in range(begin, end) if assigned.match(lines[n])), None)
        if at is None:
            lines.insert(end, f"{name} = {value}")
        else:
            lines[at] = f"{name} = {value}{_comment(lines[at])}"
    changed = "\n".join(lines) + "\n"
    if configuration.parse(changed) != configuration.parse(text) | configuration.parse(
        f"[{table}]\n{name} = {value}\n" if table else f"{name} = {value}\n"
    ):
        raise UsageError(f"cannot change {key} in this file safely", hint="edit it by hand")
    return changed


def _section(lines: list[str], table: str) -> tuple[int | None, int]:
    """First and last line (exclusive, trailing blank lines not counted) of a table's body."""
    header = re.compile(r"\s*\[\s*([\w-]+)\s*\]\s*(#.*)?$")
    begin = 0 if not table else None
    end = len(lines)
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("["):
            continue
        if begin is not None:
            end = number
            break
        found = header.match(line)
        if found and found[1] == table:
            begin = number + 1
    while begin is not None and end > begin and not lines[end - 1].strip():
        end -= 1
    return begin, end


def _comment(line: str) -> str:
    """The comment behind a value that is no text with a # in it."""
    found = re.search(r"\s+#[^\"']*$", line)
    return found.group() if found else ""


def _typed(key: str, value: str) -> Any:
    """`value` as the key's type, as TOML can hold it."""
    if "." in key:
        return configuration.method_value(key, value)
    if key not in KEYS:
        raise configuration.unknown_key(key, "")
    read = configuration.read_value(key, value, "value")
    return shown(read) if isinstance(read, Path) else read


def _toml(value: Any) -> str:
    """A TOML literal: true, 1, 0.5 or a quoted text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    escaped = "".join(_escape(char) for char in str(value))
    return f'"{escaped}"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return f"\\u{ord(char):04x}" if ord(char) < 0x20 or ord(char) == 0x7F else char


def _replace_file(file: Path, text: str) -> None:
    """Write beside, then rename: the file is whole at every moment, and the user's alone."""
    import tempfile  # costs 7 ms, which --help need not pay

    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".config-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
