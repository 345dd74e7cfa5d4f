"""Running headers, footers and page numbers: lines that stand on page after page. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ragcli.sources.pdf_layout import Line

_EDGE = 2  # lines at the top and at the bottom of a page that may be running ones
_FEWEST = 3  # pages a line must stand on
_SHARE = 0.4  # of the pages with text: left and right pages may differ
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)

_Place = tuple[int, int]  # page, line


def without_running(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without lines that repeat, page numbers apart, at the same height.

    The first of them stays where it holds letters, so that what it says can be found once;
    a bare page number never stays. Three pages at least: two equal lines prove nothing.
    """
    written = sum(bool(lines) for lines in pages)
    seen: dict[str, list[_Place]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for at in _edges(lines):
            seen[_NUMBER.sub("#", lines[at].text.casefold()).strip()].append((page, at))
    dropped: set[_Place] = set()
    for key, places in seen.items():
        level = _level(pages, places)
        if len({page for page, _ in level}) >= max(_FEWEST, _SHARE * written):
            dropped.update(level[1:] if any(map(str.isalpha, key)) else level)
    return [
        [line for at, line in enumerate(lines) if (page, at) not in dropped]
        for page, lines in enumerate(pages)
    ]


def _edges(lines: Sequence[Line]) -> Iterator[int]:
    """Indices of the topmost and bottommost lines, each once."""
    by_height = sorted(range(len(lines)), key=lambda at: -lines[at].y1)
    yield from dict.fromkeys([*by_height[:_EDGE], *by_height[-_EDGE:]])


def _level(pages: Sequence[Sequence[Line]], places: Sequence[_Place]) -> list[_Place]:
    """The places within a line's height of the middle one."""
    heights = sorted(pages[page][at].y0 for page, at in places)
    middle = heights[len(heights) // 2]
    return [
        (page, at)
        for page, at in places
        if abs(pages[page][at].y0 - middle) <= max(pages[page][at].size, 1.0)
    ]
