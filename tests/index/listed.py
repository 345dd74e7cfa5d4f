"""Vectors, and generations of an index that keeps them in lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ragcli.index.dense import Dense
from ragcli.index.dense_write import Source, Tiers, write

DIMENSION = 16
ALWAYS = Tiers(lists_from=2, newest=10_000, gone=0.99)
NEVER = Tiers(lists_from=10**9)


def vectors(rows: int, seed: int = 0, groups: int = 40) -> np.ndarray:
    """Unit rows around some points, rounded as lists keep them."""
    chance = np.random.default_rng(seed)
    points = np.random.default_rng(99).normal(size=(groups, DIMENSION))
    found = points[chance.integers(groups, size=rows)] + 0.5 * chance.normal(size=(rows, DIMENSION))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float16).astype(np.float32)


def source(matrix: np.ndarray) -> Source:
    """Row n is passage n + 1."""
    return lambda after: [(n + 1, matrix[n].tobytes()) for n in range(after, len(matrix))]


class Folder:
    """Generations of one index."""

    def __init__(self, path: Path, matrix: np.ndarray) -> None:
        self.path, self.matrix, self.number = path, matrix, 0
        self.present: set[int] = set()

    def write(self, ids: np.ndarray, tiers: Tiers = ALWAYS) -> Dense:
        previous = Dense.open(self.file) if self.number else None
        self.number += 1
        self.file.parent.mkdir()
        known = len(self.matrix)
        assert len(ids) == 0 or ids[-1] <= known
        write(self.file, ids, DIMENSION, self._source, previous, tiers)
        return Dense.open(self.file)

    def _source(self, after: int) -> list[tuple[int, bytes]]:
        return [pair for pair in source(self.matrix)(after) if pair[0] in self.present]

    def of(self, ids: np.ndarray, tiers: Tiers = ALWAYS) -> Dense:
        self.present = set(ids.tolist())
        return self.write(ids, tiers)

    @property
    def file(self) -> Path:
        return self.path / str(self.number) / "dense.bin"


def everything(rows: int) -> np.ndarray:
    return np.arange(1, rows + 1)


def recall(index: Dense, matrix: np.ndarray, ids: np.ndarray, limit: int = 10) -> float:
    exact = Dense(ids, matrix[ids - 1])
    shares = []
    for query in vectors(100, seed=5):
        found = {passage for passage, _ in index.search(query, limit)}
        best = {passage for passage, _ in exact.search(query, limit)}
        shares.append(len(found & best) / len(best))
    return float(np.mean(shares))
