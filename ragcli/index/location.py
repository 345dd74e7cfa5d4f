"""Where an index lies, and the files within it."""

from __future__ import annotations

import stat
from pathlib import Path

from ragcli.errors import IndexMissing, IndexUnusable
from ragcli.paths import INDEX_DIR, shown

CATALOG = "catalog.sqlite"
GENERATIONS = "generations"
LOCK = "writer.lock"
HOLDER = "writer.json"
IGNORE = ".gitignore"
_LOGS = tuple(CATALOG + suffix for suffix in ("-wal", "-shm", "-journal"))
_OWN = (CATALOG, *_LOGS, GENERATIONS, LOCK, HOLDER, IGNORE)


def find_index(start: Path) -> Path | None:
    """The nearest `.ragcli` with a catalog, in `start` or above it."""
    here = start.absolute()
    for folder in (here, *here.parents):
        candidate = folder / INDEX_DIR
        if (candidate / CATALOG).is_file():
            return candidate
    return None


def require_index(index_dir: Path) -> Path:
    """The catalog's path. Raises IndexMissing if that folder holds no index."""
    catalog = index_dir / CATALOG
    if not catalog.is_file():
        raise no_index(index_dir)
    return catalog


def refuse_links(index_dir: Path) -> None:
    """Raises IndexUnusable if writing this index would write elsewhere.

    The folder may have come with somebody else's files: a link in it could lead to any file
    or folder of the user, and what is not ours in `generations/` is removed. `.ragcli` may
    itself be a link only if an index is there already.
    """
    if (
        index_dir.name == INDEX_DIR
        and index_dir.is_symlink()
        and not (index_dir / CATALOG).is_file()
    ):
        raise _link(index_dir)
    for name in _OWN:
        try:
            mode = (index_dir / name).lstat().st_mode
        except FileNotFoundError:
            continue
        if not (stat.S_ISDIR(mode) if name == GENERATIONS else stat.S_ISREG(mode)):
            raise _link(index_dir / name)


def _link(path: Path) -> IndexUnusable:
    return IndexUnusable(
        f"{shown(path)} is a link or no file: nothing is written through it",
        hint="remove it, or name the index's folder: --index DIR",
    )


def no_index(index_dir: Path) -> IndexMissing:
    return IndexMissing(f"no index: {shown(index_dir)}", hint="create one: ragcli index PATH")
