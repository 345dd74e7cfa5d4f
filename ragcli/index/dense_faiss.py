"""The arithmetic of dense search; the only file that imports faiss.

faiss is handed arrays and numbers that were checked (`dense_flat`, `dense_lists`). Its own
file format, which holds sizes that it trusts, is never read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable

SEED = 20
ROUNDS = 10  # of k-means


def nearest(
    query: NDArray[np.float32], vectors: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Inner products and rows of the best, best first; float32 (m,), int64 (m,), m ≤ limit.

    query: (dimension,). vectors: (n, dimension). Rows that are not numbers are left out.
    """
    import faiss

    scores, rows = faiss.knn(
        query[None, :], np.ascontiguousarray(vectors), limit, metric=faiss.METRIC_INNER_PRODUCT
    )
    real = rows[0] >= 0  # faiss pads with -1 where a stored vector is not a number
    return scores[0][real], rows[0][real]


def cluster(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Spherical k-means from a fixed seed: (count, dimension), unit rows. n ≥ count."""
    import faiss

    means = faiss.Kmeans(
        sample.shape[1], count, niter=ROUNDS, seed=SEED, spherical=True,
        min_points_per_centroid=1, max_points_per_centroid=len(sample),
    )  # fmt: skip
    means.train(sample)
    return np.array(means.centroids, np.float32)


def assign(vectors: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int64]:
    """The centroid of the largest inner product of each vector: int64 (n,), 0 where none is."""
    import faiss

    _, found = faiss.knn(vectors, centroids, 1, metric=faiss.METRIC_INNER_PRODUCT)
    lists: NDArray[np.int64] = np.maximum(found[:, 0], 0)
    return lists


class Codec:
    """Scalar quantisation: a byte a component, linear between two bounds of its own.

    ranges: float32 (2, dimension), the lower bound and the width of each component.
    """

    def __init__(self, ranges: NDArray[np.float32]) -> None:
        import faiss

        self.quantiser: Any = faiss.ScalarQuantizer(ranges.shape[1], faiss.ScalarQuantizer.QT_8bit)
        faiss.copy_array_to_vector(np.ascontiguousarray(ranges).ravel(), self.quantiser.trained)

    def encode(self, vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Codes uint8 (n, dimension); what lies outside of the bounds is put on them."""
        codes: NDArray[np.uint8] = self.quantiser.compute_codes(vectors)
        return codes


class ListScanner:
    """Scans codes list by list where they lie in a file, mapped into memory.

    The file holds, list after list, codes uint8 (size, dimension) and then row numbers
    int64 (size,), nothing else.
    """

    def __init__(
        self, descriptor: int, sizes: NDArray[np.int64], ranges: NDArray[np.float32]
    ) -> None:
        """descriptor: the open file, of exactly `code_bytes(sizes, dimension)` bytes."""
        import faiss

        dimension = ranges.shape[1]
        # By descriptor, not by name: what is mapped is the file whose length was checked.
        lists = faiss.OnDiskInvertedLists(len(sizes), dimension, f"/dev/fd/{descriptor}")
        lists.read_only = True
        lists.prefetch_nthread = 0  # it would start a thread a list for every query
        counted = sizes.astype(np.uint64)  # a name of its own: a pointer keeps nothing alive
        lists.set_all_lists_sizes(faiss.swig_ptr(counted))
        lists.totsize = code_bytes(sizes, dimension)
        index = faiss.IndexIVFScalarQuantizer(
            faiss.IndexFlatIP(dimension), dimension, len(sizes),
            faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT, False,
        )  # fmt: skip
        faiss.copy_array_to_vector(np.ascontiguousarray(ranges).ravel(), index.sq.trained)
        index.is_trained = True
        index.ntotal = int(sizes.sum())
        try:
            lists.do_mmap()
        except RuntimeError as error:
            raise IndexUnusable("the dense index cannot be mapped into memory") from error
        index.replace_invlists(lists, False)
        self._index: Any = index
        self._lists: Any = lists  # the index does not keep it alive

    def scan(
        self,
        query: NDArray[np.float32],
        lists: NDArray[np.int64],
        limit: int,
        wanted: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Row numbers of at most `limit` best by their codes, unordered, as the file has them.

        query: (dimension,). lists: those to scan. wanted: (n,), only these rows.
        """
        faiss = _untyped()
        options = faiss.SearchParametersIVF(nprobe=len(lists))
        if wanted is not None:
            bits = np.packbits(wanted, bitorder="little")
            options.sel = selector = faiss.IDSelectorBitmap(bits)
        scores = np.empty(limit, np.float32)
        rows: NDArray[np.int64] = np.empty(limit, np.int64)
        asked = np.ascontiguousarray(query, np.float32)
        lists = np.ascontiguousarray(lists, np.int64)
        unused = np.zeros(len(lists), np.float32)
        pointer = faiss.swig_ptr
        self._index.search_preassigned_c(
            1, pointer(asked), limit, pointer(lists), pointer(unused),
            pointer(scores), pointer(rows), False, options,
        )  # fmt: skip
        if wanted is not None:
            del selector
        found: NDArray[np.int64] = rows[rows != -1]
        return found


def _untyped() -> Any:
    """faiss, whose stubs do not know what its Python side adds to constructors."""
    import faiss

    return faiss


def code_bytes(sizes: NDArray[np.int64], dimension: int) -> int:
    """Length of the file that a ListScanner reads."""
    return int(sizes.sum()) * (dimension + 8)
