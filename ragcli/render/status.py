"""What an index holds, for people and as `ragcli/status@1`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcli.index.freshness import Freshness
from ragcli.index.records import FileRecord
from ragcli.index.status import IndexStatus
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Printer, clean, columns, count, path_text, size
from ragcli.types import FileStatus

_STYLE = {
    FileStatus.FAILED: "bad",
    FileStatus.PARTIAL: "risk",
    FileStatus.SKIPPED: "dim",
    FileStatus.INDEXED: "good",
}


GROUPS = 20  # reasons named without --files
NAMED = 3  # files named after a number
SEARCH = {"flat": "flat (exact)"}


@dataclass(frozen=True, slots=True)
class View:
    """An index's status, every file of it, and what changed since."""

    status: IndexStatus
    freshness: Freshness
    files: Sequence[FileRecord]
    listed: bool = False  # every file is asked for


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
        "changes": {
            "new": len(view.freshness.new),
            "changed": len(view.freshness.changed),
            "deleted": len(view.freshness.deleted),
            "unsure": view.freshness.unsure,
        },
        "new": [path_fields(path) for path in view.freshness.new],
        "stale": [path_fields(path) for path in _stale(view)],
    }
    if view.listed:
        stale = set(_stale(view))
        document["files"] = [_file(one, stale) for one in view.files]
    return document


def _stale(view: View) -> list[Path]:
    """What is no longer as it was read."""
    return sorted((*view.freshness.changed, *view.freshness.deleted))


def _file(one: FileRecord, stale: set[Path]) -> Json:
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
        "stale": one.path in stale,
    }


def print_status(printer: Printer, view: View) -> None:
    """The numbers, then what could not be read by its reason, or all files if asked for."""
    columns(printer, _rows(view), styles=("dim",))
    if view.listed:
        stale = set(_stale(view))
        for one in view.files:
            _print_file(printer, one, one.path in stale)
        return
    for status in (FileStatus.FAILED, FileStatus.PARTIAL, FileStatus.SKIPPED):
        _print_reasons(printer, status, [one for one in view.files if one.status is status])


def _rows(view: View) -> list[list[str]]:
    status = view.status
    files = ", ".join(f"{status.files[one]:,} {one.value}" for one in FileStatus
                      if status.files.get(one))  # fmt: skip
    return [
        ["index", path_text(status.index_dir.absolute())],
        ["folders", _named([path_text(root) for root in status.roots]) or "none"],
        ["files", files or "none"],
        ["types", _counts(status.kinds)],
        ["languages", _counts(status.languages)],
        ["passages", f"{status.passages:,}"],
        ["encoder", _encoder(status.encoder)],
        ["search", SEARCH.get(status.dense_tier, status.dense_tier)],
        ["size", size(status.size_bytes)],
        ["updated", f"{status.updated or 'never'} (generation {status.generation})"],
        ["since", _changes(view.freshness)],
    ]


def _encoder(encoder: Mapping[str, Any]) -> str:
    name = clean(str(encoder.get("name", "")))
    precision = clean(str(encoder.get("precision", "")))
    about = f"{encoder.get('dimension')} components{', ' if precision else ''}{precision}"
    return f"{name} ({about})" if name else "none yet"


def _counts(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{clean(name) or 'unknown'} {number:,}" for name, number in ranked) or "-"


def _changes(fresh: Freshness) -> str:
    if fresh.is_fresh:
        return "nothing changed"
    kinds = (("new", fresh.new), ("changed", fresh.changed), ("deleted", fresh.deleted))
    said = [
        f"{len(paths):,} {name} ({_named([path_text(path) for path in paths])})"
        for name, paths in kinds
        if paths
    ]
    if fresh.unsure:
        said.append(f"{fresh.unsure:,} not compared")
    return ", ".join(said) + "; `ragcli index` brings them up to date"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")


def _print_reasons(printer: Printer, status: FileStatus, files: Sequence[FileRecord]) -> None:
    """A line a file while they are few, else a line a reason."""
    if status is not FileStatus.SKIPPED and len(files) <= GROUPS:
        for one in files:
            _print_file(printer, one, False)
        return
    groups: dict[str, list[FileRecord]] = {}
    for one in files:
        groups.setdefault(clean(one.reason) or "no reason given", []).append(one)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for reason, same in ranked[:GROUPS]:
        names = _named([path_text(one.path) for one in same])
        printer.line(
            (f"{status.value:<7}", _STYLE[status]), f"  {count(len(same), 'file')}: {reason} (",
            (names, "path"), ")", hang=4,
        )  # fmt: skip
    if len(ranked) > GROUPS:
        more = sum(len(same) for _, same in ranked[GROUPS:])
        printer.line(f"{status.value:<7}  {count(more, 'file')} more; --files lists all")


def _print_file(printer: Printer, one: FileRecord, stale: bool) -> None:
    said = [clean(one.reason)] if one.reason else []
    said += [clean(note) for note in one.notes]
    if one.document is not None:
        said.insert(0, f"{one.kind}, {count(one.passages, 'passage')}")
    said += ["changed or gone since"] if stale else []
    printer.line(
        (f"{one.status.value:<7}", _STYLE[one.status]), "  ", (path_text(one.path), "path"),
        f": {'; '.join(said) or 'no reason given'}", hang=4,
    )  # fmt: skip


def unread(files: Iterable[FileRecord]) -> list[FileRecord]:
    """The files of which something could not be read."""
    wanted: set[Any] = {FileStatus.FAILED, FileStatus.PARTIAL}
    return [one for one in files if one.status in wanted]
