"""A rebuild beside the rows that readers see, so that it can be saved as it goes on.

The new rows go to SQLite's temporary tables, which for this connection hide the catalog's own
of the same names; they lie in a nameless file beside the catalog that vanishes with the
process. Vectors go to the catalog itself at every save: nothing refers to them yet, so no
reader sees them, and a rebuild that dies leaves them to the next one. At the end the rows are
moved over in the transaction that commits the generation, and readers see all of it at once.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from ragcli.encoders.base import Encoder
from ragcli.index.catalog import Catalog, connect
from ragcli.index.location import CATALOG
from ragcli.index.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES

STAGED = ("meta", "roots", "files", "chunks", "passages")
SAMPLE = 16  # kept vectors that are encoded again before the others are believed
SAME, UNIT = 0.99, 1e-3  # least cosine to the vector anew; most difference of a length to 1
_MADE = re.compile(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX) (\w+)(?: ON (\w+))?")


def stage(catalog: Catalog) -> None:
    """Hides all rows but the vectors; within a transaction. Ids go on where they are."""
    sql = catalog.connection
    for statement in TABLES:
        if _table(statement) in STAGED:
            sql.execute(_temporary(statement))
    sql.execute("INSERT INTO temp.meta SELECT * FROM main.meta WHERE key = 'generation'")
    catalog.set_meta({"unswept": True})
    sql.execute(
        "INSERT INTO temp.sqlite_sequence SELECT * FROM main.sqlite_sequence "
        "WHERE name IN (SELECT value FROM json_each(?))",
        ('["files", "passages"]',),
    )
    # Should this run die, the next one looks for vectors that nothing refers to.
    sql.execute("INSERT OR REPLACE INTO main.meta VALUES ('unswept', 'true')")


def publish(catalog: Catalog) -> None:
    """The staged rows become the catalog's; within a transaction."""
    for table in STAGED:
        catalog.connection.execute(f"DELETE FROM main.{table}")
        catalog.connection.execute(f"INSERT INTO main.{table} SELECT * FROM temp.{table}")
        catalog.connection.execute(f"DROP TABLE temp.{table}")


def near(catalog: Catalog) -> None:
    """Temporary tables beside the catalog, where the rights and the room are the index's."""
    with suppress(sqlite3.Error):  # a SQLite built without it keeps them where it always does
        folder = str(catalog.index_dir.absolute()).replace("'", "''")
        catalog.connection.execute(f"PRAGMA temp_store_directory = '{folder}'")


def keep_vectors(index_dir: Path) -> bool:
    """Empties a sound catalog of another schema but for its vectors; False if that cannot be."""
    try:
        with closing(connect(index_dir / CATALOG, "rw")) as sql:
            return _is_another_schema(sql) and _renew(sql)
    except (sqlite3.Error, OSError):
        return False


def _is_another_schema(sql: sqlite3.Connection) -> bool:
    kinds = {kind for (kind,) in sql.execute("SELECT DISTINCT type FROM sqlite_master")}
    made = sql.execute("SELECT sql FROM sqlite_master WHERE name = 'vectors'").fetchone()
    return (
        sql.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        and sql.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION
        and kinds <= {"table", "index"}  # no views, no triggers
        and made is not None
        and made[0] in TABLES
        and sql.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
    )


def _renew(sql: sqlite3.Connection) -> bool:
    names = [
        name
        for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name != "vectors" and not name.startswith("sqlite_")
    ]
    sql.execute("PRAGMA journal_mode = WAL")
    sql.execute("PRAGMA secure_delete = ON")
    sql.execute("BEGIN IMMEDIATE")
    for name in names:
        sql.execute('DROP TABLE "' + name.replace('"', '""') + '"')
    for statement in TABLES:
        if _table(statement) != "vectors":
            sql.execute(statement)
    sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    sql.execute("INSERT INTO meta VALUES ('generation', '0'), ('unswept', 'true')")
    sql.execute("COMMIT")
    return True


class Kept:
    """Vectors of the index before, which are looked at before they are used again."""

    def __init__(self, catalog: Catalog, encoder: Encoder) -> None:
        self._catalog = catalog
        self._encoder = encoder
        self._asked = 0
        self._believed = True

    def among(self, texts: Mapping[bytes, str]) -> set[bytes]:
        """The keys of `texts` whose vectors are there, whole, and as the encoder makes them."""
        keys = list(texts)
        found: set[bytes] = set()
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500] if self._believed else []
            marks = ",".join("?" * len(part))
            rows = self._catalog.connection.execute(
                f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part
            )
            sound = {key: vector for key, vector in rows if self._is_whole(vector)}
            self._compare(texts, sound)
            found |= sound.keys()
        return found if self._believed else set()

    def _is_whole(self, vector: bytes) -> bool:
        if len(vector) != 4 * self._encoder.identity.dimension:
            return False
        return bool(abs(np.linalg.norm(np.frombuffer(vector, "<f4")) - 1) < UNIT)  # nor NaN

    def _compare(self, texts: Mapping[bytes, str], sound: Mapping[bytes, bytes]) -> None:
        """The first few are encoded again. One that differs, and none is believed."""
        some = list(sound)[: max(0, SAMPLE - self._asked)]
        if not some:
            return
        self._asked += len(some)
        anew = self._encoder.encode([texts[key] for key in some])
        before = np.stack([np.frombuffer(sound[key], "<f4") for key in some])
        self._believed = bool(((anew * before).sum(axis=1) > SAME).all())


def _table(statement: str) -> str:
    """The table that a statement of TABLES makes, or makes an index of."""
    found = _MADE.match(statement)
    assert found is not None, statement
    return found[2] or found[1]


def _temporary(statement: str) -> str:
    if " INDEX " in statement.partition("(")[0]:
        return statement.replace(" INDEX ", " INDEX temp.", 1)
    return statement.replace("CREATE TABLE ", "CREATE TEMP TABLE ", 1)
