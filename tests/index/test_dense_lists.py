"""Searching vectors in lists, against the exact scan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index import dense_build, dense_lists
from ragcli.index.dense import LISTS, Dense
from ragcli.index.dense_lists import CODES, ROWS
from ragcli.index.dense_write import write

from .listed import ALWAYS, DIMENSION, Folder, everything, recall, source, vectors


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dense, np.ndarray]:
    matrix = vectors(6000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_build, "PROBES", 8)
        folder = Folder(tmp_path_factory.mktemp("many"), matrix)
        return folder.of(everything(6000)), matrix


def test_most_of_the_best_are_found(many: tuple[Dense, np.ndarray]) -> None:
    index, matrix = many
    assert index.tier == LISTS
    assert index.lists is not None
    assert index.lists.head.probes < len(index.lists.sizes) / 2
    assert recall(index, matrix, everything(6000)) >= 0.97


def test_scores_are_those_of_the_exact_scan(many: tuple[Dense, np.ndarray]) -> None:
    index, matrix = many
    for query in vectors(20, seed=6):
        exact = dict(Dense(everything(6000), matrix).search(query, 6000))
        found = index.search(query, 50)
        assert len(found) == 50
        assert [score for _, score in found] == pytest.approx(
            [exact[id] for id, _ in found], abs=1e-6
        )
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


def test_as_many_as_are_asked_for(many: tuple[Dense, np.ndarray]) -> None:
    index, _ = many
    query = vectors(1, seed=7)[0]
    assert len(index.search(query, 5000)) == 5000
    assert {id for id, _ in index.search(query, 10_000)} == set(range(1, 6001))
    assert index.search(query, 0) == []


@pytest.mark.parametrize("few", [0, 20_000])
@pytest.mark.parametrize("share", [1, 7, 600])
def test_filters(
    many: tuple[Dense, np.ndarray], monkeypatch: pytest.MonkeyPatch, few: int, share: int
) -> None:
    monkeypatch.setattr(dense_lists, "FEW", few)
    index, matrix = many
    allowed = everything(6000)[::share]
    exact = Dense(allowed, matrix[allowed - 1])
    hits = []
    for query in vectors(30, seed=8):
        found = index.search(query, 10, np.append(allowed, 99_999))
        assert {id for id, _ in found} <= set(allowed.tolist())
        assert len(found) == min(10, len(allowed))
        best = {id for id, _ in exact.search(query, 10)}
        hits.append(len(best & {id for id, _ in found}) / len(best))
    assert np.mean(hits) >= (0.97 if few == 0 else 1.0 if share > 1 else 0.97)
    assert index.search(vectors(1)[0], 10, np.empty(0, np.int64)) == []


def test_a_filter_far_from_the_query(
    many: tuple[Dense, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_lists, "FEW", 0)
    index, matrix = many
    query = vectors(1, seed=9)[0]
    farthest = np.sort(np.argsort(matrix @ query)[:300]) + 1
    found = index.search(query, 10, farthest)
    best = Dense(farthest, matrix[farthest - 1]).search(query, 10)
    assert len({id for id, _ in found} & {id for id, _ in best}) >= 9


def test_odd_queries(many: tuple[Dense, np.ndarray]) -> None:
    index, _ = many
    assert index.search(np.full(DIMENSION, np.nan, np.float32), 3) == []
    assert len(index.search(np.zeros(DIMENSION, np.float32), 3)) == 3
    with pytest.raises(IndexUnusable, match="5 components"):
        index.search(np.ones(5, np.float32), 3)


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    matrix = vectors(500)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        Folder(tmp_path / name, matrix).of(everything(500))
    for name in ("dense.bin", ROWS, CODES):
        first, second = ((tmp_path / folder / "1" / name).read_bytes() for folder in "ab")
        assert first == second


def test_enough_probes_for_the_rows_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_build, "PROBES", 1)
    rows = np.random.default_rng(3).normal(size=(900, DIMENSION)).astype(np.float16)
    trained = dense_build.train(rows, 30)
    exact = rows.astype(np.float32)
    lists = np.argmax(exact @ trained.centroids.T, axis=1)
    found = []
    for row in range(0, 900, 7):
        near = np.argsort(-(exact @ exact[row]))[:11]
        near = near[near != row]
        scanned = np.argsort(-(trained.centroids @ exact[row]))[: trained.probes]
        found.append(np.isin(lists[near], scanned).mean())
    assert 1 < trained.probes < 30
    assert np.mean(found) >= 0.97


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 60), st.integers(0, 5), st.sampled_from([np.nan, np.inf, -np.inf, 0.0]),
    st.booleans(), st.integers(1, 80),
)  # fmt: skip
def test_small_ones_are_exact(
    tmp_path_factory: pytest.TempPathFactory,
    rows: int, odd: int, value: float, copies: bool, limit: int,
) -> None:  # fmt: skip
    matrix = vectors(rows)
    matrix[:odd] = value
    if copies:
        matrix[rows // 2 :] = matrix[rows // 2]
    index = Folder(tmp_path_factory.mktemp("odd"), matrix).of(everything(rows))
    assert index.tier == LISTS
    query = vectors(1, seed=4)[0]
    best = Dense(everything(rows), matrix).search(query, limit)
    found = index.search(query, limit)
    assert len(found) == len(best)
    if not copies:
        assert [id for id, _ in found] == [id for id, _ in best]
    assert np.allclose([s for _, s in found], [s for _, s in best], atol=1e-6)


@pytest.mark.parametrize("dimension", [1, 5, 33])
def test_rows_that_are_no_multiple_of_eight(tmp_path: Path, dimension: int) -> None:
    matrix = np.random.default_rng(1).normal(size=(200, dimension)).astype(np.float16)
    matrix = matrix.astype(np.float32)
    write(tmp_path / "dense.bin", everything(200), dimension, source(matrix), None, ALWAYS)
    index = Dense.open(tmp_path / "dense.bin")
    index.check()
    found = index.search(matrix[7], 20, np.arange(3, 150))
    best = Dense(everything(200), matrix).search(matrix[7], 20, np.arange(3, 150))
    assert {id for id, _ in found} == {id for id, _ in best}
