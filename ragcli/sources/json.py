"""JSON and JSON Lines: readable values, each with its line, or its path where lines say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragcli.sources.decode import clean, decode
from ragcli.sources.json_scan import BrokenJson, Member, Value, scan, unescaped
from ragcli.sources.plain import chunks, notes, text_blocks
from ragcli.text.lines import LineIndex
from ragcli.types import Block, Extracted

LONGEST_LINE = 1000  # characters; a file with longer lines was not laid out to be read
LAID_OUT = 32_000_000  # characters that a file is laid out to at most
_LONG = re.compile(rf"[^\n]{{{LONGEST_LINE + 1},}}")
_SECTIONS = 2  # levels of members that are sections
_ROW = 400  # characters up to which the values of one array share a row
_MANY = 50  # numbers of one array that are read
_NUMBERS = re.compile(r"(?:^[ \t\d.,eE+\-\[\]{}]*\n){20,}", re.MULTILINE)
_BROKEN = "not valid JSON: read as text"


def _own_blocks(source: str, text: str) -> list[Block]:
    """Rows of a file laid out by its writer; members that take lines of their own are sections.

    text: the source with the escapes in its strings resolved, which has the same lines.
    """
    cuts: list[tuple[int, int, str]] = [(1, 0, "")]  # line, level, name
    open_until = 0  # depth of the section that the last cut opened
    lines = LineIndex(source)
    for one in scan(source):
        line = lines.line(one.start)
        if line <= cuts[-1][0]:
            continue
        if isinstance(one, Member) and one.depth <= _SECTIONS:
            cuts.append((line, one.depth, one.name))
            open_until = one.depth
        elif 0 < one.depth <= open_until:
            cuts.append((line, one.depth, ""))
            open_until = one.depth - 1
    blocks: list[Block] = []
    lines = LineIndex(text)
    starts = [lines.start(line) for line, _, _ in cuts]
    for (_, level, name), start, end in zip(cuts, starts, [*starts[1:], len(text)], strict=True):
        for a, b in _without_numbers(text, start, end):
            blocks.append(Block(a, b, "table", level, name))
            level, name = 0, ""
    return blocks


def _without_numbers(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Chunks of a range without long runs of lines of bare numbers (coordinates, weights)."""
    at = start
    for numbers in _NUMBERS.finditer(text, start, end):
        yield from chunks(text, at, numbers.start())
        at = numbers.end()
    yield from chunks(text, at, end)


class _Row:
    """Values that share a row: one, or those of an array that follow each other."""

    def __init__(self) -> None:
        self.key = ""
        self.section = ""
        self.values: list[str] = []
        self.length = self.numbers = 0
        self.array = False

    def takes(self, value: Value) -> bool:
        same = value.in_array and self.array and value.path == self.key
        return same and value.outer == self.section and self.length <= _ROW

    def add(self, value: Value) -> None:
        bare = value.in_array and value.text[:1] in "-0123456789"
        self.numbers = self.numbers + 1 if bare else 0
        if self.numbers > _MANY:
            return  # coordinates, weights: nobody reads them
        self.key, self.section, self.array = value.path, value.outer, value.in_array
        if value.text:
            self.values.append(value.text)
            self.length += len(value.text)

    def text(self) -> str:
        said = ", ".join(self.values)
        return f"{self.key}: {said}" if self.key and said else said

    def clear(self) -> None:
        self.values = []
        self.length = self.numbers = 0


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """(section, row) in order; what was read before the text stops being JSON comes too.

    Raises BrokenJson after the last row.
    """
    row = _Row()
    try:
        for one in scan(text):
            if isinstance(one, Value):
                if row.values and not row.takes(one):
                    yield row.section, row.text()
                    row.clear()
                row.add(one)
    finally:
        last = row.section, row.text()
    if last[1]:
        yield last


def _laid_out(text: str) -> tuple[str, list[Block], list[tuple[int, str]], bool]:
    """(text, blocks, places, whether it is all) of a file without lines: a row a value."""
    rows: list[str] = []
    blocks: list[Block] = []
    places: list[tuple[int, str]] = []
    length = 0
    for section, row in _rows(text):
        if length > LAID_OUT:
            return "\n".join(rows), blocks, places, False
        if not blocks or section != places[-1][1]:
            places.append((length, section))
            blocks.append(Block(length, length, "table", 1, section))
        rows.append(row)
        length += len(row) + 1
        blocks[-1] = Block(blocks[-1].start, length - 1, "table", 1, section)
    return "\n".join(rows), blocks, places, True


def load_json(data: bytes, ending: str) -> Extracted:
    """A file with lines: its own text, the escapes in strings resolved, members as sections.

    One without (minified) is laid out, "path: value" a row, its places the paths. What
    is no JSON, or is cut, is text, and the notes say so.
    """
    decoded = decode(data)
    text, told = decoded.text, notes(decoded)
    try:
        if not _LONG.search(text):
            shown = unescaped(text)
            return Extracted(shown, "json", tuple(_own_blocks(text, shown)), notes=told)
        rows, blocks, places, whole = _laid_out(text)
    except BrokenJson:
        return Extracted(text, "json", tuple(text_blocks(text, "table")), notes=(*told, _BROKEN))
    missing = () if whole else (f"what comes after {LAID_OUT} characters",)
    return Extracted(rows, "json", tuple(blocks), notes=told, places=tuple(places), missing=missing)


def _record(line: str) -> str | None:
    """A record as one row, None where it is none."""
    bare = line.strip()
    if not bare.startswith(("{", "[", '"')):
        return None
    try:
        return " | ".join(row for _, row in _rows(bare) if row)
    except BrokenJson:
        return None


def load_jsonl(data: bytes, ending: str) -> Extracted:
    """A record a line, "key: value | key: value"; line n of the text is record n of the file.

    Lines that are no JSON stay as they are; how many there are is noted.
    """
    decoded = decode(data)
    lines = decoded.text.split("\n")
    broken = 0
    blocks: list[Block] = []
    at = 0
    for number, line in enumerate(lines):
        if line.strip():
            record = _record(line)
            broken += record is None
            lines[number] = shown = line if record is None else record
            if shown.strip():
                blocks.append(Block(at, at + len(shown), "table"))
        at += len(lines[number]) + 1
    told = notes(decoded)
    if broken:
        told += (f"{broken} lines are no JSON: read as text",)
    return Extracted(clean("\n".join(lines)), "jsonl", tuple(blocks), notes=told)
