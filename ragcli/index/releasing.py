"""Freed memory given back to the system, where the C library is glibc.

glibc gives each thread a heap of its own. What a commit took there (tantivy's, above all)
stays with the process when it is freed: glibc raises the size that it keeps at the end of
a heap with the largest block it ever saw, up to 64 MB a heap, and `malloc_trim` does not
look at the ends of other heaps than the first. So the sizes are set once, and what lies
between pieces in use is given back after each commit. Other C libraries have their own ways.
"""

from __future__ import annotations

import ctypes
import os

# Constants of glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 1 << 20  # bytes at the end of a heap; larger blocks have mappings of their own


def release_early() -> None:
    """From now on, in all of the process, little is kept of what is freed."""
    set_option = _of_malloc("mallopt")
    if set_option is not None:
        set_option(M_TRIM_THRESHOLD, KEPT)
        set_option(M_MMAP_THRESHOLD, KEPT)


def release_freed() -> None:
    """What was freed and kept leaves the process."""
    trim = _of_malloc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_malloc(name: str) -> ctypes._NamedFuncPointer | None:
    """A function of the C library; None where it has no such one."""
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None
