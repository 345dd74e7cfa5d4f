"""What a run holds does not grow with what it reads."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.index import dense_files, run
from ragcli.index.dense import Dense
from ragcli.index.dense_write import Tiers, write
from ragcli.sources.load import Parsed
from ragcli.types import Extracted, FileEntry, Span
from tests.index.conftest import Bench, InlineExtractor, WordsEncoder

MB = 1_000_000
DIMENSION = 384


def peak_of(work: Callable[[], object]) -> float:
    """MB that Python and numpy held beyond what they held before, at the most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


class MadeUp(WordsEncoder):
    """Vectors of a real size, made without looking at the words."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.random.default_rng(len(self.encoded)).normal(size=(len(texts), DIMENSION))
        self.encoded += [""] * len(texts)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class CutAtStops(InlineExtractor):
    """Reads files with no more ado than the test needs."""

    def run(self, entries: Iterable[FileEntry]) -> Iterator[Parsed]:
        for entry in entries:
            text = entry.path.read_text("utf-8")
            ends = tuple(Span(m.start(), m.end()) for m in re.finditer(r"\S[^.]*\.", text))
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            yield Parsed(entry, sha256, Extracted(text, "text"), "en", ends)


def texts(count: int) -> Iterator[str]:
    """About 8 kB each, no passage twice."""
    for n in range(count):
        yield "\n\n".join(
            " ".join(f"The {word} of note {n} has {word} lines to read." for word in range(40))
            for _ in range(4)
        )


def test_a_run_holds_what_it_works_on_and_not_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Extractor", CutAtStops)
    monkeypatch.setattr(run, "BATCH_PASSAGES", 64)
    monkeypatch.setattr(run, "COMMIT_EVERY_S", 0.0)
    monkeypatch.setattr(dense_files, "BLOCK_ROWS", 64)

    def peak(files: int) -> float:
        (folder := tmp_path / str(files)).mkdir()
        bench = Bench(folder)
        bench.encoder = MadeUp(dimension=DIMENSION)
        for n, text in enumerate(texts(files)):
            bench.write(f"{n:04}.txt", text)
        return peak_of(bench.update)

    peak(2)  # imports
    small, large = peak(8), peak(40)
    # The others' texts alone are 0.27 MB, their vectors 2 MB; a list of files may grow.
    assert large - small < 0.7


def test_blocks_of_vectors_are_written_and_let_go(tmp_path: Path) -> None:
    def peak(rows: int) -> float:
        ids = np.arange(1, rows + 1)

        def source(after: int) -> Iterator[tuple[int, bytes]]:
            for id in range(after + 1, rows + 1):
                yield id, np.full(DIMENSION, id, "<f4").tobytes()

        first, second = tmp_path / f"{rows}.bin", tmp_path / f"{rows}.second"
        new = peak_of(lambda: write(first, ids, DIMENSION, source))
        copied = peak_of(lambda: write(second, ids, DIMENSION, source, Dense.open(first)))
        assert second.read_bytes() == first.read_bytes()
        return max(new, copied)

    block = dense_files.BLOCK_ROWS * DIMENSION * 4 / MB
    few, many = peak(2 * dense_files.BLOCK_ROWS), peak(8 * dense_files.BLOCK_ROWS)
    assert few < 4 * block
    assert many < few + block / 2


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("tiers", [None, Tiers(lists_from=1)], ids=["flat", "lists"])
def test_of_the_file_before_only_what_is_copied_now_is_in_memory(
    tmp_path: Path, tiers: Tiers | None
) -> None:
    ids = np.arange(1, 2001)
    rows = np.random.default_rng(0).normal(size=(len(ids), DIMENSION)).astype("<f4")
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    write(
        tmp_path / "dense.bin", ids, DIMENSION,
        lambda after: ((int(id), row.tobytes()) for id, row in zip(ids, rows, strict=True)),
        tiers=tiers,
    )  # fmt: skip
    dense = Dense.open(tmp_path / "dense.bin")
    block = np.empty((500, DIMENSION), np.float32)
    for start in (0, 500, 1000, 1500):
        assert dense.copy(ids[start : start + 500], block).all()
        assert np.allclose(block, rows[start : start + 500], atol=1e-3)
        assert resident(tmp_path) < 0.3  # of 3 MB, or 1.5; a block is a fourth


def resident(folder: Path) -> float:
    """MB in memory of the rows of mapped files of a folder."""
    kb, ours = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8", "replace").splitlines():
        if "-" in line.split(" ", 1)[0]:
            ours = str(folder) in line
        elif ours and line.startswith("Rss:"):
            kb += int(line.split()[1])
    return kb / 1000


HEAPS = """
import threading
from pathlib import Path
from ragcli.index.releasing import release_early, release_freed

def held():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous")) / 1000

release_early()

def work():
    bytearray(20_000_000)                              # glibc learns the size of this block
    pieces = [bytearray(3000) for _ in range(10_000)]  # in the heap of this thread
    pieces.clear()
    freed.set()
    ended.wait()

freed, ended = threading.Event(), threading.Event()
before = held()
thread = threading.Thread(target=work)
thread.start()
freed.wait()
release_freed()
print(held() - before)
ended.set()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_what_threads_free_leaves_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", HEAPS], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 5  # MB; 30 where only what lies between pieces in use is released
