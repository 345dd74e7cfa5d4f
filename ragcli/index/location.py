"""Where an index lies, and the files within it."""

from __future__ import annotations

from pathlib import Path

from ragcli.errors import IndexMissing
from ragcli.paths import INDEX_DIR, shown

CATALOG = "catalog.sqlite"
GENERATIONS = "generations"
LOCK = "writer.lock"
HOLDER = "writer.json"


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


def no_index(index_dir: Path) -> IndexMissing:
    return IndexMissing(f"no index: {shown(index_dir)}", hint="create one: ragcli index PATH")
