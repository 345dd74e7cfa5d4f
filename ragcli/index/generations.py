"""The derived files, one folder a generation, and the order of a commit.

A commit writes `generations/<n+1>/` beside the others, then commits the catalog, which
names n+1, in one SQLite transaction. Whatever dies when, a reader finds the generation
that its catalog names: the new one is not named before it is whole, and the old one is
removed only by the commit after next. What a dead writer left is removed by the next.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ragcli.errors import IndexUnusable
from ragcli.index import dense_write, lexical
from ragcli.index.catalog import Catalog
from ragcli.index.dense import Dense
from ragcli.index.lexical import Lexical, LexicalRow
from ragcli.index.location import GENERATIONS
from ragcli.index.packing import unpack_terms
from ragcli.index.schema import REBUILD

# Up to so many passages the lexical index is written anew when files go: BM25 counts removed
# passages until their segment is rewritten, and a small index shall score as a fresh one does.
SMALL = 20_000
MOST_REMOVED = 0.1  # beyond, of a larger index
IN_MEMORY = 50_000  # passages for which a reader that may not write builds them in memory

LEXICAL = "lexical"
DENSE = "dense.bin"


def folder_of(index_dir: Path, generation: int) -> Path:
    return index_dir / GENERATIONS / str(generation)


def open_generation(catalog: Catalog, generation: int) -> tuple[Lexical, Dense]:
    """Raises IndexUnusable if the files are missing, damaged or not of this catalog."""
    folder = folder_of(catalog.index_dir, generation)
    opened = Lexical.open(folder / LEXICAL), Dense.open(folder / DENSE)
    passages = count_passages(catalog)
    if len(opened[0]) != passages or len(opened[1]) != passages:
        raise IndexUnusable(
            f"the search files hold {len(opened[0])} and {len(opened[1])} passages, "
            f"the catalog {passages}",
            hint=REBUILD,
        )
    return opened


def build_in_memory(catalog: Catalog) -> tuple[Lexical, Dense]:
    """For a reader that may not write. Raises IndexUnusable if the index is too large for that."""
    if count_passages(catalog) > IN_MEMORY:
        raise IndexUnusable(
            "the index's search files are missing or damaged", hint="run: ragcli index"
        )
    rows = catalog.connection.execute(
        "SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.id = p.vector_id ORDER BY p.id"
    ).fetchall()
    ids = np.array([row[0] for row in rows], np.int64)
    data = b"".join(row[1] for row in rows)
    vectors = np.frombuffer(data, "<f4").reshape(len(rows), -1) if rows else np.empty((0, 1), "<f4")
    return Lexical.in_memory(_lexical_rows(catalog, 0)), Dense(ids, vectors)


def write_generation(
    catalog: Catalog, generation: int, *, previous: int | None, removed: Sequence[int] = ()
) -> None:
    """Writes the files of `generation` from the catalog as this connection sees it.

    previous: a generation whose files can be built upon, None: from the catalog alone.
    removed: files that `previous` still holds.
    """
    target = folder_of(catalog.index_dir, generation)
    temporary = target.with_name(f".{generation}")
    for leftover in (temporary, target):
        shutil.rmtree(leftover, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    old = folder_of(catalog.index_dir, previous) if previous else None
    _write_lexical(catalog, temporary / LEXICAL, old, removed)
    _write_dense(catalog, temporary / DENSE, old)
    temporary.rename(target)
    _flush(target.parent)


def usable(catalog: Catalog, generation: int) -> bool:
    """Whether the generation's files are whole, as far as opening them tells."""
    try:
        open_generation(catalog, generation)
    except IndexUnusable:
        return False
    return True


def clean(index_dir: Path, keep: Sequence[int]) -> bool:
    """Removes every generation but those, and what dead writers left.

    Returns whether something could not be removed; it waits for the next time.
    """
    kept = {str(generation) for generation in keep}
    folder = index_dir / GENERATIONS
    for entry in folder.iterdir():
        if entry.is_symlink() or not entry.is_dir():
            entry.unlink(missing_ok=True)
        elif entry.name not in kept:
            shutil.rmtree(entry, ignore_errors=True)
    return any(entry.name not in kept for entry in folder.iterdir())


def count_passages(catalog: Catalog) -> int:
    return int(catalog.connection.execute("SELECT count(*) FROM passages").fetchone()[0])


def _write_lexical(
    catalog: Catalog, target: Path, old: Path | None, removed: Sequence[int]
) -> None:
    if old is None or (removed and _start_anew(catalog)):
        catalog.set_meta({"lexical_removed": 0})
        lexical.build(target, _lexical_rows(catalog, 0))
        return
    lexical.extend(old / LEXICAL, target, removed, _lexical_rows(catalog, _last_passage(old)))


def _start_anew(catalog: Catalog) -> bool:
    passages = count_passages(catalog)
    return passages <= SMALL or catalog.meta().get("lexical_removed", 0) > MOST_REMOVED * passages


def _write_dense(catalog: Catalog, target: Path, old: Path | None) -> None:
    rows = catalog.connection.execute("SELECT id FROM passages ORDER BY id")
    ids = np.fromiter((row[0] for row in rows), np.int64)
    previous = Dense.open(old / DENSE) if old is not None else None
    source = partial(_vector_rows, catalog)
    dense_write.write(target, ids, _dimension(catalog), source, previous)


def _dimension(catalog: Catalog) -> int:
    return int(catalog.meta().get("encoder", {}).get("dimension", 1))


def _last_passage(old: Path) -> int:
    return Dense.open(old / DENSE).last


def _vector_rows(catalog: Catalog, after: int) -> Iterator[tuple[int, bytes]]:
    rows = catalog.connection.execute(
        "SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.id = p.vector_id "
        "WHERE p.id > ? ORDER BY p.id",
        (after,),
    )
    for row in rows:  # noqa: UP028 - `yield from` would close the cursor after its database
        yield row


def _lexical_rows(catalog: Catalog, after: int) -> Iterator[LexicalRow]:
    rows = catalog.connection.execute(
        "SELECT id, file_id, terms FROM passages WHERE id > ? ORDER BY id", (after,)
    )
    for passage, file, terms in rows:
        title, heading, body = unpack_terms(terms)
        yield LexicalRow(passage, file, title, heading, body)


def _flush(folder: Path) -> None:
    """Makes a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
