"""XLSX: rows with their header, values as their cells show them.

Read from the XML, streamed row by row: openpyxl refuses strict and slightly wrong
files, keeps all strings and styles as objects, and does not apply number formats. It
is the second reader in the tests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.decode import clean
from ragcli.sources.drawingml import chart_rows, chart_title, texts
from ragcli.sources.number_format import built_in, show
from ragcli.sources.ooxml import (
    MIB,
    Package,
    attribute,
    child,
    core_title,
    local,
    main_part,
)
from ragcli.sources.sheets import Sheets
from ragcli.sources.tables import Row, fold
from ragcli.types import Extracted

_MOST_STRINGS = 4_000_000
_MOST_STRINGS_TEXT = 200_000_000  # characters
_MOST_CELLS = 16_384  # of a row: the format's own limit
_MOST_CELL = 40_000  # characters; the format allows 32,767
_MOST_SEARCHED = 256 * MIB  # of a sheet's XML, for what is merged in it
_MOST_MERGED = 20_000
_MERGED = re.compile(
    rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,200}?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_REFERENCE = re.compile(r"([A-Za-z]{1,3})(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_STATES = {"hidden": "hidden", "veryHidden": "hidden"}


@dataclass(slots=True)
class _Book:
    """What the cells of all sheets refer to, and formulas that have no saved value."""

    package: Package
    strings: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    from_1904: bool = False
    unsaved: int = 0
    lost: int = 0
    missing: list[str] = field(default_factory=list)


def _rich(element: Any) -> str:
    """Text of a string item, without its phonetic guide."""
    parts: list[str] = []
    for one in element:
        name = local(one)
        if name == "t":
            parts.append(one.text or "")
        elif name == "r":
            found = child(one, "t")
            parts.append((found.text or "") if found is not None else "")
    text = "".join(parts)
    return _ESCAPED.sub(_unescaped, text) if "_x" in text else text


def _unescaped(match: re.Match[str]) -> str:
    code = int(match.group(1), 16)
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)


def _strings(package: Package, part: str, missing: list[str]) -> list[str]:
    """The shared strings, up to where they are damaged. Raises SourceError for too many."""
    found: list[str] = []
    left = _MOST_STRINGS_TEXT
    try:
        for _, item in package.stream(part, "si"):
            found.append(_rich(item))
            left -= len(found[-1])
            if len(found) > _MOST_STRINGS or left < 0:
                raise SourceError("too much text in the shared strings (a bomb?)")
    except SourceError as error:
        if not error.message.startswith("damaged"):
            raise
        missing.append(f"shared strings: {error.message}")
    return found


def _formats(root: Any) -> list[str]:
    """The number format of each cell style."""
    codes: dict[str, str] = {}
    own = child(root, "numFmts")
    for one in own if own is not None else ():
        codes[attribute(one, "numFmtId")] = attribute(one, "formatCode")
    styles = child(root, "cellXfs")
    found: list[str] = []
    for one in styles if styles is not None else ():
        number = attribute(one, "numFmtId")
        found.append(codes.get(number) or built_in(int(number) if number.isdigit() else 0))
    return found


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def _number(text: str, code: str, book: _Book) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    return show(value, code, from_1904=book.from_1904) if math.isfinite(value) else text


def _value(cell: Any, book: _Book) -> str:
    """What a cell shows, "" for an empty one."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = child(cell, "is")
        return _rich(inline) if inline is not None else ""
    found = child(cell, "v")
    text = (found.text or "") if found is not None else ""
    if not text:
        book.unsaved += child(cell, "f") is not None and kind != "str"
        return ""
    if kind == "s":
        at = int(text) if text.isdecimal() and len(text) < 10 else len(book.strings)
        book.lost += at >= len(book.strings)
        return book.strings[at] if at < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if text.strip() == "1" else "FALSE"
    if kind == "n":
        style = cell.get("s", "")
        at = int(style) if style.isdecimal() and len(style) < 7 else len(book.formats)
        return _number(text, book.formats[at] if at < len(book.formats) else "General", book)
    return text.removesuffix("T00:00:00") if kind == "d" else text


def _cells(row: Any, book: _Book) -> dict[int, str]:
    cells: dict[int, str] = {}
    column = -1
    for cell in row:
        column += 1
        if not len(cell):
            continue  # quickly: sheets hold millions of cells that only have a colour
        if match := _REFERENCE.fullmatch(cell.get("r", "")):
            column = _column(match.group(1))
        if column < _MOST_CELLS:
            text = fold(clean(_value(cell, book)))[:_MOST_CELL]
            if text:
                cells[column] = text
    return cells


