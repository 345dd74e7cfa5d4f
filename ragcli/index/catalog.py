"""The SQLite file that is the truth of an index: opening it, checking it, its settings.

Write-ahead logging lets readers keep one committed state while a writer works. A file
that is not exactly ours is refused: other tables, triggers or views never run.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcli.errors import IndexUnusable
from ragcli.index.location import (
    CATALOG,
    GENERATIONS,
    IGNORE,
    no_index,
    refuse_links,
    require_index,
)
from ragcli.index.schema import APPLICATION_ID, REBUILD, SCHEMA_VERSION, TABLES
from ragcli.paths import shown
from ragcli.types import FileStatus

BUSY_MS = 10_000
CACHE_KB = 32_000
WRITING_CACHE_KB = 8_000  # of a writer; what it changes beyond that waits in the log


class IndexBlocked(IndexUnusable):
    """The disk or the permissions stand in the way; the index itself may be sound."""


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder. `path` is absolute."""

    id: int
    path: Path


class Catalog:
    """An open catalog. Its connection is in autocommit mode: transactions are explicit."""

    def __init__(self, connection: sqlite3.Connection, index_dir: Path) -> None:
        self.connection = connection
        self.index_dir = index_dir

    @classmethod
    def create(cls, index_dir: Path) -> Catalog:
        """Opens for writing; makes the folder and the tables where they are missing.

        Raises IndexUnusable for a file that is not a catalog of this version.
        """
        file = index_dir / CATALOG
        make_private(index_dir)
        if not file.exists() or file.stat().st_size == 0:
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        with translated(index_dir), ExitStack() as undo:
            catalog = cls(connect(file, "rw"), index_dir)
            undo.callback(catalog.close)
            catalog.connection.execute("PRAGMA journal_mode = WAL")
            catalog.connection.execute("PRAGMA secure_delete = ON")
            catalog.connection.execute(f"PRAGMA cache_size = -{WRITING_CACHE_KB}")
            if not _tables(catalog.connection):
                catalog._make_tables()
            catalog._check()
            undo.pop_all()
        return catalog

    @classmethod
    def open(cls, index_dir: Path) -> Catalog:
        """Opens for reading. Raises IndexMissing, or IndexUnusable as `create` does."""
        file = require_index(index_dir)
        with translated(index_dir):
            try:
                return cls._read(file, index_dir)
            except sqlite3.OperationalError:
                if not _needs_no_log(file):
                    raise
                # A folder that cannot be written (a read-only disk) has no room for SQLite's
                # shared memory; without a log the file itself is the whole truth.
                return cls._read(file, index_dir, "&immutable=1")

    @classmethod
    def _read(cls, file: Path, index_dir: Path, more: str = "") -> Catalog:
        catalog = cls(connect(file, "ro", more), index_dir)
        try:
            catalog._check()
        except BaseException:
            catalog.close()
            raise
        return catalog

    def close(self) -> None:
        self.connection.close()

    def _make_tables(self) -> None:
        with self.writing():
            for statement in TABLES:
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self.set_meta({"generation": 0})

    def _check(self) -> None:
        ours = self.connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        if ours and version != SCHEMA_VERSION:
            raise IndexUnusable(
                f"the index has schema {version}, this ragcli works with {SCHEMA_VERSION}: "
                f"{shown(self.index_dir)}",
                hint=REBUILD,
            )
        tables = _tables(self.connection)
        if not ours and not tables:  # its first writer died before there was anything
            raise no_index(self.index_dir)
        if not ours or tables != set(TABLES):
            raise IndexUnusable(
                f"not an index of ragcli: {shown(self.index_dir / CATALOG)}", hint=REBUILD
            )

    def check_whole(self) -> None:
        """Reads all of it. Raises IndexUnusable, closing the file, if a part is damaged."""
        try:
            with translated(self.index_dir):
                found = self.connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise IndexUnusable(f"the index is damaged ({found})", hint=REBUILD)
            self.meta()
            roots = set(self.roots())
            rows = self.connection.execute("SELECT DISTINCT root_id, status FROM files")
            if any(root not in roots or status not in set(FileStatus) for root, status in rows):
                raise IndexUnusable("the catalog's files are damaged", hint=REBUILD)
        except IndexUnusable:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; rolled back if anything is raised."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    # Settings

    def meta(self) -> dict[str, Any]:
        """All settings; values are JSON."""
        rows = self.connection.execute("SELECT key, value FROM meta").fetchall()
        try:
            return {key: json.loads(value) for key, value in rows}
        except ValueError as error:
            raise IndexUnusable("the index's settings are damaged", hint=REBUILD) from error

    def set_meta(self, values: Mapping[str, Any]) -> None:
        self.connection.executemany(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [(key, json.dumps(value)) for key, value in values.items()],
        )

    def generation(self) -> int:
        """The committed generation; 0 before the first commit."""
        return int(self.meta().get("generation", 0))

    # Roots

    def roots(self) -> dict[int, Root]:
        rows = self.connection.execute("SELECT id, path, relative FROM roots").fetchall()
        base = self.index_dir.absolute().parent
        return {
            id: Root(id, base / os.fsdecode(path) if relative else Path(os.fsdecode(path)))
            for id, path, relative in rows
        }

    def add_root(self, path: Path) -> int:
        """The id of a root, stored relative to the index where it lies beside or below it."""
        base = self.index_dir.absolute().parent
        relative = path.is_relative_to(base)
        stored = os.fsencode(path.relative_to(base) if relative else path)
        self.connection.execute(
            "INSERT INTO roots (path, relative) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (stored, relative),
        )
        found = self.connection.execute(
            "SELECT id FROM roots WHERE path = ? AND relative = ?", (stored, relative)
        )
        return int(found.fetchone()[0])


