"""What an index holds, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcli.index.schema import SCHEMA_VERSION
from ragcli.index.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """files: how many of each status. size_bytes: of all files of the index, on disk."""

    index_dir: Path
    generation: int
    schema: int
    updated: str  # UTC, "" before the first commit
    encoder: dict[str, Any]
    analyzer: str
    chunking: str
    roots: tuple[Path, ...]
    files: dict[str, int]
    kinds: dict[str, int]
    languages: dict[str, int]
    passages: int
    vectors: int
    size_bytes: int
    dense_tier: str  # how vectors are searched: "flat" exactly, others approximately
    missing_pages: int  # documents with pages or parts that gave no text


def read_status(snapshot: Snapshot) -> IndexStatus:
    """Counts within the snapshot's transaction."""
    sql, meta = snapshot.catalog.connection, snapshot.meta
    indexed = "FROM files WHERE status IN ('indexed', 'partial') GROUP BY"

    def counted(statement: str) -> dict[str, int]:
        return {str(key): int(n) for key, n in sql.execute(statement)}

    files = counted("SELECT status, count(*) FROM files GROUP BY status ORDER BY status")
    return IndexStatus(
        index_dir=snapshot.catalog.index_dir,
        generation=snapshot.generation,
        schema=SCHEMA_VERSION,
        updated=str(meta.get("updated", "")),
        encoder=dict(meta.get("encoder") or {}),
        analyzer=str(meta.get("analyzer", "")),
        chunking=str(meta.get("chunking", "")),
        roots=tuple(sorted(root.path for root in snapshot.catalog.roots().values())),
        files=files,
        kinds=counted(f"SELECT kind, count(*) {indexed} kind ORDER BY kind"),
        languages=counted(f"SELECT language, count(*) {indexed} language ORDER BY language"),
        passages=int(sql.execute("SELECT count(*) FROM passages").fetchone()[0]),
        vectors=int(sql.execute("SELECT count(*) FROM vectors").fetchone()[0]),
        size_bytes=_size(snapshot.catalog.index_dir),
        dense_tier=snapshot.dense.tier,
        missing_pages=files.get("partial", 0),
    )


def _size(folder: Path) -> int:
    """Bytes of the files below; those a writer removes meanwhile do not count."""
    sizes: dict[tuple[int, int], int] = {}  # by file: generations share some by hard links
    for file in folder.rglob("*"):
        try:
            stat = file.lstat()
            if file.is_file():
                sizes[stat.st_dev, stat.st_ino] = stat.st_size
        except OSError:
            continue
    return sum(sizes.values())
