"""Vectors in lists from damaged files: refused when they are opened or checked, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index.dense import Dense
from ragcli.index.dense_lists import CODES, HEADER, ROWS, Lists
from ragcli.index.dense_write import Tiers

from .listed import DIMENSION, Folder, everything, recall, vectors


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
