"""Vectors in lists: against the exact scan, through changes, and from damaged files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index import dense_build, dense_lists
from ragcli.index.dense import FLAT, LISTS, Dense
from ragcli.index.dense_lists import CODES, HEADER, ROWS, Lists
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


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dense, np.ndarray]:
    matrix = vectors(6000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_build, "PROBES", 8)
        folder = Folder(tmp_path_factory.mktemp("many"), matrix)
        return folder.of(everything(6000)), matrix


def recall(index: Dense, matrix: np.ndarray, ids: np.ndarray, limit: int = 10) -> float:
    exact = Dense(ids, matrix[ids - 1])
    shares = []
    for query in vectors(100, seed=5):
        found = {passage for passage, _ in index.search(query, limit)}
        best = {passage for passage, _ in exact.search(query, limit)}
        shares.append(len(found & best) / len(best))
    return float(np.mean(shares))


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


# Rows that are odd


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


# Changes


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


# Damage


def ids(index: Dense) -> set[int]:
    """All passages that it names."""
    return {*index.ids.tolist(), *(index.lists.ids.tolist() if index.lists else ())}


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


SIZES = HEADER.size + 8 * 300  # where they start, with 300 rows
CENTROIDS = SIZES + 8 * 17
RANGES = CENTROIDS + 4 * 17 * DIMENSION
BIG = (2**62).to_bytes(8, "little")
DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "rows empty": (ROWS, lambda _: b""),
    "rows cut": (ROWS, lambda d: d[:-1]),
    "rows longer": (ROWS, lambda d: d + b"x"),
    "magic": (ROWS, lambda d: patched(d, 0, b"\x80\x04\x95abcde")),
    "dimension": (ROWS, lambda d: patched(d, 8, b"\x11\0\0\0")),
    "no dimension": (ROWS, lambda d: patched(d, 8, bytes(4))),
    "list count": (ROWS, lambda d: patched(d, 12, b"\x12\0\0\0")),
    "no lists": (ROWS, lambda d: patched(d, 12, bytes(4))),
    "row count": (ROWS, lambda d: patched(d, 16, BIG)),
    "no probes": (ROWS, lambda d: patched(d, 24, bytes(8))),
    "probes": (ROWS, lambda d: patched(d, 24, BIG)),
    "never trained": (ROWS, lambda d: patched(d, 32, bytes(8))),
    "mark": (ROWS, lambda d: patched(d, 40, BIG)),
    "passages": (ROWS, lambda d: patched(d, HEADER.size, BIG)),
    "a size": (ROWS, lambda d: patched(d, SIZES, BIG)),
    "a size below 0": (ROWS, lambda d: patched(d, SIZES, b"\xff" * 8)),
    "sizes": (ROWS, lambda d: patched(d, SIZES, bytes(8 * 17))),
    "centroids": (ROWS, lambda d: patched(d, CENTROIDS, np.float32(np.nan).tobytes())),
    "ranges": (ROWS, lambda d: patched(d, RANGES, np.float32(np.inf).tobytes())),
    "codes cut": (CODES, lambda d: d[:-8]),
    "codes longer": (CODES, lambda d: d + bytes(8)),
    "flat mark": ("dense.bin", lambda d: patched(d, 32, BIG)),
    "gone": ("dense.bin", lambda d: patched(d, 40 + 8, BIG)),
    "newest": ("dense.bin", lambda d: patched(d, 40, (7).to_bytes(8, "little"))),
}  # fmt: skip


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A generation with lists of 300, one newer passage and one that is gone."""
    folder = Folder(tmp_path, vectors(301))
    folder.of(everything(300))
    folder.of(np.arange(2, 302))
    return folder.file


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_files_are_refused(changed: Path, how: str) -> None:
    assert len(Dense.open(changed)) == 300
    name, damage = DAMAGE[how]
    file = changed.with_name(name)
    data = file.read_bytes()
    assert damage(data) != data
    file.write_bytes(damage(data))
    with pytest.raises(IndexUnusable, match="damaged"):
        Dense.open(changed)


@pytest.mark.parametrize("name", [ROWS, CODES])
def test_missing_files_are_refused(changed: Path, name: str) -> None:
    changed.with_name(name).unlink()
    with pytest.raises(IndexUnusable, match="damaged"):
        Dense.open(changed)


@pytest.mark.parametrize("row", [-7, 300, 2**62])
def test_row_numbers_that_there_are_not(changed: Path, row: int) -> None:
    file = changed.with_name(CODES)
    sizes = Lists(changed.parent).sizes
    data = bytearray(file.read_bytes())
    at = int(sizes[0]) * DIMENSION
    for entry in range(int(sizes[0])):
        data[at + 8 * entry : at + 8 * entry + 8] = row.to_bytes(8, "little", signed=True)
    file.write_bytes(data)
    lists = Lists(changed.parent)
    with pytest.raises(IndexUnusable, match="rows that there are not"):
        _ = lists.list_of
    with pytest.raises(IndexUnusable, match="rows that there are not"):
        lists.search(lists.centroids[0], 300)


def test_damaged_row_numbers_do_not_stop_a_writer(tmp_path: Path) -> None:
    folder = Folder(tmp_path, vectors(400))
    folder.of(everything(300))
    file = folder.file.with_name(CODES)
    file.write_bytes(file.read_bytes()[:-8] + b"\xff" * 8)
    with pytest.raises(IndexUnusable, match="rows that there are not"):
        Dense.open(folder.file).check()
    index = folder.of(everything(400), Tiers(2, newest=10))
    index.check()
    assert recall(index, folder.matrix, everything(400)) >= 0.97


@pytest.mark.parametrize("at", [0, -1])
def test_what_opening_does_not_see_a_check_does(tmp_path: Path, at: int) -> None:
    folder = Folder(tmp_path, vectors(200))
    folder.of(everything(200)).check()
    file = folder.file.with_name(CODES)
    data = bytearray(file.read_bytes())
    if at == 0:
        data[0] ^= 64
    else:
        data[-8:] = data[-16:-8]  # a row twice, another never
    file.write_bytes(data)
    with pytest.raises(IndexUnusable, match="damaged"):
        Dense.open(folder.file).check()


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_change_of_bytes_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = Folder(tmp_path_factory.mktemp("bytes"), vectors(31))
    folder.of(everything(30))
    folder.of(np.arange(2, 32))
    file = folder.file.with_name(data.draw(st.sampled_from(["dense.bin", ROWS, CODES])))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.unlink()  # shared with the generation before
    file.write_bytes(content)
    with suppress(IndexUnusable):
        index = Dense.open(folder.file)
        for allowed in (None, np.arange(5, 25)):
            found = index.search(vectors(1)[0], 10, allowed)
            assert {id for id, _ in found} <= set(
                range(5, 25) if allowed is not None else ids(index)
            )
