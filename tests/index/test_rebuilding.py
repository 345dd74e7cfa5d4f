"""A rebuild: what it encodes again, what readers see meanwhile, and what dies with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from ragcli.index import rebuilding
from ragcli.index.catalog import Catalog
from ragcli.index.location import CATALOG
from ragcli.index.schema import SCHEMA_VERSION
from ragcli.index.update import update

from .conftest import Bench, WordsEncoder


@pytest.fixture
def filled(bench: Bench) -> Bench:
    for n in range(30):
        bench.write(f"{n:02}.md", f"# Note {n}\n\nThe copper key {n} opens cellar topic{n % 4}.")
    bench.update()
    bench.encoder.encoded.clear()
    return bench


def sql(bench: Bench, statement: str, *values: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(bench.index_dir / CATALOG, isolation_level=None)
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def vectors(bench: Bench) -> int:
    (found,) = sql(bench, "SELECT count(*) FROM vectors")[0]
    assert isinstance(found, int)
    return found


def test_equal_texts_are_not_encoded_again(filled: Bench) -> None:
    before, kept = filled.everything(), vectors(filled)
    assert filled.update(rebuild=True).indexed == 30
    assert len(filled.encoder.encoded) == rebuilding.SAMPLE  # a few, to believe the others
    assert filled.everything() == before
    assert vectors(filled) == kept


def test_vectors_of_texts_that_are_gone_go(filled: Bench) -> None:
    kept = vectors(filled)
    filled.write("00.md", "# Other\n\nSomething else altogether.")
    (filled.docs / "01.md").unlink()
    filled.update(rebuild=True)
    assert vectors(filled) == kept - 1
    assert "Something else" in " ".join(filled.encoder.encoded)


def test_another_encoder_encodes_everything(filled: Bench) -> None:
    filled.encoder = WordsEncoder("other", 32)
    filled.update(rebuild=True)
    assert len(filled.encoder.encoded) == 30
    assert filled.found("copper key 7")[0] == "07.md"
    assert vectors(filled) == 30


def test_vectors_that_are_not_what_the_encoder_makes_are_not_believed(filled: Bench) -> None:
    wrong = np.zeros(filled.encoder.identity.dimension, "<f4")
    wrong[0] = 1
    sql(filled, "UPDATE vectors SET vector = ?", wrong.tobytes())
    filled.update(rebuild=True)
    assert len(set(filled.encoder.encoded)) == 30
    (row,) = sql(filled, "SELECT count(*) FROM vectors WHERE vector = ?", wrong.tobytes())
    assert row[0] == 0


@pytest.mark.parametrize("bad", [b"", b"\0" * 256, b"\xff" * 256, b"short"])
def test_damaged_vectors_are_made_again(filled: Bench, bad: bytes) -> None:
    before = [row[0] for row in sql(filled, "SELECT vector FROM vectors ORDER BY id")]
    sql(filled, "UPDATE vectors SET vector = ? WHERE id = 25", bad)
    filled.update(rebuild=True)
    assert [row[0] for row in sql(filled, "SELECT vector FROM vectors ORDER BY id")] == before


def test_ids_are_not_used_twice(filled: Bench) -> None:
    with filled.open() as reader:
        before = {document.id for document in reader.documents()}
    filled.update(rebuild=True)
    with filled.open() as reader:
        assert before.isdisjoint(document.id for document in reader.documents())


def test_readers_keep_the_old_state_and_a_stopped_rebuild_keeps_its_vectors(
    filled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcli.index.run.BATCH_PASSAGES", 4)
    monkeypatch.setattr("ragcli.index.run.COMMIT_EVERY_S", 0.0)
    for n in range(30):
        filled.write(f"{n:02}.md", f"# Note {n}\n\nA silver key {n} opens the attic.")
    events = update(filled.index_dir, [filled.docs], encoder=filled.encoder, rebuild=True)
    for event in events:
        assert filled.found("copper key")
        if getattr(event, "done", 0) >= 16:
            break
    events.close()  # type: ignore[attr-defined]
    assert set(filled.names()) == {f"{n:02}.md" for n in range(30)}
    with filled.open() as reader:
        assert all("copper" in reader.text(d.id) for d in reader.documents())
    saved = vectors(filled)
    assert saved >= 30 + 12  # all but the batch that was under way
    filled.encoder.encoded.clear()
    filled.update(rebuild=True)
    silver = {text for text in filled.encoder.encoded if "silver" in text}
    assert len(filled.encoder.encoded) <= 30 - 12 + rebuilding.SAMPLE
    assert silver
    assert vectors(filled) == 30
    assert filled.found("silver key 3")[0] == "03.md"


def test_what_a_stopped_rebuild_left_goes_with_the_next_run(
    filled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcli.index.run.BATCH_PASSAGES", 4)
    monkeypatch.setattr("ragcli.index.run.COMMIT_EVERY_S", 0.0)
    filled.encoder = WordsEncoder("other")
    events = update(filled.index_dir, [filled.docs], encoder=filled.encoder, rebuild=True)
    for event in events:
        if getattr(event, "done", 0) >= 16:
            break
    events.close()  # type: ignore[attr-defined]
    assert vectors(filled) > 30
    filled.encoder = WordsEncoder()
    assert filled.update().unchanged == 30
    assert vectors(filled) == 30


def test_an_index_of_another_schema_lends_its_vectors(filled: Bench) -> None:
    before = filled.everything()
    sql(filled, "DROP TABLE chunks")
    sql(filled, "CREATE TABLE pieces (old TEXT)")
    sql(filled, f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    filled.update(rebuild=True)
    assert len(filled.encoder.encoded) == rebuilding.SAMPLE
    assert filled.everything() == before
    Catalog.open(filled.index_dir).close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT * FROM files",
        "CREATE TRIGGER more AFTER INSERT ON files BEGIN SELECT 1; END",
        "PRAGMA application_id = 7",
        "ALTER TABLE vectors ADD COLUMN more",
    ],
)
def test_a_foreign_catalog_lends_nothing(filled: Bench, statement: str) -> None:
    before = filled.everything()
    sql(filled, statement)
    sql(filled, f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    filled.update(rebuild=True)
    assert len(filled.encoder.encoded) == 30
    assert filled.everything() == before


def test_a_rebuild_leaves_no_file_behind(filled: Bench, tmp_path: Path) -> None:
    names = {path.name for path in filled.index_dir.iterdir()}
    filled.update(rebuild=True)
    assert {path.name for path in filled.index_dir.iterdir()} <= names
    assert sorted(path.name for path in tmp_path.iterdir()) == [".ragcli", "docs"]
