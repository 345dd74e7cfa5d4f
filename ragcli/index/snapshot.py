"""Opening one committed state for reading, while a writer may be at work."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragcli.errors import IndexLocked, IndexUnusable, RagcliError
from ragcli.index import generations
from ragcli.index.catalog import Catalog, translated
from ragcli.index.dense import Dense
from ragcli.index.lexical import Lexical
from ragcli.index.lock import writer_lock
from ragcli.index.versions import check_versions
from ragcli.index.writer import Writer

TRIES = 5
PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The catalog within a read transaction, and the search files of the same generation."""

    catalog: Catalog
    meta: dict[str, Any]
    lexical: Lexical
    dense: Dense

    @property
    def generation(self) -> int:
        return int(self.meta.get("generation", 0))


def open_snapshot(index_dir: Path) -> Snapshot:
    """One whole committed generation. Raises IndexMissing, IndexUnusable.

    Search files that are missing or damaged are written anew from the catalog, or built
    in memory where that cannot be done.
    """
    with translated(index_dir):
        catalog = Catalog.open(index_dir)
        try:
            return _open(catalog)
        except BaseException:
            catalog.close()
            raise


def _open(catalog: Catalog) -> Snapshot:
    for attempt in range(TRIES):
        meta = _begin(catalog)
        try:
            return _with_files(catalog, meta)
        except IndexUnusable:
            # A writer may just have removed the generation that the catalog named: look again.
            catalog.connection.execute("ROLLBACK")
            if catalog.generation() == meta["generation"]:
                break
            time.sleep(PAUSE_S * attempt)
    _mend(catalog)
    meta = _begin(catalog)
    try:
        return _with_files(catalog, meta)
    except IndexUnusable:
        return Snapshot(catalog, meta, *generations.build_in_memory(catalog))


def _begin(catalog: Catalog) -> dict[str, Any]:
    """Starts the read transaction: from the first read on, nothing a writer does is seen."""
    catalog.connection.execute("BEGIN")
    meta = catalog.meta()
    check_versions(meta)
    return meta


def _with_files(catalog: Catalog, meta: dict[str, Any]) -> Snapshot:
    generation = int(meta.get("generation", 0))
    if generation == 0:
        nothing = Dense(np.empty(0, np.int64), np.empty((0, 1), np.float32))
        return Snapshot(catalog, meta, Lexical.in_memory(()), nothing)
    return Snapshot(catalog, meta, *generations.open_generation(catalog, generation))


def _mend(catalog: Catalog) -> None:
    """Writes the search files anew, if this process may and nobody else is writing."""
    here = catalog.index_dir
    with suppress(IndexLocked, RagcliError), translated(here), writer_lock(here):
        own = Catalog.create(here)
        try:
            Writer.start(own).commit()
        finally:
            own.close()
