"""Where a training writes: a folder that can be written, and no file that somebody else made."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ragcli.errors import UsageError
from ragcli.paths import shown


def check_writable(folder: Path) -> None:
    """Makes the folder and tries it. Raises UsageError: before hours of work, not after them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write into {shown(folder)}: {error.strerror or error}",
            hint="--out names a place that can be written",
        ) from error


def check_ours(files: Sequence[Path], report: Path, schema: str) -> None:
    """Raises UsageError if one of the files is there that a training would replace.

    Unless the report is there, and of that schema: an earlier training wrote them all.
    """
    there = [file for file in files if file.exists()]
    if there and _schema(report) != schema:
        raise UsageError(
            f"{shown(there[0])} is there already, and not from an earlier training",
            hint="name another --out, or move it away",
        )


def _schema(report: Path) -> object:
    try:
        found: object = json.loads(report.read_bytes())["schema"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found
