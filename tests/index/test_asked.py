"""What an index was asked to hold, and what changed of it since."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable, UsageError
from ragcli.events import Removed
from ragcli.index.asked import known_paths
from ragcli.index.freshness import Freshness, freshness
from ragcli.index.reader import Reader
from ragcli.index.update import forget

from .conftest import Bench


def test_every_argument_is_kept_once(bench: Bench) -> None:
    a, b = bench.write("sub/a.md", "The copper key."), bench.write("b.md", "The iron key.")
    bench.write("c.md", "Never asked for.")
    bench.update(b)
    bench.update(a.parent, b)
    assert known_paths(bench.index_dir) == [b, a.parent]
    bench.update(*known_paths(bench.index_dir))
    assert bench.names() == ["b.md", "sub/a.md"]


def test_what_is_gone_is_asked_for_until_a_run_found_out(bench: Bench) -> None:
    a, b = bench.write("a.md", "The copper key."), bench.write("b.md", "The iron key.")
    bench.update(a, b)
    a.unlink()
    assert known_paths(bench.index_dir) == [a, b]
    events = bench.events(*known_paths(bench.index_dir))
    assert [event.path for event in events if isinstance(event, Removed)] == [a]
    assert known_paths(bench.index_dir) == [b]
    b.unlink()
    bench.update(*known_paths(bench.index_dir))
    with pytest.raises(UsageError, match="does not say what to index"):
        known_paths(bench.index_dir)


def test_what_was_forgotten_is_not_asked_for(bench: Bench) -> None:
    a, b = bench.write("x/a.md", "The copper key."), bench.write("b.md", "The iron key.")
    bench.update(a, b)
    list(forget(bench.index_dir, a.parent))
    assert known_paths(bench.index_dir) == [b]


def test_a_project_can_be_moved(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "The copper key.")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "b.md").write_text("The iron key.")
    bench.update(bench.docs, outside)
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    assert known_paths(moved / ".ragcli") == [moved / "docs", outside]


def test_a_name_that_is_not_utf8(bench: Bench) -> None:
    file = bench.write(os.fsdecode(b"a\xff.md"), "The copper key.")
    bench.update(file)
    assert known_paths(bench.index_dir) == [file]


def execute(bench: Bench, statement: str) -> None:
    with closing(sqlite3.connect(bench.index_dir / "catalog.sqlite")) as sql:
        sql.execute(statement)
        sql.commit()


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version = 1",
        "DROP TABLE chunks",
        "UPDATE meta SET value = '{' WHERE key = 'encoder'",
    ],
)
def test_a_rebuild_knows_what_an_unusable_index_was_asked_for(bench: Bench, statement: str) -> None:
    file = bench.write("a.md", "The copper key.")
    bench.write("b.md", "Never asked for.")
    bench.update(file)
    execute(bench, statement)
    with pytest.raises(IndexUnusable):
        known_paths(bench.index_dir)
    paths = known_paths(bench.index_dir, rebuild=True)
    assert paths == [file]
    bench.update(*paths, rebuild=True)
    assert bench.names() == ["a.md"]
    assert known_paths(bench.index_dir) == [file]


@pytest.mark.parametrize("value", ["{", "3", "[[3, true]]", '[["/x", true]]', '[["../x", false]]'])
def test_a_damaged_list(bench: Bench, value: str) -> None:
    bench.write("a.md", "The copper key.")
    bench.update()
    execute(bench, f"UPDATE meta SET value = '{value}' WHERE key = 'asked'")
    with pytest.raises(IndexUnusable, match="damaged"):
        known_paths(bench.index_dir)
    with pytest.raises(UsageError, match="does not say"):
        known_paths(bench.index_dir, rebuild=True)
    bench.update(rebuild=True)
    assert known_paths(bench.index_dir) == [bench.docs]


def test_an_index_of_before_goes_by_its_folders(bench: Bench) -> None:
    bench.write("a.md", "The copper key.")
    bench.update()
    execute(bench, "DELETE FROM meta WHERE key = 'asked'")
    assert known_paths(bench.index_dir) == [bench.docs]
    execute(bench, "PRAGMA user_version = 1")
    assert known_paths(bench.index_dir, rebuild=True) == [bench.docs]


# What changed since


def look(bench: Bench, **options: int) -> Freshness:
    with bench.open() as reader:
        return freshness(reader._snapshot.catalog, **options)


def test_new_changed_and_deleted(bench: Bench) -> None:
    a, b, c = (bench.write(name, f"The {name} key.") for name in ("a.md", "b.md", "c.md"))
    bench.write("broken.pdf", "%PDF-1.7 not really")
    bench.update()
    assert look(bench).is_fresh
    a.write_text("Something else.")
    b.unlink()
    os.utime(c)
    new = bench.write("sub/d.md", "New.")
    assert look(bench) == Freshness(new=(new,), changed=(a,), deleted=(b,))
    bench.update()
    assert look(bench).is_fresh


def test_a_copy_is_as_fresh_as_the_original(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "The copper key.")
    bench.write("broken.pdf", "%PDF-1.7 not really")
    bench.update()
    copy = tmp_path.with_name(f"{tmp_path.name}-copy")
    shutil.copytree(tmp_path, copy)
    with Reader.open(copy / ".ragcli", bench.encoder) as reader:
        assert reader.freshness().is_fresh
        catalog = reader._snapshot.catalog
        assert freshness(catalog, compared_bytes=3) == Freshness(unsure=1)


def test_beside_a_file_nothing_is_new(bench: Bench) -> None:
    file = bench.write("a.md", "The copper key.")
    bench.update(file)
    bench.write("b.md", "Never asked for.")
    assert look(bench).is_fresh
    shutil.rmtree(bench.docs)
    assert look(bench) == Freshness(deleted=(file,))


NAMES = ["a.md", "b.md", "x/c.md", "x/y/d.md"]
STATES = st.fixed_dictionaries(dict.fromkeys(NAMES, st.sampled_from(["", "one", "two"])))


@given(STATES, STATES)
@settings(max_examples=8, deadline=None)
def test_it_says_what_the_next_run_does(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("bench"))
    for state in (before, after):
        for name, text in state.items():
            if text:
                bench.write(name, f"{name} says {text}.")
            else:
                (bench.docs / name).unlink(missing_ok=True)
        if state is before:
            bench.update()
    found = look(bench)
    assert {path.relative_to(bench.docs).as_posix() for path in found.new} == {
        name for name in NAMES if after[name] and not before[name]
    }
    changed = {name for name in NAMES if after[name] and before[name] not in ("", after[name])}
    assert {path.relative_to(bench.docs).as_posix() for path in found.changed} == changed
    done = bench.update()
    assert done.indexed == len(found.new) + len(found.changed)
    assert done.removed + done.moved == len(found.deleted)
