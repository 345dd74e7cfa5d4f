"""What changed on disk since the index was written: a walk and a stat a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError
from ragcli.events import FileDone
from ragcli.index.asked import asked, still
from ragcli.index.catalog import Catalog
from ragcli.index.scan import INDEXED, Plan, Work, file_hash, scan
from ragcli.sources.walk import walk
from ragcli.types import FileEntry

COMPARED_BYTES = 64 << 20  # of files whose stamp says nothing


@dataclass(frozen=True, slots=True)
class Freshness:
    """Files by what became of them.

    unsure: files of the same size with other times that were not compared: that many bytes
    are read by `ragcli index` only.
    """

    new: tuple[Path, ...] = ()
    changed: tuple[Path, ...] = ()
    deleted: tuple[Path, ...] = ()
    unsure: int = 0

    @property
    def is_fresh(self) -> bool:
        return not (self.new or self.changed or self.deleted or self.unsure)


def freshness(catalog: Catalog, *, compared_bytes: int = COMPARED_BYTES) -> Freshness:
    """Compares everything the index was asked for with the catalog; nothing is written.

    New are files that a run would read; what it would skip at sight (a FIFO) is not.
    """

    def walked(present: Sequence[Path]) -> list[FileEntry | FileDone]:
        return list(walk(present))

    try:
        plan = scan(catalog, still(catalog, asked(catalog)), walked)
    except UsageError:  # an argument vanished between two looks
        return Freshness()
    doubtful = set(plan.doubtful)
    certain = [item for number, item in enumerate(plan.work) if number not in doubtful]
    changed = [item for item in certain if item.known is not None and not _looks_same(item)]
    unsure, budget = 0, compared_bytes
    for item in (plan.work[number] for number in plan.doubtful):
        budget -= item.stamp.size
        if budget < 0:
            unsure += 1
        elif _differs(item):
            changed.append(item)
    return Freshness(
        new=tuple(item.entry.path for item in certain if item.known is None),
        changed=tuple(sorted(item.entry.path for item in changed)),
        deleted=_deleted(plan),
        unsure=unsure,
    )


def _looks_same(work: Work) -> bool:
    """A file that could not be read and has its size and time still, as after a copy; its
    content too where that was hashed."""
    known = work.known
    if known is None or known.status in INDEXED:
        return False
    now = work.stamp
    if (now.size, now.mtime_ns) != (known.stamp.size, known.stamp.mtime_ns):
        return False
    return not known.sha256 or not _differs(work)


def _differs(work: Work) -> bool:
    return work.known is not None and file_hash(work.entry.path) != work.known.sha256


def _deleted(plan: Plan) -> tuple[Path, ...]:
    return tuple(sorted(known.path for known in plan.removed))
