"""Vectors in lists through changes: the newest, the gone, centroids, what is shared."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index import dense_build
from ragcli.index.dense import FLAT, LISTS, Dense
from ragcli.index.dense_lists import ROWS
from ragcli.index.dense_write import Tiers, write

from .listed import ALWAYS, NEVER, Folder, everything, recall, source, vectors


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.tuples(st.sets(st.integers(1, 90)), st.integers(0, 12), st.sampled_from([0, 6, 90])),
        min_size=1, max_size=5,
    ),
    st.sampled_from([Tiers(8, 10, 0.3, 1.5), Tiers(2, 3, 0.1), ALWAYS, NEVER]),
)  # fmt: skip
def test_a_history_of_changes_finds_what_a_fresh_one_does(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[set[int], int, int]],
    tiers: Tiers,
) -> None:
    matrix = vectors(100)
    folder = Folder(tmp_path_factory.mktemp("history"), matrix)
    ids, newest, kept = everything(20), 20, []
    for gone, new, _ in [(set(), 0, 0), *changes]:
        ids = np.concatenate(
            [np.setdiff1d(ids, list(gone)), np.arange(newest + 1, newest + new + 1)]
        )
        newest += new
        index = folder.of(ids, tiers)
        kept.append((index, ids))
        assert len(index) == len(ids)
    for index, present in kept:  # older generations too: nothing shared was written to
        exact = Dense(present, matrix[present - 1])
        for query in vectors(3, seed=2):
            found, best = index.search(query, 30), exact.search(query, 30)
            assert [id for id, _ in found] == [id for id, _ in best]
            assert np.allclose([s for _, s in found], [s for _, s in best], atol=1e-6)


def test_which_tier(tmp_path: Path) -> None:
    tiers = Tiers(lists_from=100, newest=30, gone=0.2, growth=2.0)
    matrix = vectors(1000)
    folder = Folder(tmp_path, matrix)
    told = []
    for first, last in [(1, 99), (1, 100), (1, 130), (1, 131), (30, 131), (1, 40), (1, 99)]:
        index = folder.of(np.arange(first, last + 1), tiers)
        lists = index.lists
        told.append((index.tier, len(lists) if lists else 0, len(index.ids), len(index.gone)))
    assert told[:4] == [
        (FLAT, 0, 99, 0),
        (LISTS, 100, 0, 0),
        (LISTS, 100, 30, 0),
        (LISTS, 131, 0, 0),
    ]
    assert told[4] == (LISTS, 102, 0, 0)  # too much gone
    assert told[5:] == [(FLAT, 0, 40, 0), (FLAT, 0, 99, 0)]


def test_lists_are_shared_until_they_change(tmp_path: Path) -> None:
    folder = Folder(tmp_path, vectors(300))
    folder.of(everything(200), Tiers(100, 50))
    first = (folder.file.parent / ROWS).stat().st_ino
    changed = folder.of(np.arange(5, 230), Tiers(100, 50))
    assert (folder.file.parent / ROWS).stat().st_ino == first
    assert (len(changed.ids), changed.gone.tolist()) == (29, [1, 2, 3, 4])
    shutil.rmtree(tmp_path / "1")
    assert len(Dense.open(folder.file)) == 225


def test_shared_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refused)
    folder = Folder(tmp_path, vectors(60))
    folder.of(everything(50))
    assert len(folder.of(everything(60)).ids) == 10


def test_centroids_are_kept_until_the_index_has_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    cluster = dense_build.cluster
    monkeypatch.setattr(
        dense_build, "cluster", lambda rows, count: trained.append(count) or cluster(rows, count)
    )
    tiers = Tiers(lists_from=100, newest=50)
    folder = Folder(tmp_path, vectors(1000))
    matrix = folder.matrix
    for rows in (100, 160, 199, 260, 320, 400):
        index = folder.of(everything(rows), tiers)
        assert recall(index, matrix, everything(rows)) >= 0.97
    assert len(trained) == 2
    assert index.lists is not None
    assert index.lists.head.trained == 260


def test_another_dimension_starts_anew(tmp_path: Path) -> None:
    folder = Folder(tmp_path, vectors(50))
    previous = folder.of(everything(50))
    wider = np.tile(vectors(50), (1, 2))
    (tmp_path / "w").mkdir()
    write(tmp_path / "w" / "dense.bin", everything(50), 32, source(wider), previous, ALWAYS)
    assert len(Dense.open(tmp_path / "w" / "dense.bin").search(wider[0], 5)) == 5


def test_a_vector_that_is_missing_is_an_error(tmp_path: Path) -> None:
    folder = Folder(tmp_path, vectors(50))
    folder.present = set(range(1, 50))
    with pytest.raises(IndexUnusable, match="no vector of passage 50"):
        folder.write(everything(50))
