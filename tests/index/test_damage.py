"""Foreign, damaged, locked and mismatched indices: a clear error, or mended from the truth."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcli.errors import IndexLocked, IndexMissing, IndexUnusable, RagcliError
from ragcli.index.location import find_index
from ragcli.index.lock import writer_lock
from ragcli.index.reader import Reader
from ragcli.types import SearchMode

from .conftest import Bench, WordsEncoder


@pytest.fixture
def filled(bench: Bench) -> Bench:
    bench.write("a.md", "The copper key opens the cellar.")
    bench.write("b.md", "The iron key opens the tower.")
    bench.update()
    bench.encoder.encoded.clear()
    return bench


def catalog(bench: Bench) -> Path:
    return bench.index_dir / "catalog.sqlite"


def generation(bench: Bench) -> Path:
    return max((bench.index_dir / "generations").iterdir(), key=lambda p: int(p.name))


def execute(bench: Bench, *statements: str) -> None:
    connection = sqlite3.connect(catalog(bench))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


REFUSED: dict[str, Callable[[Bench], object]] = {
    "text": lambda b: catalog(b).write_text("not a database, whatever it is called" * 100),
    "zeros": lambda b: catalog(b).write_bytes(b"\0" * 8192),
    "a pickle": lambda b: catalog(b).write_bytes(b"\x80\x04\x95" * 1000),
    "cut": lambda b: catalog(b).write_bytes(catalog(b).read_bytes()[:5000]),
    "another program's": lambda b: execute(b, "PRAGMA application_id = 7"),
    "newer schema": lambda b: execute(b, "PRAGMA user_version = 99"),
    "a trigger": lambda b: execute(
        b, "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END"
    ),
    "a view": lambda b: execute(b, "CREATE VIEW v AS SELECT * FROM files"),
    "a table too few": lambda b: execute(b, "DROP TABLE chunks"),
    "analyzer": lambda b: execute(b, "UPDATE meta SET value = '\"0\"' WHERE key = 'analyzer'"),
    "chunking": lambda b: execute(b, "UPDATE meta SET value = '\"0\"' WHERE key = 'chunking'"),
    "settings": lambda b: execute(b, "UPDATE meta SET value = '{' WHERE key = 'encoder'"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_refused_with_the_command_that_mends_it(filled: Bench, how: str) -> None:
    REFUSED[how](filled)
    with pytest.raises(IndexUnusable) as by_reader:
        filled.open()
    with pytest.raises(IndexUnusable) as by_writer:
        filled.events()
    for caught in (by_reader, by_writer):
        assert "ragcli index --rebuild" in caught.value.hint
    filled.update(rebuild=True)
    assert filled.found("copper key")[0] == "a.md"


def put(file: Path, content: bytes) -> None:
    """Another file under the name: cutting one that is mapped still kills who reads it."""
    file.unlink()
    file.write_bytes(content)


BROKEN: dict[str, Callable[[Path], object]] = {
    "all gone": shutil.rmtree,
    "lexical gone": lambda g: shutil.rmtree(g / "lexical"),
    "dense gone": lambda g: (g / "dense.bin").unlink(),
    "dense cut": lambda g: put(g / "dense.bin", b"ragcliV1"),
    "lexical list": lambda g: (g / "lexical" / "meta.json").write_text("{"),
    "segment": lambda g: put(next((g / "lexical").glob("*.idx")), b"x" * 50),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_reader_mends_the_search_files(filled: Bench, how: str) -> None:
    hits = filled.found("copper key")
    BROKEN[how](generation(filled))
    filled.encoder.encoded.clear()
    assert filled.found("copper key") == hits
    assert filled.encoder.encoded == ["copper key", *filled.encoder.encoded[1:]]
    assert not [text for text in filled.encoder.encoded if text.startswith("a:")]
    assert filled.generation() == 2


@pytest.mark.parametrize("how", BROKEN)
def test_a_writer_mends_the_search_files_without_the_encoder(filled: Bench, how: str) -> None:
    BROKEN[how](generation(filled))
    filled.encoder.calls = 0
    assert filled.update().unchanged == 2
    assert filled.encoder.calls == 0
    assert filled.found("copper key")[0] == "a.md"


def test_a_reader_beside_a_writer_builds_in_memory(
    filled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(generation(filled))
    with writer_lock(filled.index_dir):
        for mode in SearchMode:
            assert filled.found("copper key", mode=mode)[0] == "a.md"
        monkeypatch.setattr("ragcli.index.generations.IN_MEMORY", 1)
        with pytest.raises(IndexUnusable, match="missing or damaged"):
            filled.open()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_index_that_cannot_be_written_is_read(filled: Bench) -> None:
    for folder in (filled.index_dir, filled.index_dir / "generations"):
        folder.chmod(0o500)
    catalog(filled).chmod(0o400)
    try:
        assert filled.found("copper key")[0] == "a.md"
        filled.write("c.md", "new")
        with pytest.raises(RagcliError, match="cannot be"):
            filled.events()
    finally:
        for folder in (filled.index_dir, filled.index_dir / "generations"):
            folder.chmod(0o700)


def test_another_encoder_is_refused_naming_both(filled: Bench) -> None:
    filled.encoder = WordsEncoder("others")
    for attempt in (filled.open, filled.events):
        with pytest.raises(IndexUnusable) as caught:
            attempt()
        assert "words" in caught.value.message
        assert "others" in caught.value.message
    filled.update(rebuild=True)
    assert filled.found("copper key")[0] == "a.md"


@pytest.mark.parametrize("dimension", [64, 32])
def test_another_encoder_is_noticed_when_it_is_loaded(filled: Bench, dimension: int) -> None:
    other = WordsEncoder("others", dimension)
    with Reader.open(filled.index_dir, other) as reader:
        assert reader.search("copper", k=1, mode=SearchMode.LEXICAL)
        with pytest.raises(IndexUnusable, match="others"):
            reader.search("copper", k=1)


def test_one_writer(filled: Bench) -> None:
    with writer_lock(filled.index_dir):
        with pytest.raises(IndexLocked, match=f"process {os.getpid()} on "):
            filled.events()
        assert filled.found("copper key")[0] == "a.md"
    assert filled.update().unchanged == 2


def test_a_lock_file_left_behind_is_no_lock(filled: Bench) -> None:
    (filled.index_dir / "writer.lock").write_text("")
    (filled.index_dir / "writer.json").write_text('{"pid": 1, "host": "x", "since": "y"}')
    assert filled.update().unchanged == 2


def test_leftovers_of_a_dead_writer_are_removed(filled: Bench) -> None:
    for name in (".2", "2", "17"):
        (filled.index_dir / "generations" / name / "lexical").mkdir(parents=True)
    filled.write("c.md", "A third key.")
    assert filled.update().generation == 2
    assert {p.name for p in (filled.index_dir / "generations").iterdir()} == {"1", "2"}
    assert "c.md" in filled.found("third key")


def test_no_index(tmp_path: Path) -> None:
    assert find_index(tmp_path / "a" / "b") is None
    with pytest.raises(IndexMissing):
        Reader.open(tmp_path / ".ragcli", WordsEncoder())


def test_the_nearest_index_is_found_upwards(filled: Bench) -> None:
    deep = filled.docs / "x" / "y"
    deep.mkdir(parents=True)
    assert find_index(deep) == filled.index_dir
    (filled.docs / ".ragcli").mkdir()  # holds no catalog: configuration only
    assert find_index(deep) == filled.index_dir


def read_all(bench: Bench) -> None:
    with bench.open() as reader:
        hits = reader.search("copper key", k=2)
        list(reader.files())
    assert all(hit.passage.sentences for hit in hits)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE passages SET sentences = x'0102'",
        "UPDATE passages SET terms = x'0102'",
        "UPDATE chunks SET data = x'0102'",
        "UPDATE files SET status = 'odd'",
        "UPDATE files SET root_id = 99",
        "UPDATE passages SET start = 5, end = 9",
        "UPDATE files SET details = '{'",
    ],
)
def test_damaged_rows_are_an_error_in_one_line(filled: Bench, statement: str) -> None:
    execute(filled, statement)
    shutil.rmtree(generation(filled))
    with pytest.raises(IndexUnusable) as caught:
        read_all(filled)
    assert "\n" not in caught.value.message


def test_a_full_disk_is_said(filled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ragcli.index.dense_write.write", full)
    filled.write("c.md", "A third key.")
    with pytest.raises(RagcliError, match="No space left"):
        filled.events()
    monkeypatch.undo()
    assert filled.found("third key", mode=SearchMode.LEXICAL) == ["a.md", "b.md"]
    assert filled.update().generation == 2


LED_ASTRAY = ("catalog.sqlite", "catalog.sqlite-wal", "generations", "writer.lock", "writer.json",
              ".gitignore")  # fmt: skip


@pytest.mark.parametrize("name", LED_ASTRAY)
@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_links(filled: Bench, name: str, there: bool) -> None:
    """A folder from elsewhere may hold an index whose parts lead to the user's own files."""
    mine = filled.docs.parent / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    own = filled.index_dir / name
    shutil.rmtree(own) if own.is_dir() else own.unlink(missing_ok=True)
    own.symlink_to(mine if name == "generations" else mine / ("letter" if there else "new"))
    filled.write("c.md", "A third key.")
    for attempt in (filled.events, lambda: filled.events(rebuild=True)):
        with pytest.raises(IndexUnusable, match="is a link or no file"):
            attempt()
    assert [(path.name, path.read_text()) for path in mine.iterdir()] == [("letter", "dear")]


def test_links_among_the_generations_are_removed_not_followed(filled: Bench) -> None:
    mine = filled.docs.parent / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    for name in ("7", ".2", "2"):
        (filled.index_dir / "generations" / name).symlink_to(mine)
    filled.write("c.md", "A third key.")
    assert filled.update().generation == 2
    assert {p.name for p in (filled.index_dir / "generations").iterdir()} == {"1", "2"}
    assert (mine / "letter").read_text() == "dear"


def test_an_index_folder_may_not_be_a_link_to_another_folder(bench: Bench) -> None:
    mine = bench.docs.parent / "mine"
    mine.mkdir()
    bench.index_dir.symlink_to(mine)
    bench.write("a.md", "A key.")
    with pytest.raises(IndexUnusable, match="is a link"):
        bench.events()
    assert not list(mine.iterdir())
