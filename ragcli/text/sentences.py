"""Sentence spans with exact offsets, in linear time. The only import of pysbd.

pysbd decides where it is hard; it is not asked where the answer is plain, because
it reads about 0.3 MB/s, takes time quadratic in its input, and returns strings
that do not always add up to the text. So: blocks are cut into units (`units`),
units at plain boundaries (`boundaries`), and only what is left open goes to pysbd,
at most `PYSBD_LIMIT` characters at a time, its sentences located by search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ragcli.text.boundaries import Boundary, plain_boundaries
from ragcli.text.units import FILLER, strip, units
from ragcli.types import Block, Span

PYSBD_LIMIT = 2000  # characters; pysbd's time is about quadratic beyond
LONGEST = 1000  # characters in a sentence; longer ones are cut
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]")
_SOFT_CUT = re.compile(r".*(?:[;:,、，；]\s*|\s+[-–—]\s+)", re.DOTALL)
_BLANK_CUT = re.compile(r".*\s", re.DOTALL)
# pysbd's own errors on hostile text, seen by fuzzing; the plain rules then stand alone.
_PYSBD_ERRORS = (re.error, ValueError, IndexError, TypeError, AttributeError, RecursionError)


@cache
def _pysbd_language(language: str) -> str:
    from pysbd.languages import LANGUAGE_CODES

    return language if language in LANGUAGE_CODES else "en"


@cache
def _segmenter(language: str) -> Any:
    import pysbd

    return pysbd.Segmenter(language=language, clean=False)


@cache
def _abbreviations(language: str) -> frozenset[str]:
    """pysbd's abbreviations of a language (few languages keep their own list)."""
    from pysbd.languages import LANGUAGE_CODES

    own = getattr(LANGUAGE_CODES[language], "Abbreviation", None)
    return frozenset(map(str.casefold, getattr(own, "ABBREVIATIONS", ())))


def _pysbd_starts(chunk: str, language: str) -> set[int]:
    """Offsets in `chunk` at which pysbd starts a sentence, as far as they can be found."""
    try:
        parts = _segmenter(language).segment(chunk)
    except _PYSBD_ERRORS:
        return set()
    starts: set[int] = set()
    cursor = 0
    for part in parts:
        part = part.strip()
        found = chunk.find(part, cursor) if part else -1
        if found >= 0:
            starts.add(found)
            cursor = found + len(part)
    return starts


def _ask_pysbd(flat: str, open_: list[Boundary], start: int, end: int, language: str) -> list[int]:
    """Which of the open boundaries in flat[start:end] are sentence starts.

    Chunks end at an open boundary where there is one, else at the limit.
    """
    out: list[int] = []
    at, first = start, 0
    while first < len(open_):
        last = first
        while last < len(open_) and open_[last].at - at <= PYSBD_LIMIT:
            last += 1
        whole = end - at <= PYSBD_LIMIT
        if last == first:  # the next open boundary is far away: begin just before it
            at = max(at + 1, open_[first].at - PYSBD_LIMIT // 2)
            continue
        stop = end if whole else at + PYSBD_LIMIT
        starts = _pysbd_starts(flat[at:stop], language)
        out += [b.at for b in open_[first:last] if b.at - at in starts]
        at, first = open_[last - 1].at, last
    return out


def _starts(flat: str, language: str) -> list[int]:
    """Offsets at which the sentences of a unit start, after the first."""
    code = _pysbd_language(language)
    plain, open_ = plain_boundaries(flat, _abbreviations(code), language)
    if not open_:
        return plain
    starts: list[int] = list(plain)
    at = 0
    for begin, end in zip([0, *plain], [*plain, len(flat)], strict=True):
        group: list[Boundary] = []
        while at < len(open_) and open_[at].at < end:
            group.append(open_[at])
            at += 1
        if group:
            starts += _ask_pysbd(flat, group, begin, end, code)
    return sorted(starts)


def _cut_long(text: str, span: Span) -> Iterator[Span]:
    """Pieces of at most `LONGEST`: at a comma or dash in the last half, at a blank, else hard."""
    while len(span) > LONGEST:
        head = text[span.start : span.start + LONGEST]
        cut = 0
        for pattern in (_SOFT_CUT, _BLANK_CUT):
            match = pattern.match(head)
            if match and match.end() >= LONGEST // 2:
                cut = match.end()
                break
        piece = strip(text, Span(span.start, span.start + (cut or LONGEST)))
        yield piece
        span = strip(text, Span(span.start + (cut or LONGEST), span.end))
    yield span


def _sentences(text: str, unit: Span, language: str) -> Iterator[Span]:
    flat = unit.of(text).replace("\n", " ").replace(FILLER, " ")
    cuts = [0, *_starts(flat, language), len(flat)]
    start = cuts[0]
    for end in cuts[1:]:
        piece = flat[start:end].strip()
        if end < len(flat) and (_ENUMERATOR.fullmatch(piece) or not any(map(str.isalnum, piece))):
            continue  # "1." and "..." belong to what follows
        yield from _cut_long(text, strip(text, Span(unit.start + start, unit.start + end)))
        start = end


def split_sentences(text: str, blocks: Sequence[Block], language: str = "en") -> list[Span]:
    """Ascending, disjoint, stripped sentence spans of a text; none crosses a block.

    Every visible character of a block is in a sentence, but for noise (`noise`) and the
    rules of tables. Line ends of wrapped text are no sentence ends; table rows, list
    items, lines of code and of logs are. A heading is one sentence. Sentences have at most `LONGEST`
    characters. No blocks: the whole text is one paragraph block. Unknown languages
    follow English rules. Time is linear in the text.
    """
    blocks = blocks or (Block(0, len(text), "paragraph"),)
    out: list[Span] = []
    for block in blocks:
        for unit in units(text, block):
            if block.kind in ("heading", "code", "table"):
                out += _cut_long(text, unit)
            else:
                out += _sentences(text, unit, language)
    return [span for span in out if len(span)]