def _rows(book: _Book, part: str) -> Iterator[Row]:
    """Rows with something in them; a cell merged downwards holds for each row."""
    merged = _merged(book.package, part)
    held: dict[int, tuple[int, str]] = {}  # column: (last row, text)
    number = 0
    for _, element in book.package.stream(part, "row", "sheetData"):
        if local(element) == "sheetData":
            return
        given = element.get("r", "")
        number = int(given) if given.isdecimal() and len(given) < 10 else number + 1
        cells = _cells(element, book) if len(element) else {}
        if not cells:
            continue
        for column, (last, text) in held.items():
            if number <= last:
                cells.setdefault(column, text)
        for column, last in merged.get(number, ()):
            if column in cells:
                held[column] = (last, cells[column])
        yield number, cells


def _merged(package: Package, part: str) -> dict[int, list[tuple[int, int]]]:
    """(column, last row) of the cells merged downwards, by their first row."""
    found: dict[int, list[tuple[int, int]]] = {}
    if package.size(part) > _MOST_SEARCHED:
        return found
    before = b""
    count = 0
    for chunk in package.chunks(part):
        data = before + chunk
        if b"mergeCell" in data:
            for match in _MERGED.finditer(data):
                first, last = int(match.group(2)), int(match.group(4))
                if match.group(1) == match.group(3) and last > first:
                    found.setdefault(first, []).append((_column(match.group(1).decode()), last))
                    count += 1
            if count > _MOST_MERGED:
                break
        before = data[-100:]
    return found


def _remarks(sheets: Sheets, name: str, package: Package, part: str) -> None:
    """Comments, text boxes and charts of a sheet."""
    for kind, target in package.relations(part).values():
        if kind == "comments" and target in package:
            for comment in package.xml(target).iter("{*}comment"):
                cell, body = attribute(comment, "ref"), child(comment, "text")
                if body is not None and (text := _rich(body).strip()):
                    sheets.remark(name, f"Comment on {cell}: {clean(text)}", cell)
        elif kind == "drawing" and target in package:
            for text in texts(package.xml(target)):
                sheets.remark(name, clean(text))
            for below, chart in package.relations(target).values():
                if below == "chart" and chart in package:
                    _chart(sheets, name, package.xml(chart))


def _chart(sheets: Sheets, name: str, root: Any) -> None:
    """Titles only: the data is in the cells, unless they are in another file."""
    if title := chart_title(root):
        sheets.remark(name, f"Chart: {clean(title)}")
    external = next(root.iter("{*}externalData"), None)
    for row in chart_rows(root) if external is not None else ():
        sheets.remark(name, clean(row))


def _sheet(sheets: Sheets, book: _Book, name: str, part: str) -> None:
    """One sheet; damage costs what comes after it."""
    sheets.sheet(name, _rows(book, part))
    try:
        _remarks(sheets, name, book.package, part)
    except SourceError as error:
        sheets.missing.append(f"comments of sheet {name}: {error.message}")


def _open(package: Package, main: str) -> tuple[_Book, list[tuple[str, str, str]]]:
    """(the book, (name, part, state) of each sheet that has cells)."""
    root = package.xml(main)
    relations = package.relations(main)
    book = _Book(package)
    for kind, part in relations.values():
        if kind == "sharedStrings" and part in package:
            book.strings = _strings(package, part, book.missing)
        elif kind == "styles":
            styles = package.spare(part, book.missing, "formats of numbers and dates")
            book.formats = _formats(styles) if styles is not None else []
    properties = child(root, "workbookPr")
    if properties is not None:
        book.from_1904 = attribute(properties, "date1904") in ("1", "true")
    sheets: list[tuple[str, str, str]] = []
    for one in root.iter("{*}sheet"):
        kind, part = relations.get(_relation_id(one), ("", ""))
        if kind != "chartsheet":
            name = fold(clean(attribute(one, "name"))) or f"sheet {len(sheets) + 1}"
            sheets.append((name, part, attribute(one, "state")))
    return book, sheets


def _relation_id(element: Any) -> str:
    """The r:id, which is not the sheet's own id."""
    for key, value in element.items():
        if key.endswith("}id"):
            return str(value)
    return ""


def load_xlsx(data: bytes, ending: str) -> Extracted:
    """Sheets in the order of their tabs, each row a line, hidden sheets too.

    Raises SourceError: password needed, damaged, entities, bomb, no text. Rows beyond
    the limits of `tables`, and what is damaged, are named in `missing`.
    """
    package = Package(data, "XLSX")
    book, found = _open(package, main_part(package, "xl/workbook.xml"))
    sheets = Sheets()
    sheets.missing += book.missing
    for name, part, _ in found:
        if part in package:
            _sheet(sheets, book, name, part)
        else:
            sheets.missing.append(f"sheet {name} is not in the file")
    if book.lost:
        sheets.missing.append(f"the text of {book.lost:,} cells is not in the file")
    if not sheets.out.blocks:
        raise SourceError(sheets.missing[0] if sheets.missing else "no text in it")
    notes = [f"sheet {name} is hidden" for name, _, state in found if state in _STATES]
    if book.unsaved:
        some = "1 formula" if book.unsaved == 1 else f"{book.unsaved:,} formulas"
        notes.append(f"{some} without a saved value left out")
    return sheets.finish("xlsx", core_title(package), tuple(notes))
