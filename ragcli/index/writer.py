"""Writing the catalog: one open transaction at a time, one generation a commit."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ragcli.index import generations, rebuilding
from ragcli.index.catalog import Catalog
from ragcli.index.packing import pack_text
from ragcli.types import FileStatus

_LAST_NS = 2**62  # the year 2116; below it by far there is room for `settled.marked`
PURGE = "purge"  # the setting that asks for `Writer.purge`


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a stat says of a file's content; equal stamps mean the same content."""

    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, info: os.stat_result) -> Stamp:
        """Of a stat; a time beyond the years that SQLite can hold is cut to the last one."""
        return cls(info.st_size, _storable_time(info.st_mtime_ns), _storable_time(info.st_ctime_ns))


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it enters the catalog. `relative` is to the root of id `root`."""

    root: int
    relative: str
    stamp: Stamp
    status: FileStatus
    reason: str = ""
    sha256: str = ""
    kind: str = ""
    language: str = ""
    title: str = ""
    text: str = ""
    page_starts: tuple[int, ...] = ()
    missing_pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage as it enters the catalog; `sentences` and `terms` are packed (`packing`)."""

    start: int
    end: int
    page: int
    line: int
    heading: str
    sentences: bytes
    terms: bytes
    key: bytes
    places: str = ""


