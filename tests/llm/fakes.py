"""A context without a model: cells with positions and owners, logits that tell what was seen.

The logits of a token are a function of exactly the (position, token) pairs that its sequence
sees, so any wrong, missing or foreign cell changes them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Attention, Batch, Status

VOCABULARY = 8


def logits_of(seen: list[tuple[int, int]]) -> NDArray[np.float32]:
    """(VOCABULARY,) what a token that sees these (position, token) pairs predicts."""
    seed = hash(tuple(sorted(seen)))
    return np.array(np.random.default_rng(seed % 2**63).random(VOCABULARY), np.float32)


def attention_of(positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """(n,) attention over positions: proportional to position + 1."""
    weights = positions + 1.0
    return np.asarray(weights / weights.sum(), np.float32)


class FakeContext:
    """See `ragcli.llm.backend.Backend`. fail: statuses of the next decodes, then all OK."""

    def __init__(
        self, n_ctx: int, *, n_batch: int = 4, cuttable: bool = True, tap: bool = True
    ) -> None:
        self.n_ctx, self.n_batch, self.cuttable, self.tap = n_ctx, n_batch, cuttable, tap
        self.fail: list[Status] = []
        self.decodes: list[int] = []  # batch sizes
        self.closed = False
        self._pool: dict[int, tuple[int, int, set[int]]] = {}  # cell: position, token, owners
        self._random = random.Random(n_ctx)
        self._cells: list[int] = []
        self._rows: dict[int, tuple[int, int]] = {}  # index in batch: cell, sequence

    def decode(self, batch: Batch) -> Status:
        assert 0 < len(batch) <= self.n_batch
        if self.fail and (status := self.fail.pop(0)) is not Status.OK:
            return status
        free = [cell for cell in range(self.n_ctx) if cell not in self._pool]
        if len(free) < len(batch):
            return Status.FULL
        self._cells = self._random.sample(free, len(batch))
        self._rows = {}
        for index, cell in enumerate(self._cells):
            position, owners = int(batch.positions[index]), set(batch.sequences[index])
            for sequence in owners:
                assert len(self._of(sequence)) == position, "positions must be consecutive"
            self._pool[cell] = (position, int(batch.tokens[index]), owners)
            if batch.wanted[index]:
                self._rows[index] = (position, min(owners))
        self.decodes.append(len(batch))
        return Status.OK

    def _of(self, sequence: int) -> list[int]:
        return [cell for cell, (_, _, owners) in self._pool.items() if sequence in owners]

    def _seen(self, index: int) -> list[int]:
        position, sequence = self._rows[index]
        return [cell for cell in self._of(sequence) if self._pool[cell][0] <= position]

    def logits(self, index: int) -> NDArray[np.float32]:
        return logits_of([self._pool[cell][:2] for cell in self._seen(index)])

    def cells(self) -> NDArray[np.int64] | None:
        return np.array(self._cells, np.int64) if self.tap else None

    def attention(self, index: int) -> Attention | None:
        if not self.tap:
            return None
        visible = np.zeros(self.n_ctx, np.bool_)
        seen = self._seen(index)
        visible[seen] = True
        weights = np.zeros(self.n_ctx, np.float32)
        weights[seen] = attention_of(np.array([self._pool[cell][0] for cell in seen], np.int64))
        return Attention(weights, visible)

    def copy(self, source: int, target: int, start: int, stop: int) -> None:
        assert self.cuttable
        for cell in self._of(source):
            if start <= self._pool[cell][0] < stop:
                self._pool[cell][2].add(target)

    def remove(self, sequence: int, start: int) -> None:
        for cell in self._of(sequence):
            if not self.cuttable or self._pool[cell][0] >= start:
                self._pool[cell][2].discard(sequence)
        self._pool = {cell: entry for cell, entry in self._pool.items() if entry[2]}

    def clear(self) -> None:
        self._pool = {}

    @property
    def used(self) -> int:
        return len(self._pool)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        yield

    def reason(self) -> str:
        return "a made-up reason"

    def close(self) -> None:
        self.closed = True
