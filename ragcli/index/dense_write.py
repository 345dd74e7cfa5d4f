"""Writing what `ragcli.index.dense` reads: which tier, and where each row comes from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable
from ragcli.index.dense import Dense
from ragcli.index.dense_build import Trained, build_lists
from ragcli.index.dense_files import places, spans
from ragcli.index.dense_flat import write_flat
from ragcli.index.dense_lists import CODES, ROWS, Lists

# Gives (passage, vector bytes), ascending, of every passage after a given one.
Source = Callable[[int], Iterable[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class Tiers:
    """When vectors are put into lists. Chosen with tests/bench/scale.py."""

    lists_from: int = 65_536  # passages; below half of it they are scanned again
    newest: int = 32_768  # passages beside the lists
    gone: float = 0.2  # share of the lists that is no more
    growth: float = 2.0  # by which new centroids are found

    def wants_lists(self, passages: int, has_lists: bool) -> bool:
        return passages >= (self.lists_from // 2 if has_lists else self.lists_from)


TIERS = Tiers()


def write(
    file: Path,
    ids: NDArray[np.int64],
    dimension: int,
    source: Source,
    previous: Dense | None = None,
    tiers: Tiers | None = None,
) -> None:
    """Writes a snapshot of the passages `ids` (ascending) and flushes it to the disk.

    The lists, if any, go beside `file`, or are shared with those beside `previous`. Rows
    come from `previous` where it has them, else from `source`; passages that are new since
    `previous` have larger ids than all in it. tiers: None for TIERS. Raises IndexUnusable
    if a vector is missing.
    """
    tiers = tiers or TIERS
    if previous is not None and previous.vectors.shape[1] != dimension:
        previous = None
    writing = _Writing(file, ids, dimension, source, previous)
    if not tiers.wants_lists(len(ids), previous is not None and previous.lists is not None):
        writing.flat()
    elif writing.can_share(tiers):
        writing.beside_shared_lists()
    else:
        writing.lists(tiers)


class _Writing:
    """One snapshot on its way into `file`."""

    def __init__(
        self,
        file: Path,
        ids: NDArray[np.int64],
        dimension: int,
        source: Source,
        previous: Dense | None,
    ) -> None:
        self.file = file
        self.ids = ids
        self.dimension = dimension
        self.source = source
        self.previous = previous
        self.old = previous.lists if previous is not None else None

    def flat(self) -> None:
        # Not from lists: their rows are rounded, and what is scanned is exact.
        previous = None if self.old is not None else self.previous
        blocks = self._blocks(self.ids, previous)
        write_flat(self.file, self.ids, self.dimension, blocks)

    def can_share(self, tiers: Tiers) -> bool:
        """Whether the previous lists still do."""
        if self.old is None or self._outgrown(self.old, tiers):
            return False
        kept = int((places(self.old.ids, self.ids) >= 0).sum())
        newest, gone = len(self.ids) - kept, len(self.old) - kept
        return newest <= tiers.newest and gone <= tiers.gone * len(self.old)

    def _outgrown(self, old: Lists, tiers: Tiers) -> bool:
        """Whether there are too many rows for its centroids, or too few."""
        return not 1 / tiers.growth <= len(self.ids) / old.head.trained <= tiers.growth

    def beside_shared_lists(self) -> None:
        assert self.old is not None
        for name in (ROWS, CODES):
            _link_or_copy(self.old.folder / name, self.file.with_name(name))
        newest = self.ids[places(self.old.ids, self.ids) < 0]
        gone = self.old.ids[places(self.ids, self.old.ids) < 0]
        # Rounded as in lists, so that a score does not depend on where its row lies.
        blocks = (b.astype("<f2").astype("<f4") for b in self._blocks(newest, self.previous))
        mark = self.old.head.mark
        write_flat(self.file, newest, self.dimension, blocks, gone=gone, lists=mark)

    def lists(self, tiers: Tiers) -> None:
        trained = list_of = None
        old = self.old
        if old is not None and not self._outgrown(old, tiers):
            trained = Trained(old.centroids, old.ranges, old.head.probes, old.head.trained)
            with suppress(IndexUnusable):  # damaged: every row is sorted anew
                at = places(old.ids, self.ids)
                list_of = np.where(at < 0, -1, old.list_of[at])
        mark = build_lists(
            self.file.parent,
            self.ids,
            self.dimension,
            self._blocks(self.ids, self.previous),
            trained=trained,
            list_of=list_of,
        )
        write_flat(self.file, self.ids[:0], self.dimension, (), lists=mark)

    def _blocks(
        self, ids: NDArray[np.int64], previous: Dense | None
    ) -> Iterator[NDArray[np.float32]]:
        """The vectors of `ids` in pieces, so that memory does not grow with the index."""
        new = iter(self.source(previous.last if previous is not None else 0))
        for span in spans(len(ids)):
            wanted = ids[span]
            block = np.empty((len(wanted), self.dimension), "<f4")
            known = (
                np.zeros(len(wanted), np.bool_)
                if previous is None
                else previous.copy(wanted, block)
            )
            for row in np.flatnonzero(~known):
                passage, data = next(new, (-1, b""))
                if passage != wanted[row] or len(data) != 4 * self.dimension:
                    raise IndexUnusable(f"the catalog has no vector of passage {int(wanted[row])}")
                block[row] = np.frombuffer(data, "<f4")
            yield block


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        with source.open("rb") as old, target.open("xb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