@dataclass(slots=True)
class Writer:
    """The one writer of an index. Between `begin` and `commit` readers see the state before."""

    catalog: Catalog
    generation: int
    whole: bool  # the current generation's files can be built upon
    removed: list[int] = field(default_factory=list)
    added: bool = False
    open: bool = False
    staged: bool = False  # a rebuild: its rows wait beside the catalog's (`rebuilding`)

    @classmethod
    def start(cls, catalog: Catalog) -> Writer:
        """Looks at what the last writer left and removes what it did not finish."""
        generation = catalog.generation()
        generations.clean(catalog.index_dir, (generation - 1, generation))
        whole = generation > 0 and generations.usable(catalog, generation)
        writer = cls(catalog, generation, whole)
        if catalog.meta().get(PURGE):
            writer.purge()
        return writer

    @property
    def _sql(self) -> sqlite3.Connection:
        return self.catalog.connection

    def begin(self) -> None:
        if not self.open:
            self._sql.execute("BEGIN IMMEDIATE")
            self.open = True

    def rollback(self) -> None:
        if self.open:
            with suppress(sqlite3.Error):
                self._sql.execute("ROLLBACK")
            self.open = False

    def clear(self) -> None:
        """Starts from nothing: what follows replaces all there is, when it is committed.

        Vectors stay until `sweep`: a text that is found again need not be encoded again.
        """
        rebuilding.near(self.catalog)
        self.begin()
        rebuilding.stage(self.catalog)
        self.staged = self.added = True
        self.whole = False

    def save(self) -> None:
        """Keeps what a rebuild has encoded so far, whatever happens; readers see nothing of it."""
        if self.staged and self.open:
            self._sql.execute("COMMIT")
            self.open = False

    def drop(self, files: Sequence[int]) -> None:
        """Removes files from the catalog. Their vectors stay until `sweep`."""
        if not files:
            return
        self.begin()
        for file in files:
            gone = self._sql.execute("DELETE FROM passages WHERE file_id = ?", (file,)).rowcount
            if gone:
                self.removed.append(file)
                self._count_removed(gone)
            self._sql.execute("DELETE FROM chunks WHERE file_id = ?", (file,))
            self._sql.execute("DELETE FROM files WHERE id = ?", (file,))

    def _count_removed(self, passages: int) -> None:
        before = int(self.catalog.meta().get("lexical_removed", 0))
        self.catalog.set_meta({"lexical_removed": before + passages, "unswept": True})

    def sweep(self) -> None:
        """Removes vectors and roots that nothing refers to, if anything was dropped."""
        if not self.catalog.meta().get("unswept"):
            return
        self.begin()
        # Both sides are read from indices; the vectors themselves are not.
        orphans = self._sql.execute(
            "SELECT id FROM vectors EXCEPT SELECT vector_id FROM passages"
        ).fetchall()
        self._sql.executemany("DELETE FROM vectors WHERE id = ?", orphans)
        self.catalog.set_meta({"unswept": False})
        self._sql.execute(
            "DELETE FROM roots WHERE NOT EXISTS (SELECT 1 FROM files WHERE root_id = roots.id)"
        )

    def purge(self) -> None:
        """Leaves nothing of what was dropped in older search files and in SQLite's log.

        To be asked for within the transaction (PURGE in the settings): a writer that dies
        before it has done so leaves it to the next one.
        """
        left = generations.clean(self.catalog.index_dir, (self.generation,))
        busy = self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not busy and not left:  # busy: a reader still looks at the state before
            self.catalog.set_meta({PURGE: False})

    def touch(self, file: int, stamp: Stamp) -> None:
        """The file was written again with the same content."""
        self.begin()
        self._sql.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE id = ?",
            (stamp.size, stamp.mtime_ns, stamp.ctime_ns, file),
        )

    def known_vectors(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        out: dict[bytes, int] = {}
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            out.update(
                self._sql.execute(f"SELECT key, id FROM vectors WHERE key IN ({marks})", part)
            )
        return out

    def add_vector(self, key: bytes, vector: bytes) -> int:
        self.begin()
        done = self._sql.execute(
            "INSERT INTO vectors (key, vector) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET vector = excluded.vector RETURNING id",
            (key, vector),
        )
        return int(done.fetchone()[0])

    def add(
        self, row: FileRow, passages: Sequence[PassageRow] = (), vectors: Mapping[bytes, int] = {}
    ) -> int:
        """Enters a file with its text and passages; `vectors` gives the id of each key."""
        self.begin()
        file = self._add_file(row)
        self._sql.executemany(
            "INSERT INTO chunks (file_id, start, data) VALUES (?, ?, ?)",
            ((file, start, data) for start, data in pack_text(row.text)),
        )
        self._sql.executemany(
            "INSERT INTO passages (file_id, start, end, page, line, heading, vector_id, "
            "sentences, places, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    file, p.start, p.end, p.page, p.line, p.heading, vectors[p.key],
                    p.sentences, p.places, p.terms,
                )
                for p in passages
            ),
        )  # fmt: skip
        self.added = self.added or bool(passages)
        return file

    def _add_file(self, row: FileRow) -> int:
        details = {
            name: list(value)
            for name in ("page_starts", "missing_pages", "notes")
            if (value := getattr(row, name))
        }
        done = self._sql.execute(
            "INSERT INTO files (root_id, path, size, mtime_ns, ctime_ns, status, reason, sha256, "
            "kind, language, title, length, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row.root, os.fsencode(row.relative), row.stamp.size, row.stamp.mtime_ns,
                row.stamp.ctime_ns, row.status, storable(row.reason), row.sha256, row.kind,
                row.language, storable(row.title), len(row.text), json.dumps(details),
            ),
        )  # fmt: skip
        return int(done.lastrowid or 0)

    def reroot(self, old: int, new: int, prefix: str) -> None:
        """Files of a root that now lies within another, `prefix` below it, become that one's."""
        self.begin()
        rows = self._sql.execute("SELECT id, path FROM files WHERE root_id = ?", (old,)).fetchall()
        self._sql.executemany(
            "UPDATE files SET root_id = ?, path = ? WHERE id = ?",
            [(new, os.fsencode(Path(prefix)) + b"/" + path, id) for id, path in rows],
        )
        self._sql.execute("DELETE FROM roots WHERE id = ?", (old,))

    @property
    def searchable_changed(self) -> bool:
        """Whether the derived files no longer match the catalog of this transaction."""
        return self.added or bool(self.removed)

    def commit(self) -> float:
        """Makes the transaction the state that readers see. Returns the seconds it took."""
        stale = self.searchable_changed or (not self.whole and self.generation > 0)
        if not self.open and not stale:
            return 0.0
        started = time.monotonic()
        self.begin()
        if self.staged:
            rebuilding.publish(self.catalog)
            self.staged = False
        if stale:
            self._next_generation()
        self._sql.execute("COMMIT")
        self.open = False
        generations.clean(self.catalog.index_dir, (self.generation - 1, self.generation))
        return time.monotonic() - started

    def _next_generation(self) -> None:
        previous = self.generation if self.whole else None
        generations.write_generation(
            self.catalog, self.generation + 1, previous=previous, removed=self.removed
        )
        languages = self._sql.execute(
            "SELECT DISTINCT language FROM files WHERE status IN ('indexed', 'partial')"
        )
        self.catalog.set_meta(
            {
                "generation": self.generation + 1,
                "languages": sorted(row[0] for row in languages),
                "updated": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
        )
        self.generation += 1
        self.removed, self.added, self.whole = [], False, True


def _storable_time(time_ns: int) -> int:
    """Within 63 bits: some file systems keep any time, and `touch` sets any."""
    return max(-_LAST_NS, min(time_ns, _LAST_NS))


def storable(text: str) -> str:
    """SQLite takes no lone surrogates in a text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
