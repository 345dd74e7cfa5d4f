"""From lines on pages to paragraphs, headings and items. Pure: no PDF library.

Lines come in reading order, as pdfium gives them; columns are not re-ordered here.
Coordinates are in points, y upwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from ragcli.text.normalise import join_hyphenation
from ragcli.types import Block, BlockKind

_TERMINAL = (".", "!", "?", ":", "…", "。", "！", "？", '."', ".”", ".)", "?”", "!”")
_BULLET = re.compile(r"[•‣◦▪■●○–—·∙\uf0b7\uf0a7][^\S\n]|\(?(?:\d{1,2}|[a-z])[.)][^\S\n]")
_NO_BLANK_BEFORE = (",", ".", ";", ":", ")", "]", "!", "?", "’", "”")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*-?\Z")
_HEAD = re.compile(r"[^\W\d_]+")
HEADING_SIZE = 1.15  # of the body's size
_LEADING = 1.6  # of the page's usual line distance: a gap between paragraphs


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one page. `size` in points; `hyphen`: broken inside a word."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool = False
    hyphen: bool = False


@dataclass(slots=True)
class _Paragraph:
    lines: list[Line] = field(default_factory=list)
    glued: list[bool] = field(default_factory=list)  # line i stands beside line i-1


def _same_row(above: Line, below: Line) -> bool:
    """pdfium breaks the line at superscripts; these stand beside what went before."""
    height = min(above.y1 - above.y0, below.y1 - below.y0)
    overlap = min(above.y1, below.y1) - max(above.y0, below.y0)
    return height > 0 and overlap > 0.5 * height and below.x0 >= above.x1 - 0.5 * above.size


def _ends(line: Line) -> bool:
    return line.text.rstrip().endswith(_TERMINAL)


def _similar(a: float, b: float) -> bool:
    return abs(a - b) <= 0.12 * max(a, b)


def _right_edge(line: Line, lines: Sequence[Line]) -> float:
    """Where full lines of the same column and size end (nine in ten end before it)."""
    near = sorted(
        other.x1
        for other in lines
        if abs(other.x0 - line.x0) < 3 * line.size and _similar(other.size, line.size)
    )
    return near[(9 * len(near)) // 10] if near else line.x1


def _centred(above: Line, below: Line) -> bool:
    shift = abs((above.x0 + above.x1) - (below.x0 + below.x1)) / 2
    return shift < above.size and abs(above.x0 - below.x0) > above.size


def _starts_paragraph(above: Line, below: Line, leading: float, right: float) -> bool:
    if above.hyphen:
        return False
    down = above.y0 - below.y0
    size = max(above.size, 1.0)
    flows_on = not _ends(above) and below.text[:1].islower()
    same_font = _similar(above.size, below.size) and above.bold == below.bold
    if down < -size:  # up again: the next column
        return not (flows_on and same_font)
    if not same_font:  # sums of formulas and inline code change the size inside sentences
        return not flows_on
    leading = max(leading, 1.15 * size)
    if down > _LEADING * leading:
        return not flows_on or down > 3 * leading
    if _BULLET.match(below.text):
        return True
    return _ends_early(above, below, right)


def _ends_early(above: Line, below: Line, right: float) -> bool:
    """Whether the form of two near lines says that a paragraph ends between them."""
    if above.text[:1].isdigit() and below.text[:1].isdigit():
        return True  # rows of a table or of a list
    indent = (below.x0 - above.x0) / max(above.size, 1.0)
    if _ends(above):
        return 0.8 < indent < 6 or above.x1 < right - 4 * above.size
    if below.text[:1].islower() or above.text.endswith((",", ";", "(")) or _centred(above, below):
        return False
    return above.x1 < above.x0 + 0.75 * (right - above.x0)


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance between lines of a page."""
    steps = [a.y0 - b.y0 for a, b in pairwise(lines) if 0 < a.y0 - b.y0 < 4 * a.size]
    return median(steps) if steps else 1.2 * (lines[0].size if lines else 10.0)


def _paragraphs(lines: Sequence[Line]) -> list[_Paragraph]:
    leading = _leading(lines)
    edges: dict[int, float] = {}
    out: list[_Paragraph] = []
    for at, line in enumerate(lines):
        above = lines[at - 1] if at else None
        if above is not None and _same_row(above, line):
            out[-1].lines.append(line)
            out[-1].glued.append(True)
            continue
        if above is not None:
            column = round(above.x0 / 10) * 1000 + round(above.size)
            if column not in edges:
                edges[column] = _right_edge(above, lines)
        if above is None or _starts_paragraph(above, line, leading, edges[column]):
            out.append(_Paragraph([line], [False]))
        else:
            out[-1].lines.append(line)
            out[-1].glued.append(False)
    return out


