"""Methods, decoders and settings, for people and as `ragcli/methods@1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.decoding.options import DECODERS
from ragcli.decoding.settings import Row, describe
from ragcli.methods.bases import BASES
from ragcli.methods.registry import METHODS, SETTINGS, MethodRow
from ragcli.methods.registry import describe as describe_method
from ragcli.methods.selecting import SELECTORS
from ragcli.render.json import Json
from ragcli.render.terminal import Printer, columns


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Methods and the settings that act on them. decoder: the one asked for by name, or ""."""

    methods: tuple[MethodRow, ...]
    settings: tuple[Row, ...]
    decoder: str = ""


def catalogue(name: str | None = None) -> Catalogue:
    """Everything, or the method or decoder `name` and its settings. Raises UsageError."""
    if name in DECODERS and name not in METHODS:
        namespace = DECODERS[name].options.namespace
        rows = (row for row in describe(SETTINGS) if row.key.partition(".")[0] == namespace)
        return Catalogue((), tuple(rows), name)
    if name is not None:
        one = describe_method(name)
        return Catalogue((one,), one.settings)
    return Catalogue(tuple(describe_method(each) for each in METHODS), tuple(describe(SETTINGS)))


def methods_document(shown: Catalogue) -> Json:
    """`ragcli/methods@1`."""
    return {
        "schema": "ragcli/methods@1",
        "methods": [
            {
                "name": one.name,
                "summary": one.summary,
                "source": one.source,
                "decode": one.decode,
                "stages": dict(one.stages),
                "settings": [row.key for row in one.settings],
            }
            for one in shown.methods
        ],
        "bases": [{"name": one.name, "summary": one.summary} for one in BASES.values()],
        "selectors": [{"name": one.name, "summary": one.summary} for one in SELECTORS.values()],
        "decoders": [{"name": one.name, "summary": one.summary} for one in DECODERS.values()],
        "settings": [
            {"key": row.key, "default": row.default, "allowed": row.allowed, "doc": row.doc,
             "source": row.source} for row in shown.settings
        ],
    }  # fmt: skip


def print_methods(printer: Printer, shown: Catalogue) -> None:
    """All methods, decoders and settings."""
    printer.line(("methods", "heading"), "  --method NAME")
    columns(printer, [[f"  {one.name}", one.summary] for one in shown.methods], styles=("number",))
    printer.blank()
    printer.line(("bases", "heading"), "  --base NAME")
    bases = [[f"  {one.name}", one.summary] for one in BASES.values()]
    columns(printer, bases, styles=("number",))
    printer.blank()
    printer.line(("selectors", "heading"), "  --select NAME")
    picks = [[f"  {one.name}", one.summary] for one in SELECTORS.values()]
    columns(printer, picks, styles=("number",))
    printer.blank()
    printer.line(("decoders", "heading"), "  --decode NAME")
    rows = [[f"  {one.name}", one.summary] for one in DECODERS.values()]
    columns(printer, rows, styles=("number",))
    printer.blank()
    _print_settings(printer, shown.settings)


def print_method(printer: Printer, shown: Catalogue) -> None:
    """One method: its stages, where it comes from, its settings. Or a decoder and its settings."""
    if shown.decoder:
        printer.line((shown.decoder, "number"), f"  {DECODERS[shown.decoder].summary} (--decode)")
    for one in shown.methods:
        printer.line((one.name, "number"), f"  {one.summary}")
        stages = [[f"  {stage}", made] for stage, made in one.stages.items()]
        columns(
            printer,
            [["  source", one.source], ["  decoder", one.decode], *stages],
            styles=("dim",),
        )
    printer.blank()
    _print_settings(printer, shown.settings)


def _print_settings(printer: Printer, rows: Sequence[Row]) -> None:
    printer.line(("settings", "heading"), "  --set KEY=VALUE")
    table = [
        [f"  {row.key}", row.default, f"{row.doc} ({row.allowed}; {row.source})"] for row in rows
    ]
    columns(printer, table, styles=("number", "good"))
