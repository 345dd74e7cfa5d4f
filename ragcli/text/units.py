"""Cutting blocks into units: pieces of text that sentences never cross.

A unit is a hard-wrapped paragraph, a list item, a table row, a line of code, a
line of a log. The work is in telling wrapped prose from lines that stand alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ragcli.text.noise import noise_spans
from ragcli.types import Block, Span

# At a line's end: the paragraph goes on in the next line, whatever that looks like. On a line
# of its own: a line of the file that held nothing but markup, and is no blank line.
# (WORD JOINER: invisible, `readable` drops it.)
FILLER = "\u2060"
_LINE = re.compile(r"[^\n]+")
_MARKER = re.compile(
    r"\s*(?:[-*+•‣◦▪–—·]\s|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]\s|\[[ xX]\]\s|#{1,6}\s)"
)
_HYPHENS = ("-", "\u2010", "\u00ad")
_LEADING_SIGNS = frozenset("[<{(#|$=@:;/\\\"'`~*+-_.,0123456789")
WRAPPED_AT_MOST = 160  # nobody wraps by hand at more columns
_NARROW = 25  # lines below this are verses, columns, lists


def _ends_line(line: str, following: str, width: int) -> bool:
    """Whether a line break inside a paragraph was meant, and not only a wrap.

    A wrap happens where the next word no longer fits; where it would have fitted
    easily, or where both lines start with a sign or digit as in logs, it was meant.
    """
    above, below = line.strip(), following.strip()
    if above.endswith(FILLER):
        return False
    if _MARKER.match(following):
        return True
    if below[0].islower():
        return False
    if above[0] in _LEADING_SIGNS and below[0] in _LEADING_SIGNS:
        return True
    if above.endswith(_HYPHENS):
        return False
    if width > WRAPPED_AT_MOST or width < _NARROW:
        return True
    word = below.split(None, 1)[0]
    return len(above) + 1 + len(word) <= 0.85 * width


def _lines(text: str, start: int, end: int) -> list[Span]:
    """Lines with something on them; a blank line gives an empty span at its place."""
    out: list[Span] = []
    last = start
    for match in _LINE.finditer(text, start, end):
        if out and text.count("\n", last, match.start()) > 1:
            out.append(Span(last, last))
        if match.group().isspace():
            out.append(Span(match.start(), match.start()))
        elif match.group().strip(" \t" + FILLER):
            out.append(Span(*match.span()))
        last = match.end()
    return out


def _paragraph(text: str, lines: list[Span]) -> Iterator[Span]:
    """Units of one run of lines without a blank line."""
    width = max(len(line.of(text).strip()) for line in lines)
    start = lines[0].start
    for line, following in itertools.pairwise(lines):
        if _ends_line(line.of(text), following.of(text), width):
            yield Span(start, line.end)
            start = following.start
    yield Span(start, lines[-1].end)


def _is_rule(line: str, *, in_table: bool) -> bool:
    """Whether a line only rules a table: `|---|:-:|`, `+====+`, `===== ====`.

    in_table: a rule of one piece is one too, which elsewhere may underline a title.
    """
    bare = line.strip(" \t>")
    if not bare or bare.strip("-=+|: \t") or ("-" not in bare and "=" not in bare):
        return False
    pieces = bare.split()
    return (
        in_table
        or "|" in bare
        or bare[0] == "+"
        or (len(pieces) > 1 and all(len(one) > 1 for one in pieces))
    )


def _prose(text: str, block: Block) -> Iterator[Span]:
    run: list[Span] = []
    for line in _lines(text, block.start, block.end):
        if len(line) and not _is_rule(line.of(text), in_table=False):
            run.append(line)
        elif run:
            yield from _paragraph(text, run)
            run = []
    if run:
        yield from _paragraph(text, run)


def _rows(text: str, block: Block) -> Iterator[Span]:
    """One unit a line; lines without a letter or digit (brackets) join the one before.

    Rules of a table are in none.
    """
    current: Span | None = None
    in_table = block.kind == "table"
    for line in _lines(text, block.start, block.end):
        if not len(line) or (in_table and _is_rule(line.of(text), in_table=True)):
            continue
        if current is not None and not any(map(str.isalnum, line.of(text))):
            current = Span(current.start, line.end)
            continue
        if current is not None:
            yield current
        current = line
    if current is not None:
        yield current


def _without_noise(text: str, unit: Span, noise: list[tuple[int, int]]) -> Iterator[Span]:
    start = unit.start
    for at, end in noise:
        if end <= unit.start or at >= unit.end:
            continue
        yield Span(start, max(start, at))
        start = min(end, unit.end)
    yield Span(start, unit.end)


def strip(text: str, span: Span) -> Span:
    """The span without white space at its ends (empty at its start if nothing is left)."""
    raw = span.of(text)
    start = span.start + len(raw) - len(raw.lstrip())
    return Span(start, max(start, span.start + len(raw.rstrip())))


def units(text: str, block: Block) -> Iterator[Span]:
    """Ascending, stripped, non-empty units of a block; noise (see `noise`) belongs to none."""
    if block.kind == "heading":
        parts: Iterator[Span] = iter((Span(block.start, block.end),))
    elif block.kind in ("table", "code"):
        parts = _rows(text, block)
    else:
        parts = _prose(text, block)
    noise = [
        (start + block.start, end + block.start)
        for start, end in noise_spans(text[block.start : block.end])
    ]
    if not noise:
        yield from (unit for part in parts if len(unit := strip(text, part)))
        return
    yield from _denoised(text, list(parts), noise)


def _denoised(text: str, parts: list[Span], noise: list[tuple[int, int]]) -> Iterator[Span]:
    """Units minus noise, both ascending: one pass over each."""
    at = 0
    for part in parts:
        while at < len(noise) and noise[at][1] <= part.start:
            at += 1
        upto = at
        while upto < len(noise) and noise[upto][0] < part.end:
            upto += 1
        for piece in _without_noise(text, part, noise[at:upto]):
            unit = strip(text, piece)
            if len(unit) and any(map(str.isalnum, unit.of(text))):
                yield unit
