"""CSV and TSV: a sentence a record, on the line of the file where the record begins.

Parsed by the standard library's csv; how values are separated is found by trying
(csv.Sniffer is slow and often wrong). The text has as many lines as the file, so
that a citation's `line` is the file's line and no other place is needed.
"""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ragcli.sources.decode import decode
from ragcli.sources.plain import load_text, notes
from ragcli.sources.tables import MOST_ROWS, MOST_TEXT, Piece, Row, fold, table_pieces
from ragcli.types import Block, Extracted

_DELIMITERS = ",;\t|"
_TRIED = 200  # records that decide
_TRIED_TEXT = 200_000  # characters of the file they may take
_REGULAR = 0.7  # of the records must have the same number of values, or
_RAGGED = 0.3  # where no blanks follow the delimiters
_MOST_LINES = 500  # of a record; more is a quote that was never closed
_LARGEST = 1 << 20  # characters of a value, likewise
_MOST_VALUES = 20_000  # of a record
_LONGEST_LINE = 8 << 20  # characters
_WORDS = 2  # in a part of a sentence
_SHORT_LINE = 60  # characters on average, where each line is a value


@dataclass(frozen=True, slots=True)
class Dialect:
    """How values are separated, and whether quotes mean something."""

    delimiter: str
    quoted: bool = True


class _Unbalanced(Exception):
    """A record goes on and on: a quote was not closed."""


def _records(lines: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """(line of the file it begins on, values) of each record. Raises _Unbalanced."""
    csv.field_size_limit(_LARGEST)
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        skipinitialspace=dialect.delimiter != "\t",
    )
    before = 0
    while True:
        try:
            values = next(reader, None)
        except csv.Error as error:
            raise _Unbalanced from error
        if values is None:
            return
        if reader.line_num - before > _MOST_LINES:
            raise _Unbalanced
        yield before + 1, values
        before = reader.line_num


def _regularity(text: str, delimiter: str) -> tuple[float, int]:
    """(share of the records with the usual number of values, that number)."""
    try:
        records = islice(_records(text.split("\n"), Dialect(delimiter)), _TRIED)
        counts = Counter(len(values) for _, values in records if any(values))
    except _Unbalanced:
        plain = (line.count(delimiter) + 1 for line in text.split("\n")[:_TRIED] if line.strip())
        counts = Counter(plain)
    counts.pop(1, 0)  # titles and notes
    if not counts:
        return 0.0, 1
    usual, times = counts.most_common(1)[0]
    return times / counts.total(), usual


def find_delimiter(text: str, ending: str = ".csv") -> str:
    """The character between values, "" if the text is no table."""
    sample = text[:_TRIED_TEXT]
    lines = [line for line in sample.split("\n")[:_TRIED] if line.strip()]
    if ending in (".tsv", ".tab") and any("\t" in line for line in lines):
        return "\t"
    best, found = 0.0, ""
    for delimiter in _DELIMITERS:
        share, count = _regularity(sample, delimiter)
        having = sum(delimiter in line for line in lines)
        enough = _REGULAR if _spaced(sample, delimiter) else _RAGGED
        if count < 2 or share < enough or 2 * having < len(lines):
            continue
        score = share * having + min(count, 20) / 1000
        if score > best and not _is_prose(lines, delimiter):
            best, found = score, delimiter
    return found


def _spaced(text: str, delimiter: str) -> bool:
    """Whether a blank mostly follows the delimiter, as it does in prose."""
    blanks = text.count(delimiter + " ") + text.count(delimiter + "\n")
    return 2 * blanks > text.count(delimiter)


def _is_prose(lines: list[str], delimiter: str) -> bool:
    """Whether most lines are sentences that merely hold the delimiter."""
    sentences = sum(
        line.rstrip().endswith((".", "!", "?"))
        and max(len(value.split()) for value in line.split(delimiter)) >= _WORDS
        for line in lines
    )
    return _spaced("\n".join(lines), delimiter) and 2 * sentences > len(lines)


def _is_list(text: str) -> bool:
    """Whether a text without delimiters is one value a line rather than prose."""
    lines = [line for line in text[:_TRIED_TEXT].split("\n")[:_TRIED] if line.strip()]
    ended = sum(line.rstrip().endswith((".", "!", "?", ",")) for line in lines)
    return 4 * ended < len(lines) and sum(map(len, lines)) < _SHORT_LINE * len(lines)


def _rows(records: Iterable[tuple[int, list[str]]]) -> Iterator[Row]:
    for line, values in records:
        cells = {
            column: folded
            for column, value in enumerate(values[:_MOST_VALUES])
            if (folded := fold(value))
        }
        if cells:
            yield line, cells


class _Text:
    """Text whose lines are the file's: each piece stands on the line its record begins on."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.line = 1
        self.blocks: list[Block] = []

    def add(self, piece: Piece) -> None:
        text = unicodedata.normalize("NFC", piece.text)
        down = piece.row - self.line
        gap = "\n" * down if down > 0 else "  " if self.length else ""
        start = self.length + len(gap)
        self.parts += (gap, text)
        self.length = start + len(text)
        self.line = max(self.line, piece.row)
        level, name = (1, text) if piece.title else (0, "")
        last = self.blocks[-1] if self.blocks else None
        if down > 0 and piece.kind == "table" and last is not None and last.kind == "table":
            self.blocks[-1] = Block(last.start, self.length, "table", last.level, last.name)
        else:
            self.blocks.append(Block(start, self.length, piece.kind, level, name))


def _read(lines: list[str], dialect: Dialect) -> tuple[_Text, int]:
    """(the text, the line from which on records were left out or 0)."""
    out = _Text()
    rows = last = 0
    ended = (line + "\n" for line in lines)
    for piece in table_pieces(_rows(_records(ended, dialect)), gap=_MOST_LINES):
        rows += piece.row != last
        last = piece.row
        if rows > MOST_ROWS or out.length > MOST_TEXT:
            return out, piece.row
        out.add(piece)
    return out, 0


def _given(line: str) -> str | None:
    """The delimiter that a first line as spreadsheets write it names: "sep=;"."""
    line = line.strip('" ')
    return line[4:] if len(line) == 5 and line.lower().startswith("sep=") else None


def _attempt(lines: list[str], delimiter: str) -> tuple[_Text, int] | None:
    """`_read` with quotes, else without; None where a line is no record at all."""
    if max(map(len, lines)) > _LONGEST_LINE:
        return None
    for quoted in (True, False):
        try:
            return _read(lines, Dialect(delimiter, quoted))
        except _Unbalanced:
            continue
    return None


def load_csv(data: bytes, ending: str) -> Extracted:
    """Records as "Header: value; Header: value"; prose that is called .csv is read as text.

    What is beyond `MOST_ROWS` or `MOST_TEXT` is left out and named in `missing`.
    """
    decoded = decode(data)
    lines = decoded.text.split("\n")
    if (given := _given(lines[0])) is not None:
        lines[0] = ""
    delimiter = given or find_delimiter(decoded.text, ending)
    result = _attempt(lines, delimiter) if delimiter else None
    if result is None:
        return load_text(data, ".csv" if _is_list(decoded.text) else ".txt")
    out, cut = result
    missing = (f"lines {cut:,}-{len(lines):,} (too many rows)",) if cut else ()
    return Extracted(
        "".join(out.parts), "csv", tuple(out.blocks), notes=notes(decoded), missing=missing
    )
