"""Which files of an index hold a given content."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from ragcli.index.catalog import Catalog, translated


def paths_of(index_dir: Path, sha256: str) -> list[Path]:
    """Paths of the files that held this content when they were indexed, by root and path.

    sha256: of the file's bytes, hexadecimal. Reads the catalog alone: no search files, no
    encoder. Raises IndexMissing, IndexUnusable.
    """
    with translated(index_dir), closing(Catalog.open(index_dir)) as catalog:
        roots = catalog.roots()
        rows = catalog.connection.execute(
            "SELECT root_id, path FROM files WHERE sha256 = ? ORDER BY root_id, path", (sha256,)
        ).fetchall()
        return [roots[root].path / os.fsdecode(path) for root, path in rows if root in roots]
