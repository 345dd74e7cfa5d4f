"""Which tokens to decode, in what order, shared by which sequences. Pure.

Sequences that start alike are decoded once: the tokens still to decode form a trie, whose
edges are emitted in pre-order, each token with every sequence below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Batch


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What one sequence has to decode: tokens[decoded:], n > decoded.

    tokens: (n,) int32, the whole sequence. first_row: index of the first token whose logits
    are wanted; rows are wanted for first_row..n-1 (n: none).
    """

    sequence: int
    tokens: NDArray[np.int32]
    decoded: int
    first_row: int


@dataclass(frozen=True, slots=True)
class Run:
    """Positions start..stop of all `tasks` (indices), which hold the same tokens there."""

    tasks: tuple[int, ...]
    start: int
    stop: int


def common_prefix(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Number of leading tokens that two sequences share."""
    n = min(len(a), len(b))
    different = np.flatnonzero(a[:n] != b[:n])
    return int(different[0]) if len(different) else n


def unique_tokens(sequences: Sequence[NDArray[np.int32]]) -> int:
    """Cells the sequences need when what they share is stored once (nodes of their trie)."""
    total = 0
    ordered = sorted(sequences, key=lambda tokens: tokens.tolist())
    previous = np.empty(0, np.int32)
    for tokens in ordered:  # in sorted order the nearest relative is the one before
        total += len(tokens) - common_prefix(previous, tokens)
        previous = tokens
    return total


def runs(tasks: Sequence[Task]) -> list[Run]:
    """The trie's edges in pre-order: a token comes after everything it attends to."""
    together: dict[tuple[int, bytes], list[int]] = {}
    for index, task in enumerate(tasks):
        key = (task.decoded, task.tokens[: task.decoded].tobytes())
        together.setdefault(key, []).append(index)
    return [run for (start, _), group in together.items() for run in _edges(tasks, group, start)]


def _edges(tasks: Sequence[Task], group: list[int], start: int) -> Iterator[Run]:
    """Edges below a node that every task of the group has reached at position `start`."""
    first = tasks[group[0]].tokens
    if len(group) == 1:
        if start < len(first):
            yield Run(tuple(group), start, len(first))
        return
    stop = start + min(common_prefix(first[start:], tasks[index].tokens[start:]) for index in group)
    if stop > start:
        yield Run(tuple(group), start, stop)
    branches: dict[int, list[int]] = {}
    for index in group:
        if len(tasks[index].tokens) > stop:
            branches.setdefault(int(tasks[index].tokens[stop]), []).append(index)
    for branch in branches.values():
        yield from _edges(tasks, branch, stop)


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """A batch and whose tokens they are: tasks[i] are the task indices of token i."""

    batch: Batch
    tasks: tuple[tuple[int, ...], ...]

    def stretches(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """(first, stop, tasks): tokens of the same tasks at consecutive positions."""
        positions = self.batch.positions.tolist()
        keys = [(g, p - i) for i, (g, p) in enumerate(zip(self.tasks, positions, strict=True))]
        first = 0
        for (group, _), stretch in groupby(keys):
            stop = first + sum(1 for _ in stretch)
            yield first, stop, group
            first = stop


def chunks(tasks: Sequence[Task], n_batch: int) -> Iterator[Chunk]:
    """All tokens to decode, cut into batches of at most `n_batch`."""
    tokens: list[int] = []
    positions: list[int] = []
    owners: list[tuple[int, ...]] = []
    wanted: list[bool] = []
    for run in runs(tasks):
        first_row = min(tasks[index].first_row for index in run.tasks)
        tokens.extend(tasks[run.tasks[0]].tokens[run.start : run.stop].tolist())
        positions.extend(range(run.start, run.stop))
        owners.extend([run.tasks] * (run.stop - run.start))
        wanted.extend(position >= first_row for position in range(run.start, run.stop))
    for start in range(0, len(tokens), n_batch):
        part = slice(start, start + n_batch)
        yield Chunk(
            Batch(
                np.array(tokens[part], np.int32),
                np.array(positions[part], np.int32),
                tuple(tuple(tasks[i].sequence for i in group) for group in owners[part]),
                np.array(wanted[part], np.bool_),
            ),
            tuple(owners[part]),
        )
