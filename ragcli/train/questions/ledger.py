"""Pairs that were kept, and beside them drafts that were dropped: what was tried is not tried again.

Both are JSON lines, written whole and synced one by one; a line that a kill cut short is taken
out when the file is opened again. The first is what `ragcli eval` and `ragcli train organizer`
read; the second says what was wrong with the others.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragcli.closing import Closing
from ragcli.errors import IndexLocked, UsageError
from ragcli.paths import shown
from ragcli.train.outputs import check_writable

DRAFTED = "drafted"  # the field that only drafted pairs have
_NEW = "name a new file with --out, or one that `ragcli train questions` wrote"

Row = dict[str, Any]


class Ledger(Closing):
    """One process at a time writes into it."""

    def __init__(self, file: Path) -> None:
        """Raises UsageError for another kind of file, IndexLocked where another run writes it."""
        from filelock import FileLock, Timeout

        self.file, self.dropped_file = file, file.with_suffix(".dropped.jsonl")
        check_writable(file.parent)
        self._lock = FileLock(file.with_name(f".{file.name}.lock"), timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:  # an OSError too
            raise IndexLocked(
                f"another run is writing {shown(file)}", hint="wait for it, or name another file"
            ) from error
        except OSError as error:
            raise UsageError(
                f"cannot write {shown(file)}: {error.strerror or error}",
                hint="--out names a file in a folder that can be written",
            ) from error
        try:
            self.kept = list(_read(file, DRAFTED))
            self.dropped = list(_read(self.dropped_file, "reason"))
        except BaseException:
            self.close()
            raise
        self._known = {row[DRAFTED]["key"]: "" for row in self.kept}
        self._known |= {row["key"]: row["reason"] for row in self.dropped}

    def close(self) -> None:
        if self._lock.is_locked:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    def outcome(self, key: str) -> str | None:
        """Why it was dropped, "" if it was kept, None if it was never tried."""
        return self._known.get(key)

    def keep(self, row: Row) -> None:
        """It is on the disk when this returns."""
        _append(self.file, row)
        self.kept.append(row)
        self._known[row[DRAFTED]["key"]] = ""

    def drop(self, row: Row) -> None:
        """row: with its key and reason. It is on the disk when this returns."""
        _append(self.dropped_file, row)
        self.dropped.append(row)
        self._known[row["key"]] = row["reason"]

    def reasons(self) -> Counter[str]:
        """How many were dropped, by reason."""
        return Counter(row["reason"] for row in self.dropped)


def _read(file: Path, field: str) -> Iterator[Row]:
    """The rows of a file that has this field in each. Raises UsageError for another one."""
    if not file.exists():
        return
    if not file.is_file():
        raise UsageError(f"{shown(file)} is no file", hint=_NEW)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {shown(file)}: {error.strerror or error}") from error
    *whole, torn = raw.split(b"\n")
    rows = [_row(file, number, line, field) for number, line in enumerate(whole, start=1)]
    if torn:
        _take_off(file, torn, len(raw))
    yield from rows


def _row(file: Path, number: int, line: bytes, field: str) -> Row:
    try:
        row: Row = json.loads(line)
        fields = row[field] if field == DRAFTED else row
        if not isinstance(fields["key"], str) or not isinstance(row["question"], str):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{shown(file)}, line {number}: not a question that was drafted", hint=_NEW
        ) from error
    return row


def _take_off(file: Path, torn: bytes, size: int) -> None:
    """A line without its end is what a kill left, where it begins as ours do; else it is foreign."""
    if not torn.startswith(b"{"):
        raise UsageError(f"{shown(file)} holds no questions that were drafted", hint=_NEW)
    with file.open("r+b") as stream:
        stream.truncate(size - len(torn))


def _append(file: Path, row: Mapping[str, Any]) -> None:
    line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    with file.open("ab") as stream:
        stream.write(line.encode("utf-8", "backslashreplace") + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
