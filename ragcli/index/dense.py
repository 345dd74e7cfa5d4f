"""Inner-product search in tiers by size.

Up to `Tiers.lists_from` passages the vectors are scanned from end to end (`dense_flat`):
exact, and quick enough. Beyond, most lie in lists (`dense_lists`), never changed once
written and shared by the generations that follow; what is newer lies in a flat file beside
them, which also names what is gone. A query asks both. When the flat part has grown or too
much is gone, the lists are written anew with the same centroids; when the whole has grown
much since these were found, with new ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable
from ragcli.index.dense_faiss import nearest
from ragcli.index.dense_files import damaged, let_go, places
from ragcli.index.dense_flat import open_flat
from ragcli.index.dense_lists import Lists

FLAT, LISTS = "flat", "ivf-sq8"  # tiers, as `ragcli status` names them


class Dense:
    """A searchable snapshot.

    ids int64 (n,), ascending, and vectors float32 (n, dimension): what is scanned from end
    to end. lists: older passages, but for `gone`.
    """

    def __init__(
        self,
        ids: NDArray[np.int64],
        vectors: NDArray[np.float32],
        lists: Lists | None = None,
        gone: NDArray[np.int64] | None = None,
    ) -> None:
        self.ids = ids
        self.vectors = vectors
        self.lists = lists
        self.gone = np.empty(0, np.int64) if gone is None else gone
        self._alive: NDArray[np.bool_] | None = None
        if lists is not None and len(self.gone):
            self._alive = np.ones(len(lists), np.bool_)
            self._alive[places(lists.ids, self.gone)] = False

    @classmethod
    def open(cls, file: Path) -> Dense:
        """Maps the file and its lists. Raises IndexUnusable if they are not whole."""
        flat = open_flat(file)
        if not flat.lists:
            return cls(flat.ids, flat.vectors)
        lists = Lists(file.parent)
        if lists.head.mark != flat.lists or lists.head.dimension != flat.vectors.shape[1]:
            raise damaged("lists of another generation")
        if (places(lists.ids, flat.gone) < 0).any() or (
            len(flat.ids) and flat.ids[0] <= lists.ids[-1]
        ):
            raise damaged("passages that do not follow the lists")
        return cls(flat.ids, flat.vectors, lists, flat.gone)

    def __len__(self) -> int:
        return len(self.ids) + (len(self.lists) - len(self.gone) if self.lists else 0)

    @property
    def tier(self) -> str:
        return LISTS if self.lists else FLAT

    @property
    def last(self) -> int:
        """The newest passage that this was written with, 0 if there was none."""
        newest = self.ids if len(self.ids) or not self.lists else self.lists.ids
        return int(newest[-1]) if len(newest) else 0

    def check(self) -> None:
        """Looks at what opening does not. Raises IndexUnusable where the lists are damaged."""
        if self.lists is not None:
            self.lists.check()

    def copy(self, ids: NDArray[np.int64], block: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Puts the vectors of `ids` into the rows of `block`; tells which it has: bool (m,).

        For one block after the other: of the files nothing stays in memory.
        """
        at = places(self.ids, ids)
        known = at >= 0
        block[known] = self.vectors[at[known]]
        if self.lists is not None:
            at = places(self.lists.ids, ids)
            block[at >= 0] = self.lists.vectors(at[at >= 0])
            known |= at >= 0
            let_go(self.lists.rows)
        let_go(self.vectors)
        return known

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """(passage, inner product), best first, ties by passage.

        query: float32 (dimension,). allowed: only these passages, ids ascending. Exact for
        what is scanned; from lists some of the best may be missing, and the products are
        those of float16 rows.
        """
        if limit <= 0 or len(self) == 0 or not np.isfinite(query).all():
            return []
        if query.shape != self.vectors.shape[1:]:
            raise IndexUnusable(
                f"the query has {query.shape[0]} components, the index {self.vectors.shape[1]}"
            )
        found = self._scan(query, limit, allowed)
        if self.lists is not None:
            found += self._in_lists(self.lists, query, limit, allowed)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _scan(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.int64] | None
    ) -> list[tuple[int, float]]:
        ids, vectors = self.ids, self.vectors
        if allowed is not None:
            rows = np.flatnonzero(np.isin(ids, allowed, assume_unique=True))
            ids, vectors = ids[rows], vectors[rows]
        if len(ids) == 0:
            return []
        return _pairs(ids, *nearest(query, vectors, min(limit, len(ids))))

    def _in_lists(
        self,
        lists: Lists,
        query: NDArray[np.float32],
        limit: int,
        allowed: NDArray[np.int64] | None,
    ) -> list[tuple[int, float]]:
        wanted = self._alive
        if allowed is not None:
            wanted = np.isin(lists.ids, allowed, assume_unique=True)
            wanted = wanted if self._alive is None else wanted & self._alive
        return _pairs(lists.ids, *lists.search(query, limit, wanted))


def _pairs(
    ids: NDArray[np.int64], scores: NDArray[np.float32], rows: NDArray[np.int64]
) -> list[tuple[int, float]]:
    return list(zip(ids[rows].tolist(), scores.tolist(), strict=True))
