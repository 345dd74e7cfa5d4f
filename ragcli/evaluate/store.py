"""Rows of an evaluation, kept as JSON lines: what was computed is never computed again.

A row is written whole and synced before the next is begun; a line that a kill cut short is
dropped when the file is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragcli.errors import IndexLocked, UsageError
from ragcli.paths import shown

ROWS, ANSWERS, RUN, LOCK = "rows.jsonl", "answers.jsonl", "run.json", "rows.lock"

Row = dict[str, Any]


class Store:
    """Rows by key. One process at a time writes into a folder.

    `answers.jsonl` holds, by the same keys, the whole answers for reports; the last line of a
    key counts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, Row] = {}

    def __enter__(self) -> Self:
        """Raises IndexLocked where another run writes there, UsageError for a foreign file."""
        from filelock import FileLock, Timeout

        self._lock = FileLock(self.folder / LOCK, timeout=0)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:  # an OSError too
            raise IndexLocked(
                f"another evaluation is writing into {shown(self.folder)}",
                hint="wait for it, or name another folder with --out",
            ) from error
        except OSError as error:
            raise UsageError(
                f"cannot keep rows in {shown(self.folder)}: {error.strerror or error}",
                hint="--out DIR names a folder that can be written",
            ) from error
        try:
            for name in (ROWS, ANSWERS):
                drop_torn_line(self.folder / name)
            self._rows = {row["key"]: row for row in read_rows(self.folder)}
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def get(self, key: str) -> Row | None:
        return self._rows.get(key)

    def add(self, row: Row, answer: Mapping[str, Any] | None = None) -> None:
        """Both are on the disk when this returns; the row last."""
        if answer is not None:
            _append(self.folder / ANSWERS, {"key": row["key"], "answer": answer})
        _append(self.folder / ROWS, row)
        self._rows[row["key"]] = row

    def tell(self, run: Mapping[str, Any]) -> None:
        """Keeps what is being run, in place of what was run before."""
        file = self.folder / RUN
        text = json.dumps(run, ensure_ascii=False, allow_nan=False)
        fresh = file.with_suffix(".new")
        fresh.write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")
        fresh.replace(file)


def read_run(folder: Path) -> dict[str, Any]:
    """What was run there last; empty where that is not told. Raises UsageError."""
    file = folder / RUN
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(file.read_bytes()))
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"{shown(file)}: not the record of an evaluation") from error


def read_rows(folder: Path) -> Iterator[Row]:
    """The rows of a folder, also of a run that is not over; the last of each key counts.

    Raises UsageError where a line but the last is no row.
    """
    file = folder / ROWS
    if not file.is_file():
        return
    lines = file.read_bytes().split(b"\n")
    found: dict[str, Row] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found[row["key"]] = row
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if number == len(lines):  # being written, or torn
                break
            raise UsageError(
                f"{shown(file)}, line {number}: not a row of an evaluation",
                hint="take that line out, or name another folder with --out",
            ) from error
    yield from found.values()


def read_answers(folder: Path) -> dict[str, dict[str, Any]]:
    """Whole answers by key; empty where none were kept."""
    file = folder / ANSWERS
    if not file.is_file():
        return {}
    whole = file.read_bytes().rpartition(b"\n")[0]
    rows = (json.loads(line) for line in whole.split(b"\n") if line.strip())
    return {row["key"]: row["answer"] for row in rows}


def drop_torn_line(file: Path) -> None:
    """Cuts what stands after the last line's end."""
    if not file.exists():
        return
    if not file.is_file():
        raise UsageError(f"{shown(file)} is no file", hint="name another folder with --out")
    with file.open("r+b") as stream:
        data = stream.read()
        if data and not data.endswith(b"\n"):
            stream.truncate(data.rfind(b"\n") + 1)


def _append(file: Path, value: Mapping[str, Any]) -> None:
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    with file.open("ab") as stream:
        stream.write(line.encode("utf-8", "backslashreplace") + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
