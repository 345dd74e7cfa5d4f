"""Exact inner-product search; the only file that imports faiss.

The vectors of a generation lie in one file, which is mapped into memory:

    8 bytes magic · uint32 dimension · uint32 0 · uint64 rows · int64 passage ids (rows,)
    · float32 (rows, dimension), all little endian

faiss scans it in place. faiss's own file format is not read: an index folder may come from
somebody else, and here every length is checked against the file's size.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable

MAGIC = b"ragcliV1"
HEADER = struct.Struct("<8sIIQ")


class Dense:
    """A searchable snapshot: ids int64 (n,), ascending; vectors float32 (n, dimension)."""

    def __init__(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self.ids = ids
        self.vectors = vectors

    @classmethod
    def open(cls, file: Path) -> Dense:
        """Maps the file. Raises IndexUnusable if it is not whole."""
        try:
            size = file.stat().st_size
            with file.open("rb") as opened:
                head = opened.read(HEADER.size)
            magic, dimension, _, rows = HEADER.unpack(head)
        except (OSError, struct.error) as error:
            raise IndexUnusable(f"the dense index is damaged ({error})") from error
        if magic != MAGIC or size != HEADER.size + rows * (8 + 4 * dimension) or dimension == 0:
            raise IndexUnusable("the dense index is damaged (wrong length or kind)")
        if rows == 0:
            return cls(np.empty(0, np.int64), np.empty((0, dimension), np.float32))
        ids = np.memmap(file, "<i8", "r", HEADER.size, (rows,))
        vectors = np.memmap(file, "<f4", "r", HEADER.size + 8 * rows, (rows, dimension))
        return cls(np.asarray(ids), np.asarray(vectors))

    def __len__(self) -> int:
        return len(self.ids)

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """(passage, inner product), best first, ties by passage.

        query: float32 (dimension,). allowed: only these passages, ids ascending.
        """
        ids, vectors = self.ids, self.vectors
        if allowed is not None:
            rows = np.flatnonzero(np.isin(ids, allowed, assume_unique=True))
            ids, vectors = ids[rows], vectors[rows]
        limit = min(limit, len(ids))
        if limit == 0 or not np.isfinite(query).all():
            return []
        if query.shape != vectors.shape[1:]:
            raise IndexUnusable(
                f"the query has {query.shape[0]} components, the index {vectors.shape[1]}"
            )
        scores, found = _nearest(query, vectors, limit)
        pairs = [(int(ids[row]), float(score)) for score, row in zip(scores, found, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _nearest(
    query: NDArray[np.float32], vectors: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    import faiss

    scores, rows = faiss.knn(
        query[None, :], np.ascontiguousarray(vectors), limit, metric=faiss.METRIC_INNER_PRODUCT
    )
    real = rows[0] >= 0  # faiss pads with -1 where a stored vector is not a number
    return scores[0][real], rows[0][real]


def write(
    file: Path,
    ids: NDArray[np.int64],
    dimension: int,
    new: Iterable[tuple[int, bytes]],
    previous: Dense | None = None,
) -> None:
    """Writes a snapshot of the passages `ids` (ascending) and flushes it to the disk.

    Rows come from `previous` where it has them, else from `new`, which gives (passage,
    vector bytes) for exactly the others, ascending.
    """
    with file.open("xb") as out:
        out.write(HEADER.pack(MAGIC, dimension, 0, len(ids)))
        out.write(ids.astype("<i8").tobytes())
        for block in _blocks(ids, dimension, iter(new), previous):
            out.write(block)
        out.flush()
        os.fsync(out.fileno())


BLOCK_ROWS = 8192


def _blocks(
    ids: NDArray[np.int64],
    dimension: int,
    new: Iterable[tuple[int, bytes]],
    previous: Dense | None,
) -> Iterable[bytes]:
    """The matrix in pieces, so that memory does not grow with the index."""
    source = iter(new)
    old = previous if previous is not None and previous.vectors.shape[1] == dimension else None
    for start in range(0, len(ids), BLOCK_ROWS):
        wanted = ids[start : start + BLOCK_ROWS]
        block = np.empty((len(wanted), dimension), "<f4")
        known = np.zeros(len(wanted), bool)
        if old is not None and len(old):
            place = np.minimum(np.searchsorted(old.ids, wanted), len(old) - 1)
            known = old.ids[place] == wanted
            block[known] = old.vectors[place[known]]
        for row in np.flatnonzero(~known):
            passage, data = next(source, (-1, b""))
            if passage != wanted[row] or len(data) != 4 * dimension:
                raise IndexUnusable(f"the catalog has no vector of passage {int(wanted[row])}")
            block[row] = np.frombuffer(data, "<f4")
        yield block.tobytes()
