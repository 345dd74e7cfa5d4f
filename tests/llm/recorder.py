"""Remembers from which decode, and which place in it, each cell of a sequence came.

A row's *history* is the list of (decode, index) of its positions. Replaying the history in
a fresh context of one sequence, each decode padded to its original size with tokens of a
throw-away sequence, gives the logits that the row must have: the same arithmetic on the
same shapes, with nothing else in the cache.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Attention, Backend, Batch, Status

History = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Row:
    """What the engine gave for one token: logits (vocabulary,), attention over positions."""

    history: History
    logits: NDArray[np.float32]


class Recorder:
    """A `Backend` that passes everything on and keeps its own, simple, account."""

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.batches: list[Batch] = []
        self.rows: list[Row] = []
        self._history: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._at: dict[int, History] = {}

    @property
    def n_ctx(self) -> int:
        return self.inner.n_ctx

    @property
    def n_batch(self) -> int:
        return self.inner.n_batch

    @property
    def cuttable(self) -> bool:
        return self.inner.cuttable

    def decode(self, batch: Batch) -> Status:
        status = self.inner.decode(batch)
        if status is Status.OK:
            self._at = {}
            for index, group in enumerate(batch.sequences):
                for sequence in group:
                    self._history[sequence].append((len(self.batches), index))
                self._at[index] = tuple(self._history[group[0]])
            self.batches.append(batch)
        return status

    def logits(self, index: int) -> NDArray[np.float32]:
        row = self.inner.logits(index)
        self.rows.append(Row(self._at[index], row.copy()))
        return row

    def cells(self) -> NDArray[np.int64] | None:
        return self.inner.cells()

    def attention(self, index: int) -> Attention | None:
        return self.inner.attention(index)

    def copy(self, source: int, target: int, start: int, stop: int) -> None:
        self._history[target][start:] = self._history[source][start:stop]
        self.inner.copy(source, target, start, stop)

    def remove(self, sequence: int, start: int) -> None:
        del self._history[sequence][start:]
        self.inner.remove(sequence, start)

    def clear(self) -> None:
        self._history.clear()
        self.inner.clear()

    def guarded(self) -> AbstractContextManager[None]:
        return self.inner.guarded()

    def reason(self) -> str:
        return self.inner.reason()

    def close(self) -> None:
        self.inner.close()


def longest(rows: list[Row]) -> list[tuple[History, list[Row]]]:
    """Histories that are no other's beginning, with all rows along each."""
    groups: list[tuple[History, list[Row]]] = []
    for row in sorted(rows, key=lambda row: -len(row.history)):
        for history, along in groups:
            if history[: len(row.history)] == row.history:
                along.append(row)
                break
        else:
            groups.append((row.history, [row]))
    return groups


def replay(
    recorder: Recorder, history: History, fresh: Backend, filler: NDArray[np.int32]
) -> dict[int, NDArray[np.float32]]:
    """Logits after each length, from a fresh context that holds this one sequence.

    fresh: a backend of two sequences; 0 is the one, 1 the throw-away.
    """
    fresh.clear()
    logits: dict[int, NDArray[np.float32]] = {}
    for decode in dict.fromkeys(decode for decode, _ in history):
        places = {index: at for at, (d, index) in enumerate(history) if d == decode}
        original = recorder.batches[decode]
        others = 0
        tokens, positions, sequences = [], [], []
        for index in range(len(original)):
            mine = index in places
            tokens.append(original.tokens[index] if mine else filler[others])
            positions.append(places[index] if mine else others)
            sequences.append((0,) if mine else (1,))
            others += not mine
        batch = Batch(
            np.array(tokens, np.int32),
            np.array(positions, np.int32),
            tuple(sequences),
            original.wanted,
        )
        assert fresh.decode(batch) is Status.OK
        for index, at in places.items():
            if original.wanted[index]:
                logits[at + 1] = fresh.logits(index).copy()
        fresh.remove(1, 0)
    return logits


def expected_rows(
    recorder: Recorder, fresh: Backend, filler: NDArray[np.int32]
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """(given, expected) logits of every recorded row."""
    pairs = []
    for history, rows in longest(recorder.rows):
        expected = replay(recorder, history, fresh, filler)
        pairs += [(row.logits, expected[len(row.history)]) for row in rows]
    return pairs
