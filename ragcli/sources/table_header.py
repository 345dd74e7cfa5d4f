"""Where a table's header is, if it has one. Pure.

A header is a row of labels above data. What tells is that columns change their kind
below it (words above numbers); where all is words, that its labels are short, differ,
and do not come again below. Single cells above it are the table's title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LONGEST_LABEL = 80  # characters
SAMPLE = 40  # rows that decide
_DEEPEST = 15  # rows above a header at most
_WORDS_LABEL = 40  # characters of a label in a table of words
_VALUE_SHARE = 0.6  # of a column's cells, from which on it is a column of values

_NUMBER = re.compile(
    r"[(+\-−~<>≤≥±]{0,3}\s?(?:[A-Z]{3}\s?|[$€£¥₹]\s?)?[+\-−]?(?:\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)"
    r"(?:[eE][+\-]?\d+)?\s?(?:%|‰|[$€£¥₹]|[A-Z]{3}|[A-Za-zµ°²³/]{1,5})?\)?"
)
_DATE = re.compile(
    r"\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?(?:[T ,]+\d{1,2}:\d{2}.{0,15})?|\d{1,2}:\d{2}(?::\d{2})?.{0,5}"
)
_FLAGS = frozenset({"true", "false", "yes", "no", "n/a", "na", "null", "none", "-", "–", "✓"})
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+")
_YEAR = re.compile(r"(?:FY|Q[1-4][ /-]?)?(?:1[6-9]|2[01])\d\d(?:[-/ ]?(?:Q[1-4]|\d\d))?")

Cells = Mapping[int, str]  # text by column, counted from 0; empty cells are left out


def is_value(text: str) -> bool:
    """Whether a cell holds a number, date, flag or address rather than words."""
    if len(text) > LONGEST_LABEL:
        return False
    return bool(
        _NUMBER.fullmatch(text)
        or _DATE.fullmatch(text)
        or text.casefold() in _FLAGS
        or _ADDRESS.fullmatch(text)
    )


@dataclass(frozen=True, slots=True)
class Header:
    """`above`: rows before it; `rows`: its own, 0 where there is none; labels by column."""

    above: int = 0
    rows: int = 0
    labels: Mapping[int, str] = field(default_factory=dict)


NONE = Header()


def _years(row: Cells) -> bool:
    """Words, and at least two different years: the header of a table by years."""
    rest = [text for text in row.values() if not _YEAR.fullmatch(text)]
    years = [text for text in row.values() if _YEAR.fullmatch(text)]
    return (
        len(years) >= 2
        and len(set(years)) == len(years)
        and len(rest) <= len(years)
        and not any(map(is_value, rest))
    )


def _value_columns(rows: Sequence[Cells], columns: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for column in columns:
        cells = [row[column] for row in rows if column in row]
        if cells and sum(map(is_value, cells)) >= _VALUE_SHARE * len(cells):
            found.add(column)
    return found


def _plausible_words(row: Cells, below: Sequence[Cells]) -> bool:
    """Whether labels in a table of words only are labels: short, different, not repeated."""
    labels = [text.casefold() for text in row.values()]
    if len(set(labels)) < len(labels) or any(len(text) > _WORDS_LABEL for text in labels):
        return False
    if any(text.endswith((".", "!", "?")) for text in labels):
        return False
    return not any(
        text.casefold() == other.get(column, "").casefold()
        for other in below
        for column, text in row.items()
    )


def _is_header(rows: Sequence[Cells], at: int, strict: bool) -> bool:
    row, below = rows[at], rows[at + 1 :]
    if _years(row):
        columns = [column for column, text in row.items() if _YEAR.fullmatch(text)]
        years = [r[c] for r in below for c in columns if c in r and _YEAR.fullmatch(r[c])]
        return not years and bool(_value_columns(below, columns))
    if len(row) < 2 or any(len(text) > LONGEST_LABEL for text in row.values()):
        return False
    values = _value_columns(below, list(row))
    same = sum(is_value(row[column]) for column in values)
    if len(values) - same > 3 * same:
        return True
    return not strict and not any(map(is_value, row.values())) and _plausible_words(row, below)


def _second(rows: Sequence[Cells], at: int) -> bool:
    """Whether the row under a header belongs to it: more labels, where the first has gaps."""
    if at + 2 >= len(rows):
        return False
    first, second = rows[at], rows[at + 1]
    gaps = [column for column in second if column not in first]
    words = all(not is_value(text) or _YEAR.fullmatch(text) for text in second.values())
    return (
        bool(gaps)
        and words
        and len(second) >= 2
        and bool(_value_columns(rows[at + 2 :], list(second)))
    )


def _joined(first: Cells, second: Cells) -> dict[int, str]:
    """Labels of two rows; a label of the first holds for the gaps to its right."""
    labels = dict(first)
    group = ""
    for column in sorted({*first, *second}):
        group = first.get(column, group)
        if column in second:
            labels[column] = f"{group} {second[column]}".strip()
    return labels


def _tidy(labels: Mapping[int, str]) -> dict[int, str]:
    return {column: text.rstrip(" :")[:LONGEST_LABEL] for column, text in labels.items()}


def find_header(rows: Sequence[Cells], *, strict: bool = False) -> Header:
    """The header of a table that begins with these rows (none of them empty).

    strict: only where columns change their kind, not for tables of words alone.
    """
    rows = rows[:SAMPLE]
    widths = sorted(map(len, rows))
    usual = widths[len(widths) // 2] if widths else 0
    for at in range(min(len(rows) - 1, _DEEPEST)):
        row = rows[at]
        if len(row) < 2 and usual >= 2:
            continue  # a title
        if 2 * len(row) < usual and not _second(rows, at):
            continue  # what stands above a table: date, author
        if _second(rows, at) and all(
            not is_value(text) or _YEAR.fullmatch(text) for text in row.values()
        ):
            return Header(at, 2, _tidy(_joined(row, rows[at + 1])))
        if _is_header(rows, at, strict):
            return Header(at, 1, _tidy(row))
        if 5 * len(row) >= 4 * usual:
            return NONE  # data already
    return NONE
