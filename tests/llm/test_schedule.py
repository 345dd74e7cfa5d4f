"""The trie of what is to be decoded."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragcli.llm.schedule import Run, Task, chunks, common_prefix, runs, unique_tokens

sequences = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=5)


def tasks_of(lists: list[list[int]], decoded: int = 0) -> list[Task]:
    return [
        Task(i, np.array(tokens, np.int32), min(decoded, len(tokens)), len(tokens) - 1)
        for i, tokens in enumerate(lists)
    ]


def test_runs_share_beginnings() -> None:
    tasks = tasks_of([[1, 1, 2], [1, 1, 3, 4], [5], [1, 1]])
    assert runs(tasks) == [
        Run((0, 1, 3), 0, 2),
        Run((0,), 2, 3),
        Run((1,), 2, 4),
        Run((2,), 0, 1),
    ]


def test_same_next_tokens_after_different_beginnings_are_not_shared() -> None:
    assert runs(tasks_of([[1, 7, 7], [2, 7, 7]], decoded=1)) == [Run((0,), 1, 3), Run((1,), 1, 3)]


@given(sequences, st.integers(0, 3), st.integers(1, 4))
def test_chunks_hold_every_token_once_after_all_it_attends_to(
    lists: list[list[int]], decoded: int, n_batch: int
) -> None:
    tasks = tasks_of(lists, decoded)
    have = [task.tokens[: task.decoded].tolist() for task in tasks]
    for chunk in chunks(tasks, n_batch):
        assert 0 < len(chunk.batch) <= n_batch
        assert sum(stop - first for first, stop, _ in chunk.stretches()) == len(chunk.batch)
        for index, group in enumerate(chunk.tasks):
            for task in group:
                assert len(have[task]) == chunk.batch.positions[index]
                have[task].append(int(chunk.batch.tokens[index]))
                last = len(have[task]) == len(lists[task])
                assert not last or chunk.batch.wanted[index]
    assert have == lists


@given(sequences)
def test_unique_tokens_counts_the_trie(lists: list[list[int]]) -> None:
    nodes = {tuple(tokens[: i + 1]) for tokens in lists for i in range(len(tokens))}
    arrays = [np.array(tokens, np.int32) for tokens in lists]
    assert unique_tokens(arrays) == len(nodes)
    assert sum(run.stop - run.start for run in runs(tasks_of(lists))) == len(nodes)


def test_common_prefix() -> None:
    a = np.array([1, 2, 3], np.int32)
    assert [
        common_prefix(a, np.array(b, np.int32)) for b in ([], [1], [1, 2, 4], [1, 2, 3, 4])
    ] == [0, 1, 2, 3]