class Words:
    """The words of a document, to decide about hyphens at line ends."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._seen: set[str] = set()
        for line in lines:
            words = _WORD.findall(line.text.casefold())
            self._seen.update(words[:-1] if line.hyphen else words)

    def join(self, left: str, right: str) -> str:
        """`left` ends in the half before a line-end hyphen (not part of it), `right` goes on.

        The whole word decides if the document has it, with or without the hyphen;
        else the rule of `join_hyphenation`.
        """
        tail, head = _TAIL.search(left), _HEAD.match(right)
        if tail is not None and head is not None:
            a, b = tail.group().casefold(), head.group().casefold()
            if f"{a}-{b}" in self._seen and a + b not in self._seen:
                return f"{left}-{right}"
            if a + b in self._seen:
                return left + right
        return join_hyphenation(f"{left}-\n{right}")


def _text(paragraph: _Paragraph, words: Words) -> str:
    out = paragraph.lines[0].text.strip()
    for above, line, glued in zip(
        paragraph.lines, paragraph.lines[1:], paragraph.glued[1:], strict=False
    ):
        piece = line.text.strip()
        if above.hyphen:
            out = words.join(out, piece)
        elif glued and piece.startswith(_NO_BLANK_BEFORE):
            out += piece
        elif out.endswith("-") and len(out) > 1 and out[-2].isalpha() and piece[:1].islower():
            out = words.join(out[:-1], piece)
        else:
            out += " " + piece
    return out


def _body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The size most characters are set in."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _is_heading(paragraph: _Paragraph, body: float) -> bool:
    lines = paragraph.lines
    length = sum(len(line.text) for line in lines)
    if len(lines) > 3 or not 2 <= length <= 200 or not any(map(str.isalpha, lines[0].text)):
        return False
    if any(line.y1 - line.y0 > 3 * line.size for line in lines):
        return False  # set on its side
    if all(line.size >= HEADING_SIZE * body for line in lines):
        return True
    return (
        length <= 100
        and all(line.bold and line.size >= 0.95 * body for line in lines)
        and not lines[-1].text.rstrip().endswith((".", ",", ";"))
    )


def _heading_levels(paragraphs: Iterable[_Paragraph]) -> dict[float, int]:
    """Level of each heading size, biggest first, four at most."""
    sizes = sorted({round(p.lines[0].size * 2) / 2 for p in paragraphs}, reverse=True)
    return {size: min(level, 4) for level, size in enumerate(sizes, 1)}


def _continues(before: str, after: str) -> bool:
    """Whether a paragraph goes on over a page break."""
    return bool(before) and (before[-1].islower() or before[-1] in ",-") and after[:1].islower()


@dataclass(frozen=True, slots=True)
class Laid:
    """Text of all pages; page_starts[i] is where page i+1 begins."""

    text: str
    blocks: tuple[Block, ...]
    page_starts: tuple[int, ...]


def lay_out(pages: Sequence[Sequence[Line]]) -> Laid:
    """Paragraphs de-wrapped to one line each, a blank line between them."""
    body = _body_size(pages)
    words = Words(line for lines in pages for line in lines)
    by_page = [_paragraphs(lines) for lines in pages]
    headings = [p for page in by_page for p in page if _is_heading(p, body)]
    levels = _heading_levels(headings)
    are_headings = set(map(id, headings))
    text: list[str] = []
    length = 0
    blocks: list[Block] = []
    starts: list[int] = []
    for page in by_page:
        starts.append(length + 2 if length and page else length)
        for at, paragraph in enumerate(page):
            piece = _text(paragraph, words)
            kind: BlockKind = "list" if _BULLET.match(piece) else "paragraph"
            level = 0
            if id(paragraph) in are_headings:
                kind, level = "heading", levels[round(paragraph.lines[0].size * 2) / 2]
            joins = at == 0 and blocks and blocks[-1].kind == kind != "heading"
            if joins and _continues(text[-1], piece):
                starts[-1] = length + 1
                text += [" ", piece]
                start = blocks.pop().start
                length += 1
            else:
                gap = "\n\n" if length else ""
                text += [gap, piece]
                length += len(gap)
                start = length
            length += len(piece)
            blocks.append(Block(start, length, kind, level))
    return Laid("".join(text), tuple(blocks), tuple(min(start, length) for start in starts))
