"""Vectors in the order of their passages, scanned from end to end; one file of our own format.

    8 bytes magic · uint32 dimension · uint32 0 · uint64 rows · uint64 gone · uint64 lists
    · int64 passages (rows,) · int64 gone (gone,) · float32 (rows, dimension)

all little endian, passages ascending. Where the generation has lists too (`dense_lists`),
this file holds only what came after them: `lists` is their mark (else 0), and `gone` are
passages in them that exist no more.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.index.dense_files import ascending, damaged, mapped

MAGIC = b"ragcliV2"
HEADER = struct.Struct("<8sIIQQQ")


NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class FlatFile:
    """ids int64 (n,), ascending; vectors float32 (n, dimension); gone int64 (m,), ascending."""

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    gone: NDArray[np.int64]
    lists: int = 0


def open_flat(file: Path) -> FlatFile:
    """Maps the file. Raises IndexUnusable if it is not whole."""
    try:
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            magic, dimension, zero, rows, gone, lists = HEADER.unpack(opened.read(HEADER.size))
            whole = HEADER.size + 8 * (rows + gone) + 4 * rows * dimension
            if magic != MAGIC or zero != 0 or dimension == 0 or size != whole:
                raise damaged("wrong length or kind")
            passages = mapped(opened, "<i8", HEADER.size, (rows + gone,))
            place = HEADER.size + 8 * (rows + gone)
            vectors = mapped(opened, "<f4", place, (rows, dimension))
    except (OSError, struct.error) as error:
        raise damaged(str(error)) from error
    ids, removed = passages[:rows], passages[rows:]
    if not (ascending(ids) and ascending(removed)) or (len(removed) and not lists):
        raise damaged("passages out of order")
    return FlatFile(ids, vectors, removed, lists)


def write_flat(
    file: Path,
    ids: NDArray[np.int64],
    dimension: int,
    blocks: Iterable[NDArray[np.float32]],
    *,
    gone: NDArray[np.int64] = NOTHING,
    lists: int = 0,
) -> None:
    """Writes rows that come in blocks, and flushes them to the disk."""
    with file.open("xb") as out:
        out.write(HEADER.pack(MAGIC, dimension, 0, len(ids), len(gone), lists))
        out.write(ids.astype("<i8").tobytes())
        out.write(gone.astype("<i8").tobytes())
        for block in blocks:
            out.write(np.ascontiguousarray(block, "<f4").data)
        out.flush()
        os.fsync(out.fileno())
