"""What the two kinds of dense files share: mapping parts of a file whose length was checked."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable

BLOCK_ROWS = 1024  # rows handled at once, so that memory does not grow with the index


def damaged(what: str) -> IndexUnusable:
    return IndexUnusable(
        f"the dense index is damaged ({what})", hint="mend it: ragcli index --verify PATH"
    )


def mapped(opened: IO[bytes], dtype: str, offset: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """A part of the file, read-only; nothing is read before it is looked at."""
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(np.memmap(opened, dtype, "r", offset, shape))


def let_go(part: NDArray[Any]) -> None:
    """What was read of a `mapped` part no longer counts as the process's memory.

    It stays in the system's cache, and is there again when it is looked at.
    """
    whole = getattr(part.base, "base", None)  # the base of an array on np.memmap is that
    if isinstance(whole, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        whole.madvise(mmap.MADV_DONTNEED)


def ascending(ids: NDArray[np.int64]) -> bool:
    """Whether each is larger than the one before."""
    return bool((ids[1:] > ids[:-1]).all())


def places(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of `wanted` stands in `ids` (ascending): int64 (m,), -1 if it does not."""
    if len(ids) == 0:
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)


def spans(count: int, step: int | None = None) -> Iterable[slice]:
    """0 … count in pieces of BLOCK_ROWS."""
    step = step or BLOCK_ROWS
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
