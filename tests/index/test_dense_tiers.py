"""An index whose vectors lie in lists behaves as a small one does."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcli.errors import IndexUnusable, RagcliError
from ragcli.index.dense_lists import CODES, ROWS
from ragcli.index.dense_write import Tiers
from ragcli.index.lock import writer_lock
from ragcli.index.where import Where
from ragcli.types import SearchMode

from .conftest import Bench

QUERIES = ("copper key note 3", "topic4 version", "note 17", "the cellar")


@pytest.fixture(autouse=True)
def _small_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.index.dense_write.TIERS", Tiers(lists_from=16, newest=6))


def fill(bench: Bench, numbers: range, version: int = 0) -> None:
    for n in numbers:
        bench.write(f"{n:03}.md", f"Note {n}, topic{n % 7}, version {version}: the copper key.")


def tier(bench: Bench) -> str:
    with bench.open() as reader:
        return reader.status().dense_tier


def hits(bench: Bench, query: str, where: Where | None = None) -> list[tuple[str, float]]:
    with bench.open() as reader:
        found = reader.search(
            query, k=12, mode=SearchMode.DENSE, where=where or Where(), score_sentences=False
        )
    return [(hit.document.relative, round(hit.score, 6)) for hit in found]


def generation(bench: Bench) -> Path:
    return max((bench.index_dir / "generations").iterdir(), key=lambda p: int(p.name))


def test_status_names_the_tier(bench: Bench) -> None:
    fill(bench, range(10))
    bench.update()
    assert tier(bench) == "flat"
    fill(bench, range(10, 20))
    bench.update()
    assert tier(bench) == "ivf-sq8"
    for n in range(5, 20):
        (bench.docs / f"{n:03}.md").unlink()
    bench.update()
    assert tier(bench) == "flat"


@pytest.mark.parametrize("seed", range(3))
def test_a_history_of_edits_finds_what_a_fresh_index_does(
    bench: Bench, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    fill(bench, range(20))
    bench.update()
    for step in range(6):
        for n in chance.sample(range(40), 4):
            fill(bench, range(n, n + 1), step)
        for file in chance.sample(sorted(bench.docs.iterdir()), 2):
            file.unlink()
        bench.update()
    assert tier(bench) == "ivf-sq8"
    (tmp_path / "fresh").mkdir()
    fresh = Bench(tmp_path / "fresh")
    shutil.copytree(bench.docs, fresh.docs, dirs_exist_ok=True)
    fresh.update()
    for query in QUERIES:
        for where in (None, Where(globs=("docs/0*",)), Where(globs=("docs/00*",))):
            assert hits(bench, query, where) == hits(fresh, query, where)


def test_a_reader_keeps_its_lists(bench: Bench) -> None:
    fill(bench, range(30))
    bench.update()
    with bench.open() as reader:
        before = reader.search("topic3", k=30, score_sentences=False)
        for round_ in range(1, 4):
            fill(bench, range(0, 30, 3), round_)
            bench.update()
        assert reader.search("topic3", k=30, score_sentences=False) == before


BROKEN: dict[str, Callable[[Path], object]] = {
    "rows gone": lambda g: (g / ROWS).unlink(),
    "codes gone": lambda g: (g / CODES).unlink(),
    "codes cut": lambda g: os.truncate(g / CODES, 100),
    "rows cut": lambda g: os.truncate(g / ROWS, 100),
    "of another generation": lambda g: _swap(g),
}


def _swap(folder: Path) -> None:
    data = (folder / ROWS).read_bytes()
    (folder / ROWS).unlink()
    (folder / ROWS).write_bytes(data[:40] + bytes([data[40] ^ 2]) + data[41:])


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("by", ["reader", "writer"])
def test_damaged_lists_are_made_anew(bench: Bench, how: str, by: str) -> None:
    fill(bench, range(20))
    bench.update()
    expected = [hits(bench, query) for query in QUERIES]
    BROKEN[how](generation(bench))
    bench.encoder.encoded.clear()
    if by == "writer":
        assert bench.update().unchanged == 20
        assert bench.encoder.encoded == []
    assert [hits(bench, query) for query in QUERIES] == expected
    assert tier(bench) == "ivf-sq8"


def test_damaged_lists_beside_a_writer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(bench, range(20))
    bench.update()
    expected = [hits(bench, query) for query in QUERIES]
    BROKEN["codes cut"](generation(bench))
    with writer_lock(bench.index_dir):
        for query, found in zip(QUERIES, expected, strict=True):
            scanned = hits(bench, query)  # in memory, and not rounded
            assert [name for name, _ in scanned] == [name for name, _ in found]
            assert [s for _, s in scanned] == pytest.approx([s for _, s in found], abs=2e-3)
        monkeypatch.setattr("ragcli.index.generations.IN_MEMORY", 1)
        with pytest.raises(IndexUnusable, match="missing or damaged"):
            bench.open()


def test_a_disk_that_fills_while_lists_are_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(bench, range(20))
    bench.update()
    expected = [hits(bench, query) for query in QUERIES]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ragcli.index.dense_build._write_codes", full)
    fill(bench, range(20, 40), 1)
    with pytest.raises(RagcliError, match="No space left"):
        bench.update()
    assert [hits(bench, query) for query in QUERIES] == expected


def test_verify_makes_damaged_codes_anew(bench: Bench) -> None:
    fill(bench, range(20))
    bench.update()
    expected = [hits(bench, query) for query in QUERIES]
    file = generation(bench) / CODES
    data = file.read_bytes()
    file.write_bytes(data[:-8] + (99).to_bytes(8, "little"))
    with pytest.raises(IndexUnusable, match="rows that there are not") as caught:
        hits(bench, QUERIES[0])
    assert "--verify" in caught.value.hint
    bench.update(verify=True)
    assert [hits(bench, query) for query in QUERIES] == expected