@contextmanager
def translated(index_dir: Path) -> Iterator[None]:
    """SQLite's and the disk's errors in one line, with what to do."""
    where = shown(index_dir)
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            raise IndexBlocked(f"the disk is full: {where}", hint="free some space") from error
        if "disk I/O" in text:  # also a limit on the size of files
            raise IndexBlocked(
                f"the index cannot be written or read: {where} ({text})",
                hint="check the disk, free space and limits on file sizes (ulimit -f)",
            ) from error
        if "locked" in text or "readonly" in text or "unable to open" in text:
            raise IndexBlocked(
                f"the index cannot be used now: {where} ({text})",
                hint="check the folder's permissions and whether another program holds the file",
            ) from error
        raise IndexUnusable(f"the index is damaged: {where} ({text})", hint=REBUILD) from error
    except sqlite3.DatabaseError as error:
        raise IndexUnusable(f"the index is damaged: {where} ({error})", hint=REBUILD) from error
    except OSError as error:
        raise IndexBlocked(
            f"the index cannot be written: {where} ({error.strerror or error})",
            hint="check free space and the folder's permissions",
        ) from error


def destroy(index_dir: Path) -> None:
    """Removes a catalog that cannot be used; configuration beside it stays."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        (index_dir / (CATALOG + suffix)).unlink(missing_ok=True)


def connect(file: Path, mode: str, more: str = "") -> sqlite3.Connection:
    """The file, in autocommit mode; nothing in its schema is trusted. mode: SQLite's, "ro" or "rw"."""
    from urllib.parse import quote_from_bytes

    uri = f"file:{quote_from_bytes(os.fsencode(file.absolute()))}?mode={mode}{more}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    """The statements that made everything in the file, but for SQLite's own tables."""
    rows = connection.execute(
        "SELECT sql, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return {str(sql) for sql, _ in rows}


def _needs_no_log(file: Path) -> bool:
    log = file.with_name(file.name + "-wal")
    return not log.exists() or log.stat().st_size == 0


def make_private(index_dir: Path) -> None:
    """The folder for the user alone, ignored by git. An existing folder keeps its mode."""
    refuse_links(index_dir)
    index_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignore = index_dir / IGNORE
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    generations = index_dir / GENERATIONS
    generations.mkdir(mode=0o700, exist_ok=True)
