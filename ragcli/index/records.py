"""Reading the catalog: rows become the frozen records that every layer shares."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable
from ragcli.index.catalog import Catalog, Root
from ragcli.index.packing import unpack_places, unpack_sentences, unpack_text
from ragcli.index.schema import CHUNK, REBUILD, SENTENCE_IDS
from ragcli.types import Document, FileStatus, Passage, Sentence

_FILE = "id, root_id, path, kind, title, sha256, language, status, reason"
_PASSAGE = "id, file_id, start, end, page, line, heading, sentences, places"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of the catalog, whatever became of it. `document` is None if it is not indexed.

    length: code points of the extracted text. missing_pages: pages without text.
    notes: what the loader says of it, one line each.
    """

    path: Path
    relative: str
    status: FileStatus
    reason: str
    size: int
    mtime_ns: int
    kind: str
    length: int
    passages: int
    page_starts: tuple[int, ...]
    missing_pages: tuple[int, ...]
    notes: tuple[str, ...]
    document: Document | None


class Records:
    """Lookups in one snapshot of the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._sql = catalog.connection
        self._roots = catalog.roots()

    def document(self, id: int) -> Document:
        """Raises KeyError if there is none of that id."""
        row = self._sql.execute(f"SELECT {_FILE} FROM files WHERE id = ?", (id,)).fetchone()
        if row is None or (row[7] in _STATUSES and row[7] not in _INDEXED):
            raise KeyError(f"no document {id}")
        return self._document(row)

    def document_at(self, path: Path) -> Document | None:
        """The document of a file, however the path is written."""
        absolute = Path(os.path.realpath(path))
        for candidate in dict.fromkeys((absolute, path.absolute())):
            for root in self._roots.values():
                if candidate.is_relative_to(root.path):
                    found = self._document_under(root, candidate)
                    if found is not None:
                        return found
        return None

    def _document_under(self, root: Root, path: Path) -> Document | None:
        row = self._sql.execute(
            f"SELECT {_FILE} FROM files WHERE root_id = ? AND path = ?",
            (root.id, os.fsencode(path.relative_to(root.path))),
        ).fetchone()
        return self._document(row) if row is not None and row[7] in _INDEXED else None

    def documents(self) -> Iterator[Document]:
        """All documents, by root and path."""
        rows = self._sql.execute(
            f"SELECT {_FILE} FROM files WHERE status IN ('indexed', 'partial') ORDER BY root_id, path"
        )
        return (self._document(row) for row in rows)

    def files(self) -> Iterator[FileRecord]:
        """Every file that was found, by root and path."""
        rows = self._sql.execute(
            f"SELECT {_FILE}, size, mtime_ns, length, details, "
            "(SELECT count(*) FROM passages p WHERE p.file_id = files.id) "
            "FROM files ORDER BY root_id, path"
        )
        for row in rows:
            document = self._document(row)
            size, mtime_ns, length, details, passages = row[9:]
            more = _details(details)
            yield FileRecord(
                path=document.path,
                relative=document.relative,
                status=document.status,
                reason=document.reason,
                size=size,
                mtime_ns=mtime_ns,
                kind=document.kind,
                length=length,
                passages=passages,
                page_starts=tuple(more.get("page_starts", ())),
                missing_pages=tuple(more.get("missing_pages", ())),
                notes=tuple(more.get("notes", ())),
                document=document if document.status in _INDEXED else None,
            )

    def stamp(self, document_id: int) -> tuple[int, int, int]:
        """(size, mtime_ns, ctime_ns) of the file when it was read."""
        row = self._sql.execute(
            "SELECT size, mtime_ns, ctime_ns FROM files WHERE id = ?", (document_id,)
        ).fetchone()
        if row is None:
            raise KeyError(f"no document {document_id}")
        return int(row[0]), int(row[1]), int(row[2])

    def page_starts(self, document_id: int) -> tuple[int, ...]:
        row = self._sql.execute("SELECT details FROM files WHERE id = ?", (document_id,)).fetchone()
        return tuple(_details(row[0]).get("page_starts", ())) if row is not None else ()

    def text(self, document_id: int, start: int = 0, end: int | None = None) -> str:
        """The extracted text between two offsets; only the pieces it touches are read."""
        first = start // CHUNK * CHUNK
        rows = self._sql.execute(
            "SELECT data FROM chunks WHERE file_id = ? AND start >= ? AND start < ? ORDER BY start",
            (document_id, first, 2**62 if end is None else max(end, first + 1)),
        )
        text = "".join(unpack_text(data) for (data,) in rows)
        return text[start - first : None if end is None else end - first]

    def passages(self, document_id: int) -> tuple[Passage, ...]:
        """A document's passages in reading order."""
        rows = self._sql.execute(
            f"SELECT {_PASSAGE} FROM passages WHERE file_id = ? ORDER BY start", (document_id,)
        ).fetchall()
        return tuple(self._passage(row) for row in rows)

    def passage(self, id: int) -> Passage:
        row = self._sql.execute(f"SELECT {_PASSAGE} FROM passages WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise IndexUnusable(f"the catalog has no passage {id}", hint=REBUILD)
        return self._passage(row)

    def places(self, passages: Sequence[int]) -> dict[int, tuple[bytes, int, int]]:
        """(path, start, root) of passages: an order that does not depend on ids."""
        rows = self._sql.execute(
            "SELECT p.id, f.path, p.start, f.root_id FROM passages p JOIN files f ON f.id = p.file_id "
            "WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passages)),),
        )
        found = {id: (path, start, root) for id, path, start, root in rows}
        if len(found) != len(set(passages)):
            raise IndexUnusable("the search files do not fit the catalog", hint=REBUILD)
        return found

    def passage_ids(self, documents: Sequence[int]) -> NDArray[np.int64]:
        """Passages of some documents, int64 (n,), ascending."""
        rows = self._sql.execute(
            "SELECT id FROM passages WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(list(documents)),),
        )
        return np.array([row[0] for row in rows], np.int64)

    def _document(self, row: Sequence[Any]) -> Document:
        id, root, path, kind, title, sha256, language, status, reason = row[:9]
        if root not in self._roots or status not in _STATUSES:
            raise IndexUnusable("the catalog's files are damaged", hint=REBUILD)
        return Document(
            id=id,
            root=self._roots[root].path,
            relative=os.fsdecode(path),
            kind=kind,
            title=title,
            sha256=sha256,
            language=language,
            status=FileStatus(status),
            reason=reason,
        )

    def _passage(self, row: Sequence[Any]) -> Passage:
        id, file, start, end, page, line, heading, packed, labels = row
        text = self.text(file, start, end)
        sentences = []
        rows = unpack_sentences(packed).tolist()
        places = unpack_places(labels, len(rows))
        for ordinal, (s_start, s_end, s_line, s_page, is_heading) in enumerate(rows):
            if not start <= s_start <= s_end <= end:
                raise IndexUnusable("the catalog's sentences are damaged", hint=REBUILD)
            sentences.append(
                Sentence(
                    id=id * SENTENCE_IDS + ordinal,
                    document_id=file,
                    passage_id=id,
                    start=s_start,
                    end=s_end,
                    text=text[s_start - start : s_end - start],
                    page=s_page or None,
                    line=s_line,
                    heading=heading,
                    is_heading=bool(is_heading),
                    place=places[ordinal],
                )
            )
        return Passage(
            id=id,
            document_id=file,
            start=start,
            end=end,
            text=text,
            page=page or None,
            line=line,
            heading=heading,
            sentences=tuple(sentences),
            place=places[0] if places else "",
        )


_STATUSES = frozenset(FileStatus)
_INDEXED = frozenset({FileStatus.INDEXED, FileStatus.PARTIAL})


def _details(packed: str) -> dict[str, Any]:
    try:
        value = json.loads(packed)
    except ValueError as error:
        raise IndexUnusable("the catalog's files are damaged", hint=REBUILD) from error
    return value if isinstance(value, dict) else {}
