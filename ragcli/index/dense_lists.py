"""Vectors in lists around centroids: a search scans the lists nearest to the query.

An inverted file (Jégou et al. 2011, Product Quantization for Nearest Neighbor Search,
section IV) with scalar quantisation: the rows of a list are compared by codes of a byte a
component, and the best of them again by their float16 rows. Two files, never changed once
written, all little endian. `dense.rows`:

    8 bytes magic · uint32 dimension · uint32 lists · uint64 rows · uint64 probes
    · uint64 trained · uint64 mark · int64 passages (rows,), ascending · int64 sizes (lists,)
    · float32 centroids (lists, dimension) · float32 ranges (2, dimension)
    · float16 (rows, dimension)

and `dense.codes`, without a header: list after list, codes uint8 (size, dimension) and the
row numbers they stand for, int64 (size,).
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ragcli.index.dense_faiss import Codec, ListScanner, code_bytes, nearest
from ragcli.index.dense_files import ascending, damaged, mapped

MAGIC = b"ragcliL1"
HEADER = struct.Struct("<8sIIQQQQ")
ROWS, CODES = "dense.rows", "dense.codes"
# Rows that are scanned exactly rather than by lists where a filter leaves so few.
FEW = 20_000
SPARE = 64  # candidates beyond twice what is asked for, since codes mistake close ones
LARGEST = 1e6  # of a component; vectors have the length 1
ROWS_A_RESULT = 16  # rows that are scanned at least for each result asked for


@dataclass(frozen=True, slots=True)
class Head:
    """Numbers of a lists file. trained: rows there were when the centroids were found."""

    dimension: int
    lists: int
    rows: int
    probes: int
    trained: int
    mark: int

    def pack(self) -> bytes:
        return HEADER.pack(
            MAGIC, self.dimension, self.lists, self.rows, self.probes, self.trained, self.mark
        )

    @property
    def sections(self) -> tuple[int, int, int, int, int]:
        """Where sizes, centroids, ranges and rows start, and where the file ends."""
        sizes = HEADER.size + 8 * self.rows
        centroids = sizes + 8 * self.lists
        ranges = centroids + 4 * self.lists * self.dimension
        rows = ranges + 8 * self.dimension
        return sizes, centroids, ranges, rows, rows + 2 * self.rows * self.dimension


class Lists:
    """Rows and lists of a folder.

    ids int64 (n,), ascending; rows float16 (n, dimension); centroids float32
    (lists, dimension); ranges float32 (2, dimension); sizes int64 (lists,).
    """

    def __init__(self, folder: Path) -> None:
        """Maps the files. Raises IndexUnusable if they are not whole."""
        self.folder = folder
        try:
            with (folder / ROWS).open("rb") as opened:
                self._map_rows(opened)
            with (folder / CODES).open("rb") as opened:
                self._map_codes(opened)
        except (OSError, struct.error) as error:
            raise damaged(str(error)) from error

    def _map_rows(self, opened: IO[bytes]) -> None:
        size = os.fstat(opened.fileno()).st_size
        magic, *numbers = HEADER.unpack(opened.read(HEADER.size))
        head = self.head = Head(*numbers)
        if (
            magic != MAGIC
            or not 1 <= head.probes <= head.lists <= head.rows
            or 0 in (head.dimension, head.trained, head.mark)
            or size != head.sections[-1]
        ):
            raise damaged("lists of a wrong length or kind")
        dimension, lists, rows = head.dimension, head.lists, head.rows
        at = head.sections
        self.ids: NDArray[np.int64] = mapped(opened, "<i8", HEADER.size, (rows,))
        self.sizes: NDArray[np.int64] = mapped(opened, "<i8", at[0], (lists,))
        self.centroids: NDArray[np.float32] = mapped(opened, "<f4", at[1], (lists, dimension))
        self.ranges: NDArray[np.float32] = mapped(opened, "<f4", at[2], (2, dimension))
        self.rows: NDArray[np.float16] = mapped(opened, "<f2", at[3], (rows, dimension))
        counted = (self.sizes >= 0).all() and (self.sizes <= rows).all()
        if not counted or int(self.sizes.sum()) != rows or not ascending(self.ids):
            raise damaged("lists that do not add up")
        for part in (self.centroids, self.ranges):
            if not (np.abs(part) < LARGEST).all():
                raise damaged("centroids that are no numbers")

    def _map_codes(self, opened: IO[bytes]) -> None:
        length = code_bytes(self.sizes, self.head.dimension)
        if os.fstat(opened.fileno()).st_size != length:
            raise damaged("codes of a wrong length")
        self._codes: NDArray[np.uint8] = mapped(opened, "u1", 0, (length,))
        self._scanner = ListScanner(opened.fileno(), self.sizes, self.ranges)

    def __len__(self) -> int:
        return len(self.ids)

    def check(self) -> None:
        """Whether every row is in a list, with its code. Raises IndexUnusable; reads it all."""
        _ = self.list_of
        codec, dimension, at = Codec(self.ranges), self.head.dimension, 0
        for size in self.sizes.tolist():
            middle, end = at + size * dimension, at + size * (dimension + 8)
            codes = self._codes[at:middle].reshape(size, dimension)
            expected = codec.encode(
                np.nan_to_num(self.vectors(self._codes[middle:end].view("<i8")))
            )
            # One apart may be another processor's rounding.
            if (np.abs(codes.astype(np.int16) - expected.astype(np.int16)) > 1).any():
                raise damaged("codes of other rows")
            at = end

    @cached_property
    def list_of(self) -> NDArray[np.int32]:
        """The list of each row: int32 (n,). Raises IndexUnusable if a row is in none."""
        found = np.full(len(self), -1, np.int32)
        at = 0
        for number, size in enumerate(self.sizes.tolist()):
            at += size * self.head.dimension
            found[self._checked(self._codes[at : at + 8 * size].view("<i8"))] = number
            at += 8 * size
        if (found < 0).any():
            raise damaged("rows in no list")
        return found

    def _checked(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self)):
            raise damaged("a list names rows that there are not")
        return rows

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of some rows, as they are scored: float32 (m, dimension)."""
        return self.rows[rows].astype(np.float32)

    def search(
        self,
        query: NDArray[np.float32],
        limit: int,
        wanted: NDArray[np.bool_] | None = None,
        probes: int = 0,
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Inner products and rows of the best, best first; float32 (m,), int64 (m,).

        query: finite, (dimension,). wanted: (n,), only these rows. probes: lists to scan
        where nothing is filtered, 0 for as many as were found to be enough.
        """
        count = len(self) if wanted is None else int(wanted.sum())
        if wanted is not None and count <= FEW:
            rows = np.flatnonzero(wanted)
        else:
            lists = self._nearest_lists(query, limit, wanted, probes or self.head.probes)
            rows = self._scanner.scan(query, lists, min(count, 2 * limit + SPARE), wanted)
            rows = np.unique(self._checked(rows))
        limit = min(limit, len(rows))
        if limit == 0:
            return np.empty(0, np.float32), rows
        scores, best = nearest(query, self.vectors(rows), limit)
        return scores, rows[best]

    def _nearest_lists(
        self,
        query: NDArray[np.float32],
        limit: int,
        wanted: NDArray[np.bool_] | None,
        probes: int,
    ) -> NDArray[np.int64]:
        """Nearest first, as many as hold the rows that `probes` lists hold on average."""
        sizes = self.sizes
        if wanted is not None and 2 * wanted.sum() < len(self):  # else they hardly differ
            sizes = np.bincount(self.list_of[wanted], minlength=len(sizes))
        order = np.argsort(-(self.centroids @ query), kind="stable")
        order = order[sizes[order] > 0]
        enough = max(probes * len(self) // len(self.sizes), ROWS_A_RESULT * limit)
        last = int(np.searchsorted(np.cumsum(sizes[order]), enough))
        return order[: max(last + 1, probes)]
