"""`ragcli index --verify`: is the index whole, and what of it must be made again?

The catalog is the truth: if its pages are damaged, only a rebuild helps. A file whose rows
do not fit together is dropped from it, so that the run reads the file again. The search
files are compared with the catalog, and written anew from it where they differ.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ragcli.errors import IndexUnusable
from ragcli.index.catalog import Catalog
from ragcli.index.dense import Dense
from ragcli.index.generations import LEXICAL, folder_of, open_generation
from ragcli.index.packing import unpack_places, unpack_sentences, unpack_terms, unpack_text
from ragcli.index.writer import Writer

ROWS = 4096  # vectors looked at together
UNIT = 1e-2  # by how much the length of a vector may differ from 1
NEAR = 2e-3  # by how much a component of a compressed vector may differ from the catalog's
PIECE = 1 << 20
_FOOTER = (1337).to_bytes(4, "little")  # tantivy: … JSON with the CRC-32 · its length · this
_SEGMENTS = {".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term"}


def mend(writer: Writer) -> tuple[str, ...]:
    """Checks the index and prepares what the next commit mends: a line for each fault.

    Raises IndexUnusable where the catalog itself is damaged.
    """
    catalog = writer.catalog
    catalog.check_whole()
    said = []
    vectors = list(_bad_vectors(catalog))
    broken = _broken_files(catalog) | _users(catalog, vectors)
    if broken:
        writer.whole = False  # nothing is built upon files that may hold the same fault
        writer.drop(sorted(broken))
        marks = ((vector,) for vector in vectors)
        catalog.connection.executemany("DELETE FROM vectors WHERE id = ?", marks)
        word = "file" if len(broken) == 1 else "files"
        said.append(f"what the index held of {len(broken):,} {word} was damaged: read again")
    elif writer.generation and not writer.whole:
        said.append("the search files were missing or damaged: written anew")
    elif writer.generation:
        try:
            check_derived(catalog, writer.generation)
        except IndexUnusable as error:
            writer.whole = False
            said.append(f"{error.message}: written anew")
    return tuple(said)


def check_derived(catalog: Catalog, generation: int) -> None:
    """Whether the search files hold what the catalog does. Raises IndexUnusable."""
    lexical, dense = open_generation(catalog, generation)
    for file in sorted((folder_of(catalog.index_dir, generation) / LEXICAL).iterdir()):
        _check_sum(file)
    ids = [row[0] for row in catalog.connection.execute("SELECT id FROM passages ORDER BY id")]
    if sorted(lexical.passages()) != ids:
        raise IndexUnusable("the lexical index holds other passages than the catalog")
    dense.check()
    _check_vectors(catalog, dense)


def _check_sum(file: Path) -> None:
    """tantivy's own check sum, which it does not look at when it opens a file."""
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - 8))
        tail = opened.read()
        length = size - 8 - int.from_bytes(tail[:4], "little")
        if tail[4:] != _FOOTER or length < 0:
            if file.suffix in _SEGMENTS:
                raise IndexUnusable(f"the lexical index is damaged ({file.suffix} file)")
            return
        opened.seek(0)
        found = 0
        for start in range(0, length, PIECE):
            found = zlib.crc32(opened.read(min(PIECE, length - start)), found)
        if f'"crc":{found}'.encode() not in opened.read():
            raise IndexUnusable(f"the lexical index is damaged ({file.suffix} file)")


def _check_vectors(catalog: Catalog, dense: Dense) -> None:
    rows = catalog.connection.execute(
        "SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.id = p.vector_id ORDER BY p.id"
    )
    while block := rows.fetchmany(ROWS):
        ids = np.array([row[0] for row in block], np.int64)
        truth = np.frombuffer(b"".join(row[1] for row in block), "<f4").reshape(len(block), -1)
        held = np.zeros(truth.shape, np.float32)
        if truth.shape[1:] != dense.vectors.shape[1:] or not dense.copy(ids, held).all():
            raise IndexUnusable("the dense index holds other passages than the catalog")
        if not np.allclose(held, truth, rtol=0, atol=NEAR):
            raise IndexUnusable("the dense index holds other vectors than the catalog")


def _broken_files(catalog: Catalog) -> set[int]:
    """Files whose text or passages are not whole."""
    broken = {row[0] for row in catalog.connection.execute(_LOST)}
    files = catalog.connection.execute("SELECT id, length FROM files").fetchall()
    broken |= {file for file, length in files if not _has_text(catalog, file, length)}
    return broken


# Passages of no file or without a vector, and texts of no file.
_LOST = """
SELECT file_id FROM passages WHERE vector_id NOT IN (SELECT id FROM vectors)
UNION SELECT file_id FROM passages WHERE file_id NOT IN (SELECT id FROM files)
UNION SELECT file_id FROM chunks WHERE file_id NOT IN (SELECT id FROM files)
"""


def _has_text(catalog: Catalog, file: int, length: int) -> bool:
    """Whether its text has the length on record, and its passages lie in it and unpack."""
    sql = catalog.connection
    try:
        chunks = sql.execute(
            "SELECT start, data FROM chunks WHERE file_id = ? ORDER BY start", (file,)
        )
        at = 0
        for start, data in chunks:
            if start != at:
                return False
            at += len(unpack_text(data))
        rows = sql.execute(
            "SELECT start, end, sentences, places, terms FROM passages WHERE file_id = ?", (file,)
        )
        inside = all(_is_whole(*row, length=length) for row in rows)
    except (IndexUnusable, zlib.error, ValueError):
        return False
    return at == length and inside


def _is_whole(
    start: int, end: int, sentences: bytes, places: str, terms: bytes, *, length: int
) -> bool:
    unpack_terms(terms)
    spans = unpack_sentences(sentences)
    unpack_places(places, len(spans))
    within = bool(((spans[:, 0] >= start) & (spans[:, 1] <= end)).all())
    return 0 <= start <= end <= length and within


def _bad_vectors(catalog: Catalog) -> Iterator[int]:
    """Vectors that are none: of another number of components, not finite, not of length 1."""
    dimension = int((catalog.meta().get("encoder") or {}).get("dimension", 1))
    rows = catalog.connection.execute("SELECT id, vector FROM vectors")
    while block := rows.fetchmany(ROWS):
        fit = [row for row in block if len(row[1]) == 4 * dimension]
        yield from (row[0] for row in block if len(row[1]) != 4 * dimension)
        if fit:
            data = b"".join(row[1] for row in fit)
            norms = np.linalg.norm(np.frombuffer(data, "<f4").reshape(len(fit), -1), axis=1)
            yield from (fit[at][0] for at in np.flatnonzero(~(np.abs(norms - 1) < UNIT)))


def _users(catalog: Catalog, vectors: Iterable[int]) -> set[int]:
    """Files that have one of the vectors."""
    sql = "SELECT DISTINCT file_id FROM passages WHERE vector_id = ?"
    found = (catalog.connection.execute(sql, (vector,)) for vector in vectors)
    return {row[0] for rows in found for row in rows}
