"""Rows of a table as sentences: "Header: value; Header: value". Pure.

A row that is found or cited alone has lost its header; so each row carries it. Wide
rows become several pieces that repeat the row's first cell, and long prose in a cell
becomes a paragraph of its own, so that neither is cut in the middle of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from ragcli.sources.table_header import NONE, SAMPLE, Cells, Header, find_header, is_value
from ragcli.types import BlockKind

MOST_ROWS = 200_000  # of a file, and
MOST_TEXT = 40_000_000  # characters; what is beyond is left out, and said
LONG_CELL = 300  # characters; a longer cell is prose
_NARROW = 180  # characters that any encoder reads at once
_WIDE = 180.0  # estimated tokens of a piece: below what encoders read
_NAME = 60  # characters of a first cell that names its row
_TITLE = 100  # characters of a title above a table, and
_TITLE_ROWS = 3  # rows that stand apart

Row = tuple[int, Cells]  # (number in the sheet or file, its cells)


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of text of a row. `row` and `column` of its first cell; `title` of a table."""

    row: int
    column: int
    text: str
    kind: BlockKind = "table"
    title: bool = False


def fold(text: str) -> str:
    """A cell on one line."""
    return " ".join(text.split())


def _pieces(number: int, cells: Cells, labels: Mapping[int, str]) -> Iterator[Piece]:
    """The text of one row of data."""
    order = sorted(cells)
    first = order[0]
    if not labels and len(order) == 2 and _names(cells[first]):
        yield from _labelled(number, order[1:], cells, {order[1]: cells[first]}, first)
        return
    yield from _labelled(number, order, cells, labels, first)


def _labelled(
    number: int, order: list[int], cells: Cells, labels: Mapping[int, str], first: int
) -> Iterator[Piece]:
    parts: list[str] = []
    narrow = sum(map(len, cells.values())) + sum(map(len, labels.values())) < _NARROW
    length, name, prose = 0.0, "", []
    for column in order:
        text = _with_label(cells[column], labels.get(column, ""))
        if len(cells[column]) > LONG_CELL:
            prose.append(Piece(number, column, text, "paragraph"))
            continue
        cost = 0.0 if narrow else _tokens(text)
        if parts and length + cost > _WIDE:
            yield Piece(number, first, "; ".join(parts))
            parts = [name] if name else []
            length = _tokens(name)
        if column == first and len(text) <= _NAME:
            name = text
        parts.append(text)
        length += cost
    if (parts and parts != [name]) or not prose:
        yield Piece(number, first, "; ".join(parts))
    elif name:
        prose[0] = Piece(number, first, f"{name}; {prose[0].text}", "paragraph")
    yield from prose


def _tokens(text: str) -> float:
    """An estimate from above: words have few, digits, signs and other scripts many."""
    cost = 1.0
    for word in text.split():
        letters = sum(map(str.isalpha, word))
        if letters == len(word.rstrip(":;,.")):
            foreign = 0 if word.isascii() else sum(c > "\u024f" for c in word)
            cost += 1 + 0.4 * (letters - foreign) + foreign
        else:
            cost += 1 + 0.75 * len(word)
    return cost


def _with_label(text: str, label: str) -> str:
    return f"{label}: {text}" if label and label != text else text


def _names(text: str) -> bool:
    return len(text) <= _NAME and not is_value(text)


def _head(rows: list[Row], header: Header) -> Iterator[Piece]:
    """What stands above the data: titles, and the header itself."""
    for at, (number, cells) in enumerate(rows[: header.above + header.rows]):
        column = min(cells)
        if at >= header.above:
            yield from _labelled(number, sorted(cells), cells, {}, column)
        elif len(cells) == 1:
            is_title = len(cells[column]) <= _TITLE
            yield Piece(number, column, cells[column], "paragraph", is_title)
        else:
            yield from _pieces(number, cells, {})


def _segments(rows: Iterator[Row], gap: int) -> Iterator[tuple[list[Row], Iterator[Row]]]:
    """(the first rows, all others) of each run of rows without `gap` empty rows in between."""
    waiting: list[Row] = list(islice(rows, 1))

    def run(last: int) -> Iterator[Row]:
        for row in rows:
            if row[0] - last > gap:
                waiting.append(row)
                return
            last = row[0]
            yield row

    while waiting:
        first = waiting.pop()
        rest = run(first[0])
        sample = [first, *islice(rest, SAMPLE)]
        yield sample, rest
        for _ in rest:  # what the caller did not take
            pass


def table_pieces(rows: Iterable[Row], *, gap: int = 1) -> Iterator[Piece]:
    """The text of a sheet, row by row. Rows are in order and hold at least one cell.

    gap: rows of numbers this far apart or more may begin another table (a sheet may
    hold several), which has the header before unless it clearly has its own.
    """
    header = NONE
    for sample, rest in _segments(iter(rows), gap):
        cells = [row[1] for row in sample]
        found = find_header(cells, strict=header.rows > 0)
        if found.rows:
            header = found
            yield from _head(sample, header)
        elif not _fits(header, cells):
            header = NONE
            if _is_title(cells):
                found = Header(above=1)
                yield from _head(sample, found)
        skip = found.above + found.rows
        for number, one in sample[skip:]:
            yield from _pieces(number, one, header.labels)
        for number, one in rest:
            yield from _pieces(number, one, header.labels)


def _is_title(rows: list[Cells]) -> bool:
    """Whether a few rows that stand apart begin with a title."""
    (first, *_) = rows[0].values()
    return len(rows) <= _TITLE_ROWS and len(rows[0]) == 1 and not is_value(first)


def _fits(header: Header, rows: list[Cells]) -> bool:
    """Whether rows after a gap go on under the same header: most of their cells have a label."""
    cells = [column for row in rows for column in row]
    labelled = sum(column in header.labels for column in cells)
    return any(len(row) > 1 for row in rows) and 2 * labelled > len(cells)
