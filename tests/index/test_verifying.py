"""Changes that a stat does not show, and an index that is not whole."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragcli.errors import IndexUnusable
from ragcli.events import Event, FileDone, Indexed, Progress, Scanned, Verified
from ragcli.index.catalog import Catalog
from ragcli.index.dense_write import Tiers
from ragcli.index.mending import check_derived
from ragcli.index.settled import STEP_NS, marked, settled, stored, trusted
from ragcli.index.writer import Stamp

from .conftest import Bench, InlineExtractor

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
NOW = 1_700_000_000 * SECOND + 123_456_789


@pytest.mark.parametrize(
    ("time_ns", "expected"),
    [
        (NOW - HOUR, True),
        (NOW - STEP_NS - 1, True),
        (NOW - STEP_NS, False),
        (NOW, False),
        (NOW + HOUR, False),  # a clock that is wrong
        (NOW // SECOND * SECOND, False),  # whole seconds: FAT, ext3, some servers
        (NOW // SECOND * SECOND - SECOND, False),
        (NOW // SECOND * SECOND - 3 * SECOND, True),
        (0, True),
    ],
)
def test_settled(time_ns: int, expected: bool) -> None:
    assert settled(time_ns, NOW) == expected
    for stamp in (Stamp(1, time_ns, 0), Stamp(1, 0, time_ns)):
        assert trusted(stamp, NOW) == expected
        assert (stored(stamp, NOW) == stamp) == expected
        assert marked(stamp) != stamp
        assert marked(marked(stamp)) == stamp


class Clock:
    """The time as the scan sees it: ahead of the real one by so much."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = HOUR
        real = time.time_ns
        monkeypatch.setattr("ragcli.index.scan.time.time_ns", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def filled(bench: Bench, clock: Clock) -> Bench:
    """Three notes whose times have settled."""
    for name in ("a", "b", "c"):
        bench.write(f"{name}.md", f"The {name} key is made of copper.")
    bench.update()
    bench.encoder.encoded.clear()
    return bench


def catalog(bench: Bench) -> sqlite3.Connection:
    return sqlite3.connect(bench.index_dir / "catalog.sqlite", isolation_level=None)


def stamp_of(bench: Bench, name: str) -> Stamp:
    with closing(catalog(bench)) as sql:
        row = sql.execute(
            "SELECT size, mtime_ns, ctime_ns FROM files WHERE path = ?", (name.encode(),)
        ).fetchone()
    return Stamp(*row)


def on_disk(path: Path) -> Stamp:
    status = path.stat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def change_unseen(bench: Bench, name: str, text: str, *, mark: bool = False) -> None:
    """New content, and a catalog that knows the file's times: as if it changed within a step."""
    file = bench.docs / name
    before = file.stat().st_size
    file.write_text(text.ljust(before))
    assert file.stat().st_size == before
    stamp = on_disk(file)
    with closing(catalog(bench)) as sql:
        sql.execute(
            "UPDATE files SET mtime_ns = ?, ctime_ns = ? WHERE path = ?",
            (stamp.mtime_ns, (marked(stamp) if mark else stamp).ctime_ns, name.encode()),
        )


def verified(events: list[Event]) -> Verified:
    return next(event for event in events if isinstance(event, Verified))


# Times that cannot be trusted


def test_a_file_written_while_it_was_indexed_is_looked_at_again(bench: Bench, clock: Clock) -> None:
    clock.ahead = -SECOND
    file = bench.write("a.md", "The iron key.")
    bench.update()
    assert stamp_of(bench, "a.md") == marked(on_disk(file))
    change_unseen(bench, "a.md", "The gold key.", mark=True)
    assert bench.update().indexed == 1
    assert bench.found("gold")[0] == "a.md"
    clock.ahead = HOUR
    assert bench.update().unchanged == 1
    assert stamp_of(bench, "a.md") == on_disk(file)


def test_a_file_from_the_future_is_looked_at_until_it_is_past(bench: Bench, clock: Clock) -> None:
    file = bench.write("a.md", "The iron key.")
    future = time.time_ns() + 2 * HOUR
    os.utime(file, ns=(future, future))
    bench.update()
    assert stamp_of(bench, "a.md") == marked(on_disk(file))
    file.write_text("The gold key.")
    os.utime(file, ns=(future, future))
    change_unseen(bench, "a.md", "The gold key.", mark=True)
    os.utime(file, ns=(future, future))
    assert bench.update().indexed == 1
    generation = bench.generation()
    assert bench.update().unchanged == 1
    clock.ahead = 3 * HOUR
    assert bench.update().unchanged == 1
    assert stamp_of(bench, "a.md") == on_disk(file)
    assert bench.generation() == generation


def test_settled_files_are_not_read(filled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_reading(path: Path) -> str:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("ragcli.index.comparing.file_hash", no_reading)
    assert filled.update().unchanged == 3


def test_a_clock_that_was_set_back(filled: Bench, clock: Clock) -> None:
    change_unseen(filled, "a.md", "The a key is made of golden.")
    clock.ahead = -HOUR
    assert filled.update().indexed == 1


def test_a_bad_file_that_was_just_written_is_not_tried_again(
    bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.ahead = -SECOND
    bench.write("empty.txt", "")
    bench.write("broken.pdf", "%PDF-1.7 not really")
    assert (bench.update().skipped, bench.update().failed) == (1, 1)
    read: list[Path] = []
    run = InlineExtractor.run

    def spying(self: InlineExtractor, entries):  # type: ignore[no-untyped-def]
        entries = list(entries)
        read.extend(entry.path for entry in entries)
        return run(self, entries)

    monkeypatch.setattr(InlineExtractor, "run", spying)
    assert bench.update().failed == 1
    assert read == []
    change_unseen(bench, "broken.pdf", "Now it is text.", mark=True)
    bench.update()
    assert [path.name for path in read] == ["broken.pdf"]
    os.utime(bench.docs / "empty.txt")  # whoever touches it wants it tried
    clock.ahead = HOUR
    bench.update()
    assert [path.name for path in read] == ["broken.pdf", "empty.txt"]


# --verify


def test_what_no_stat_shows_is_found(filled: Bench) -> None:
    change_unseen(filled, "b.md", "The b key is golden.")
    assert filled.update().unchanged == 3
    events = filled.events(verify=True)
    assert verified(events) == Verified(3, 1)
    assert isinstance(events[-1], Indexed)
    assert (events[-1].indexed, events[-1].unchanged) == (1, 2)
    assert filled.found("golden")[0] == "b.md"
    assert verified(filled.events(verify=True)) == Verified(3, 0)


def test_a_run_that_verifies_tells_how_far_it_is(filled: Bench) -> None:
    events = filled.events(verify=True)
    assert [e for e in events if isinstance(e, Progress)] == [Progress("verify", 3, 3)]
    assert not [e for e in filled.events() if isinstance(e, (Progress, Verified))]


def test_what_could_not_be_read_is_tried_again(filled: Bench) -> None:
    filled.write("broken.pdf", "%PDF-1.7 not really")
    filled.update()
    events = filled.events(verify=True)
    assert [e.to_read for e in events if isinstance(e, Scanned)] == [1]
    assert [e.path.name for e in events if isinstance(e, FileDone)] == ["broken.pdf"]


# The index itself


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 0xFF
    file.unlink()  # other generations may share it
    file.write_bytes(data)


def generation_folder(bench: Bench) -> Path:
    return bench.index_dir / "generations" / str(bench.generation())


def assert_whole(bench: Bench) -> None:
    with closing(Catalog.open(bench.index_dir)) as opened:
        check_derived(opened, opened.generation())


@pytest.mark.parametrize("kind", ["fast", "fieldnorm", "idx", "pos", "store", "term"])
def test_a_byte_of_the_lexical_index(filled: Bench, kind: str) -> None:
    file = next((generation_folder(filled) / "lexical").glob(f"*.{kind}"))
    flip(file, 3)
    events = filled.events(verify=True)
    assert len(verified(events).mended) == 1
    assert_whole(filled)
    assert filled.encoder.encoded == []
    assert filled.found("copper b")[0] == "b.md"


def test_a_vector_of_the_dense_index(filled: Bench) -> None:
    file = generation_folder(filled) / "dense.bin"
    flip(file, file.stat().st_size - 1)
    assert "other vectors" in verified(filled.events(verify=True)).mended[0]
    assert_whole(filled)
    assert filled.encoder.encoded == []


def test_search_files_that_are_gone(filled: Bench) -> None:
    (generation_folder(filled) / "dense.bin").unlink()
    assert "search files" in verified(filled.events(verify=True)).mended[0]
    assert_whole(filled)


NAN = np.full(64, np.nan, "<f4").tobytes()
TRUTH: dict[str, tuple[str, tuple[object, ...]]] = {
    "a text is gone": ("DELETE FROM chunks WHERE file_id = ?1", ()),
    "a text is damaged": ("UPDATE chunks SET data = x'00ff' WHERE file_id = ?1", ()),
    "a text is another": ("UPDATE files SET length = length + 1 WHERE id = ?1", ()),
    "terms are damaged": ("UPDATE passages SET terms = x'00' WHERE file_id = ?1", ()),
    "places are damaged": ("UPDATE passages SET places = '[]' WHERE file_id = ?1", ()),
    "a span is outside": ("UPDATE passages SET end = 99999 WHERE file_id = ?1", ()),
    "a sentence is outside": (
        "UPDATE passages SET sentences = ?2 WHERE file_id = ?1",
        (np.array([[5, 999, 1, 0, 0]], "<i4").tobytes(),),
    ),
    "a vector is gone": (
        "DELETE FROM vectors WHERE id IN (SELECT vector_id FROM passages WHERE file_id = ?1)",
        (),
    ),
    "a vector is short": (
        "UPDATE vectors SET vector = x'0000' "
        "WHERE id IN (SELECT vector_id FROM passages WHERE file_id = ?1)",
        (),
    ),
    "a vector is no number": (
        "UPDATE vectors SET vector = ?2 "
        "WHERE id IN (SELECT vector_id FROM passages WHERE file_id = ?1)",
        (NAN,),
    ),
    "a file is gone": ("DELETE FROM files WHERE id = ?1", ()),
}


@pytest.mark.parametrize("how", TRUTH)
def test_rows_that_do_not_fit_are_read_again(filled: Bench, how: str) -> None:
    whole = filled.everything()
    statement, values = TRUTH[how]
    with closing(catalog(filled)) as sql:
        file = sql.execute("SELECT id FROM files WHERE path = 'b.md'").fetchone()
        file = file or sql.execute("SELECT id FROM files ORDER BY id LIMIT 1 OFFSET 1").fetchone()
        sql.execute(statement, (file[0], *values))
    events = filled.events(verify=True)
    assert verified(events).mended[0] == "what the index held of 1 file was damaged: read again"
    assert [e.path.name for e in events if isinstance(e, FileDone)] == ["b.md"]
    assert filled.everything() == whole
    assert bool(filled.encoder.encoded) == ("vector" in how)
    assert_whole(filled)
    assert verified(filled.events(verify=True)) == Verified(3, 0)


def test_a_catalog_that_is_damaged_needs_a_rebuild(filled: Bench) -> None:
    with closing(catalog(filled)) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = filled.index_dir / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    data[-3000:] = bytes(3000)
    file.write_bytes(data)
    with pytest.raises(IndexUnusable, match="damaged") as caught:
        filled.events(verify=True)
    assert "ragcli index --rebuild" in caught.value.hint


def test_an_index_without_documents_is_whole(bench: Bench) -> None:
    bench.write("empty.txt", "")
    bench.update()
    assert verified(bench.events(verify=True)).mended == ()


def test_vectors_in_lists(bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.index.dense_write.TIERS", Tiers(lists_from=16, newest=6))
    for number in range(24):
        bench.write(f"{number}.md", f"The key number {number} is made of copper.")
    bench.update()
    bench.write("new.md", "One more key.")
    (bench.docs / "3.md").unlink()
    bench.update()
    with bench.open() as reader:
        assert reader.status().dense_tier != "flat"
    assert verified(bench.events(verify=True)) == Verified(24, 0)
    for file in generation_folder(bench).iterdir():
        if file.is_file() and file.name != "dense.bin":
            flip(file, file.stat().st_size - 1)
    assert len(verified(bench.events(verify=True)).mended) == 1
    assert_whole(bench)
    assert verified(bench.events(verify=True)) == Verified(24, 0)
