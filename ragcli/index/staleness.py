"""Is an indexed file still what it was? A stat tells, mostly; else its hash.

The stamp holds the time of the last change of status (ctime) too, which no program can set:
content that was exchanged under the old size and modification time is seen without hashing
every file that is looked at.
"""

from __future__ import annotations

import os

from ragcli.index.scan import HASH_AT_MOST, file_hash
from ragcli.index.writer import Stamp
from ragcli.types import Document


def is_stale(document: Document, stamp: Stamp) -> bool:
    """Whether the file is gone or holds other bytes than when it had this stamp.

    A file too large to be hashed at every search counts by its modification time.
    """
    try:
        now = Stamp.of(os.stat(document.path))  # noqa: PTH116 - one call, no Path in between
    except (OSError, ValueError):
        return True
    if now == stamp:
        return False
    if now.size != stamp.size:
        return True
    if now.size > HASH_AT_MOST:
        return now.mtime_ns != stamp.mtime_ns
    return file_hash(document.path) != document.sha256


def since_indexed(document: Document) -> str:
    """What became of a stale document, in words: "changed" or "is gone"."""
    return "changed" if os.path.lexists(document.path) else "is gone"
