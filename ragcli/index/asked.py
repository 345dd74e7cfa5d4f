"""What an index was asked to hold: the files and folders given to `ragcli index`, by which a
run without arguments goes. A folder of the catalog says less: a file's folder is one too,
though nobody asked for the other files in it.

Kept in the index's settings as [path, is it relative to the folder of the index], so that a
project can be moved with its index.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragcli.errors import IndexUnusable, UsageError
from ragcli.index.catalog import Catalog, connect
from ragcli.index.location import CATALOG
from ragcli.index.scan import known_under
from ragcli.index.schema import APPLICATION_ID, REBUILD
from ragcli.paths import shown

KEY = "asked"


def asked(catalog: Catalog) -> list[Path]:
    """The arguments so far, absolute, oldest first. Raises IndexUnusable where they are damaged."""
    listed = catalog.meta().get(KEY)
    if listed is None:
        return sorted(root.path for root in catalog.roots().values())
    try:
        return _resolved(listed, catalog.index_dir)
    except (TypeError, ValueError) as error:
        raise IndexUnusable("the index's settings are damaged", hint=REBUILD) from error


def known_paths(index_dir: Path, *, rebuild: bool = False) -> list[Path]:
    """Where a run without arguments goes: what the index was asked for and is still there.

    rebuild: also of an index of another version. Raises IndexUnusable, and UsageError where
    the index names nothing.
    """
    try:
        with closing(Catalog.open(index_dir)) as catalog:
            there = still(catalog, asked(catalog))
    except IndexUnusable:
        if not rebuild:
            raise
        there = [path for path in _salvaged(index_dir) if os.path.lexists(path)]
    if not there:
        raise UsageError(
            f"{shown(index_dir)} does not say what to index",
            hint="name it: ragcli index " + ("--rebuild PATH" if rebuild else "PATH"),
        )
    return there


def with_asked(catalog: Catalog, paths: Iterable[Path]) -> list[Any] | None:
    """The list to store after `paths` were asked for; None if it is stored already.

    Left out is what is not there any more, neither on the disk nor in the catalog.
    """
    before = catalog.meta().get(KEY)
    earlier = asked(catalog) if before is not None else []
    every = dict.fromkeys([*earlier, *(Path(os.path.realpath(path)) for path in paths)])
    after = [_stored(path, catalog.index_dir) for path in still(catalog, every)]
    return None if after == before else after


def without(catalog: Catalog, paths: Sequence[Path]) -> list[Any]:
    """The list to store after `paths` were forgotten."""
    rest = [path for path in asked(catalog) if not any(path.is_relative_to(p) for p in paths)]
    return [_stored(path, catalog.index_dir) for path in rest]


def still_asked(index_dir: Path, path: Path) -> Path | None:
    """What a run without arguments goes by and would meet `path` in; None if there is nothing."""
    real = Path(os.path.realpath(path))
    with closing(Catalog.open(index_dir)) as catalog:
        over = (one for one in asked(catalog) if real.is_relative_to(one))
        return next(over, None) if os.path.lexists(real) else None


def still(catalog: Catalog, paths: Iterable[Path]) -> list[Path]:
    """Those that are there, on the disk or in the catalog."""
    return [path for path in paths if os.path.lexists(path) or known_under(catalog, path)]


def _base(index_dir: Path) -> Path:
    return Path(os.path.realpath(index_dir)).parent


def _stored(path: Path, index_dir: Path) -> list[Any]:
    base = _base(index_dir)
    inside = path.is_relative_to(base)
    return [os.fspath(path.relative_to(base) if inside else path), inside]


def _resolved(listed: Any, index_dir: Path) -> list[Path]:
    """Raises TypeError or ValueError for anything but such a list."""
    base = _base(index_dir)
    found = []
    for path, inside in listed:
        if not isinstance(path, str) or "\0" in path or Path(path).is_absolute() == bool(inside):
            raise ValueError(path)
        found.append(base / path if inside else Path(path))
    return found


def _salvaged(index_dir: Path) -> list[Path]:
    """The arguments from a catalog that cannot be used otherwise; empty where that fails."""
    import json

    try:
        with closing(connect(index_dir / CATALOG, "ro")) as sql:
            if sql.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                return []
            row = sql.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
            if row is not None:
                return _resolved(json.loads(row[0]), index_dir)
            roots = sql.execute("SELECT path, relative FROM roots").fetchall()
            return _resolved([(os.fsdecode(path), rel) for path, rel in roots], index_dir)
    except (sqlite3.Error, TypeError, ValueError):
        return []
