"""ODS: rows with their header, values as their cells show them; streamed row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.decode import clean
from ragcli.sources.odf import cell_text, meta_title, open_package, repeated
from ragcli.sources.ooxml import Package, TooLong, attribute, child, local
from ragcli.sources.sheets import Sheets
from ragcli.sources.tables import Row, fold
from ragcli.types import Extracted

_MOST_COPIES = 50  # of a cell or row that is said to be repeated
_MOST_COLUMNS = 16_384
_MOST_CELL = 40_000  # characters


def _value(cell: Any) -> str:
    text = cell_text(cell)
    if text:
        return text
    for name in ("string-value", "date-value", "time-value", "boolean-value", "value"):
        if found := attribute(cell, name):
            return found
    return ""


def _cells(row: Any, comments: list[tuple[int, str]]) -> dict[int, str]:
    """Text by column; comments are collected as (column, text)."""
    cells: dict[int, str] = {}
    column = 0
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        times = repeated(cell, "columns")
        if (len(cell) or cell.attrib) and column < _MOST_COLUMNS:
            if text := fold(clean(_value(cell)))[:_MOST_CELL]:
                for copy in range(min(times, _MOST_COPIES)):
                    cells[column + copy] = text
            note = child(cell, "annotation")
            if note is not None:
                comments.append(
                    (column, " ".join("".join(p.itertext()) for p in note.iter("{*}p")))
                )
        column += times
    return cells


class _Book:
    """Sheets one after the other from one stream of events."""

    def __init__(self, package: Package) -> None:
        self.events = package.stream(
            "content.xml", "style", "table", "table-row", events=("start", "end")
        )
        self.hidden_styles: set[str] = set()
        self.comments: list[tuple[int, int, str]] = []

    def sheets(self) -> Iterator[tuple[str, bool]]:
        """(name, whether hidden) of the next sheet; then its `rows`."""
        for event, element in self.events:
            name = local(element)
            if name == "style" and event == "end":
                properties = child(element, "table-properties")
                if properties is not None and attribute(properties, "display") == "false":
                    self.hidden_styles.add(attribute(element, "name"))
            elif name == "table" and event == "start":
                hidden = attribute(element, "style-name") in self.hidden_styles
                yield fold(clean(attribute(element, "name"))) or "sheet", hidden

    def rows(self) -> Iterator[Row]:
        """Rows of the current sheet."""
        self.comments.clear()
        number = 1
        for event, element in self.events:
            if event == "start":
                continue
            if local(element) == "table":
                return
            if local(element) == "table-row":
                times = repeated(element, "rows")
                found: list[tuple[int, str]] = []
                cells = _cells(element, found)
                self.comments += [(number, column, text) for column, text in found]
                for copy in range(min(times, _MOST_COPIES) if cells else 0):
                    yield number + copy, cells
                number += times


def _until_damage(book: _Book, sheets: Sheets) -> Iterator[tuple[str, bool]]:
    """The sheets there are; rows that were not taken are passed over."""
    try:
        yield from book.sheets()
    except TooLong:
        sheets.missing.append("sheets that follow (too long)")
    except SourceError as error:
        sheets.missing.append(f"sheets that follow: {error.message}")


def load_ods(data: bytes, ending: str) -> Extracted:
    """As for XLSX. Raises SourceError: password needed, damaged, entities, bomb, no text."""
    package = open_package(data, "ODS")
    book = _Book(package)
    sheets = Sheets()
    notes: list[str] = []
    for name, hidden in _until_damage(book, sheets):
        sheets.sheet(name, book.rows())
        for row, column, text in book.comments:
            sheets.comment(name, row, column, clean(text))
        if hidden:
            notes.append(f"sheet {name} is hidden")
    if not sheets.out.blocks:
        raise SourceError(sheets.missing[0] if sheets.missing else "no text in it")
    return sheets.finish("ods", meta_title(package), tuple(notes))
