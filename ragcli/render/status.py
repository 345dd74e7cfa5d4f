"""What an index holds, for people and as `ragcli/status@1`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragcli.index.records import FileRecord
from ragcli.index.status import IndexStatus
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Printer, clean, columns, count, path_text, size
from ragcli.types import Document, FileStatus

_STYLE = {
    FileStatus.FAILED: "bad",
    FileStatus.PARTIAL: "risk",
    FileStatus.SKIPPED: "dim",
    FileStatus.INDEXED: "good",
}


@dataclass(frozen=True, slots=True)
class View:
    """An index's status. stale: documents whose file changed or is gone since.

    files: every file, None where they were not asked for.
    """

    status: IndexStatus
    stale: Sequence[Document]
    files: Sequence[FileRecord] | None = None
    unread: Sequence[FileRecord] = ()  # failed ones and those with pages that gave no text


def status_document(view: View) -> Json:
    """`ragcli/status@1`; `files` is there only where it was asked for."""
    status = view.status
    document: Json = {
        "schema": "ragcli/status@1",
        **path_fields(status.index_dir.absolute(), "index"),
        "generation": status.generation,
        "updated": status.updated,
        "roots": [path_fields(root) for root in status.roots],
        "counts": {one.value: status.files.get(one.value, 0) for one in FileStatus},
        "types": dict(status.kinds),
        "languages": dict(status.languages),
        "passages": status.passages,
        "vectors": status.vectors,
        "size_bytes": status.size_bytes,
        "encoder": dict(status.encoder),
        "analyzer": status.analyzer,
        "chunking": status.chunking,
        "index_schema": status.schema,
        "dense_tier": status.dense_tier,
        "stale": [path_fields(one.path) for one in view.stale],
    }
    if view.files is not None:
        stale = {one.id for one in view.stale}
        document["files"] = [_file(one, stale) for one in view.files]
    return document


def _file(one: FileRecord, stale: set[int]) -> Json:
    return {
        **path_fields(one.path),
        "relative": path_fields(one.relative)["path"],
        "status": one.status.value,
        "reason": one.reason,
        "type": one.kind,
        "size": one.size,
        "passages": one.passages,
        "pages": len(one.page_starts) or None,
        "missing_pages": list(one.missing_pages),
        "notes": list(one.notes),
        "sha256": one.document.sha256 if one.document else "",
        "language": one.document.language if one.document else "",
        "stale": one.document is not None and one.document.id in stale,
    }


def print_status(printer: Printer, view: View) -> None:
    """The numbers, then files that could not be read, then all files if asked for."""
    columns(printer, _rows(view), styles=("dim",))
    if view.files is None:
        for one in view.unread:
            _print_file(printer, one, set())
        return
    stale = {one.id for one in view.stale}
    for one in view.files:
        _print_file(printer, one, stale)


def _rows(view: View) -> list[list[str]]:
    status = view.status
    files = ", ".join(f"{status.files[one]:,} {one.value}" for one in FileStatus
                      if status.files.get(one))  # fmt: skip
    encoder = status.encoder.get("name", "")
    return [
        ["index", path_text(status.index_dir.absolute())],
        ["folders", ", ".join(path_text(root) for root in status.roots) or "none"],
        ["files", files or "none"],
        ["types", _counts(status.kinds)],
        ["languages", _counts(status.languages)],
        ["passages", f"{status.passages:,}"],
        ["encoder", clean(str(encoder)) or "none yet"],
        ["size", size(status.size_bytes)],
        ["updated", f"{status.updated or 'never'} (generation {status.generation})"],
        ["stale", _stale(view.stale)],
    ]


def _counts(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{clean(name) or 'unknown'} {number:,}" for name, number in ranked) or "-"


def _stale(stale: Sequence[Document]) -> str:
    if not stale:
        return "nothing"
    names = ", ".join(path_text(one.path) for one in stale[:5])
    more = ", …" if len(stale) > 5 else ""
    return f"{count(len(stale), 'file')} changed or gone since: {names}{more}"


def _print_file(printer: Printer, one: FileRecord, stale: set[int]) -> None:
    said = [clean(one.reason)] if one.reason else []
    said += [clean(note) for note in one.notes]
    if one.document is not None:
        said.insert(0, f"{one.kind}, {count(one.passages, 'passage')}")
        said += ["changed or gone since"] if one.document.id in stale else []
    printer.line(
        (f"{one.status.value:<7}", _STYLE[one.status]), "  ", (path_text(one.path), "path"),
        f": {'; '.join(said) or 'no reason given'}", hang=4,
    )  # fmt: skip


def unread(files: Iterable[FileRecord]) -> list[FileRecord]:
    """The files of which something could not be read."""
    wanted: set[Any] = {FileStatus.FAILED, FileStatus.PARTIAL}
    return [one for one in files if one.status in wanted]
