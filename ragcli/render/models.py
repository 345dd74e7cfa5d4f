"""Models for people and for `ragcli/models@1`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from ragcli.errors import ModelError
from ragcli.llm.discover import ModelRef
from ragcli.llm.gguf import GgufInfo, read_info
from ragcli.llm.registry import describe
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Printer, clean, columns, count, size

_UNKNOWN = {
    "title": "", "architecture": "", "quantisation": "", "parameters": None, "size_label": "",
    "context": None, "layers": None, "vocabulary": None, "license": "", "chat_template": None,
}  # fmt: skip


def model_document(ref: ModelRef, *, current: bool, whole: bool = False) -> Json:
    """One model of `ragcli/models@1`; with `whole`, its weights are counted too.

    problem: why a generator cannot be used, "" where nothing is wrong with its header.
    """
    said, problem = dict(_UNKNOWN), ""
    if ref.kind == "generator":
        try:
            said = _said(describe(ref) if whole else read_info(ref.path, whole=False))
        except ModelError as error:
            problem = error.message
    return {
        "name": ref.name,
        "kind": ref.kind,
        "source": ref.source,
        "current": current,
        **path_fields(ref.path),
        "size": ref.size,
        **said,
        "problem": problem,
    }


def _said(info: GgufInfo) -> Json:
    return {
        "title": info.name,
        "architecture": info.architecture,
        "quantisation": info.quantisation,
        "parameters": info.parameters,
        "size_label": info.size_label,
        "context": info.context,
        "layers": info.layers,
        "vocabulary": info.vocabulary,
        "license": info.license,
        "chat_template": info.chat_template,
    }


def print_models(printer: Printer, rows: Sequence[Json]) -> None:
    """Generators, then encoders, a line each; * before the ones in use."""
    for number, kind in enumerate(("generator", "encoder")):
        if number:
            printer.blank()
        printer.line((f"{kind}s", "heading"))
        table = [_row(row) for row in rows if row["kind"] == kind]
        if table:
            columns(printer, table, styles=("good", "number"))
        else:
            printer.line("  none")


def _row(row: Json) -> list[str]:
    form = " ".join(part for part in (row["architecture"], row["quantisation"]) if part)
    return ["*" if row["current"] else " ", clean(row["name"]), size(row["size"]),
            "unusable" if row["problem"] else form or "-", row["size_label"] or "-", row["source"]]  # fmt: skip


def print_model(printer: Printer, row: Json) -> None:
    """Everything known about one model."""
    known: list[tuple[str, Any]] = [
        ("name", clean(row["name"]) + (" (in use)" if row["current"] else "")),
        ("kind", row["kind"]),
        ("source", row["source"]),
        ("path", row["path"]),
        ("size", size(row["size"])),
        ("title", row["title"]),
        ("architecture", row["architecture"]),
        ("quantisation", row["quantisation"]),
        ("parameters", row["parameters"] and f"{row['parameters']:,}"),
        ("context", row["context"] and count(row["context"], "token")),
        ("layers", row["layers"]),
        ("vocabulary", row["vocabulary"] and count(row["vocabulary"], "token")),
        ("licence", row["license"]),
        ("chat template", {True: "yes", False: "no"}.get(row["chat_template"])),
        ("problem", row["problem"]),
    ]
    columns(
        printer,
        [[name, clean(str(value))] for name, value in known if value not in (None, "")],
        styles=("dim",),
    )


@contextmanager
def download_bar(stream: TextIO, name: str, width: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on `stream`; the function it gives takes bytes here and bytes in all."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(file=stream, width=width),
        transient=True,
    )
    with bar:
        task = bar.add_task(clean(name), total=None)
        yield lambda here, total: bar.update(task, completed=here, total=total or None)
