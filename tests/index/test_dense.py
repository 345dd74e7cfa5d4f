"""Exact inner-product search against numpy, and the file it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index import dense_files
from ragcli.index.dense import Dense
from ragcli.index.dense_write import Source, write

DIMENSION = 8


def vectors(rows: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(rows, DIMENSION)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def rows_of(ids: np.ndarray, matrix: np.ndarray) -> Source:
    """What a catalog gives."""
    pairs = [(int(id), row.tobytes()) for id, row in zip(ids, matrix, strict=True)]
    return lambda after: [pair for pair in pairs if pair[0] > after]


def test_best_first_as_numpy_has_it() -> None:
    matrix, ids = vectors(200), np.arange(0, 400, 2)
    query = vectors(1, seed=9)[0]
    found = Dense(ids, matrix).search(query, 10)
    best = np.argsort(-(matrix @ query))[:10]
    assert [id for id, _ in found] == ids[best].tolist()
    assert np.allclose([score for _, score in found], (matrix @ query)[best], atol=1e-5)


def test_only_what_is_allowed() -> None:
    index = Dense(np.arange(50), vectors(50))
    query = vectors(1)[0]
    allowed = np.array([3, 7, 49, 1000])
    assert {id for id, _ in index.search(query, 10, allowed)} == {3, 7, 49}
    assert index.search(query, 10, np.array([], np.int64)) == []


def test_more_wanted_than_there_are() -> None:
    assert len(Dense(np.arange(3), vectors(3)).search(vectors(1)[0], 10)) == 3


def test_equal_vectors_go_by_passage() -> None:
    same = np.repeat(vectors(1), 4, axis=0)
    found = Dense(np.array([2, 4, 6, 8]), same).search(vectors(1)[0], 4)
    assert [id for id, _ in found] == [2, 4, 6, 8]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_query_that_is_no_number_finds_nothing(value: float) -> None:
    assert Dense(np.arange(3), vectors(3)).search(np.full(DIMENSION, value, np.float32), 3) == []


def test_a_stored_vector_that_is_no_number_is_not_found() -> None:
    matrix = vectors(3)
    matrix[1] = np.nan
    found = Dense(np.arange(3), matrix).search(vectors(1)[0], 3)
    assert {id for id, _ in found} == {0, 2}


def test_a_query_of_another_width_is_refused() -> None:
    with pytest.raises(IndexUnusable, match="5 components"):
        Dense(np.arange(3), vectors(3)).search(np.ones(5, np.float32), 3)


def test_write_and_open(tmp_path: Path) -> None:
    ids, matrix = np.array([1, 5, 6]), vectors(3)
    write(tmp_path / "d", ids, DIMENSION, rows_of(ids, matrix))
    opened = Dense.open(tmp_path / "d")
    assert opened.ids.tolist() == [1, 5, 6]
    assert np.array_equal(opened.vectors, matrix)


def test_an_empty_one(tmp_path: Path) -> None:
    write(tmp_path / "d", np.array([], np.int64), DIMENSION, rows_of(np.empty(0), np.empty(0)))
    assert len(Dense.open(tmp_path / "d")) == 0
    assert Dense.open(tmp_path / "d").search(vectors(1)[0], 5) == []


@settings(deadline=None, max_examples=40)
@given(st.sets(st.integers(1, 60)), st.sets(st.integers(1, 60)), st.integers(1, 7))
def test_rows_are_taken_over_from_the_previous_one(
    tmp_path_factory: pytest.TempPathFactory, before: set[int], gone: set[int], block: int
) -> None:
    folder = tmp_path_factory.mktemp("dense")
    matrix = vectors(80)
    old = np.array(sorted(before), np.int64)
    write(folder / "old", old, DIMENSION, rows_of(old, matrix[old]))
    last = int(old[-1]) if len(old) else 0
    new = np.arange(last + 1, last + 6)
    ids = np.concatenate([np.array(sorted(before - gone), np.int64), new])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_files, "BLOCK_ROWS", block)
        write(folder / "new", ids, DIMENSION, rows_of(new, matrix[new]), Dense.open(folder / "old"))
    opened = Dense.open(folder / "new")
    assert np.array_equal(opened.ids, ids)
    assert np.array_equal(opened.vectors, matrix[ids])


def test_a_vector_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="no vector of passage 2"):
        write(tmp_path / "d", np.array([1, 2]), DIMENSION, rows_of(np.array([1]), vectors(1)))


@pytest.mark.parametrize(
    "change",
    ["cut", "longer", "magic", "empty", "rows", "gone", "order", "kind", "width"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: str) -> None:
    file = tmp_path / "d"
    ids = np.arange(1, 5)
    write(file, ids, DIMENSION, rows_of(ids, vectors(4)))
    data = file.read_bytes()
    file.write_bytes(
        {
            "cut": data[:-1],
            "longer": data + b"x",
            "magic": b"\x80\x04pickle" + data[8:],
            "empty": b"",
            "rows": data[:16] + (2**60).to_bytes(8, "little") + data[24:],
            "gone": data[:24] + (1).to_bytes(8, "little") + data[32:] + bytes(8),
            "order": data[:40] + data[48:56] + data[40:48] + data[56:],
            "kind": data[:12] + b"\1" + data[13:],
            "width": data[:8] + bytes(4) + data[12:],
        }[change]
    )
    with pytest.raises(IndexUnusable, match="damaged"):
        Dense.open(file)
