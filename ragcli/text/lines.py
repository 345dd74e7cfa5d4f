"""Line numbers of offsets."""

from __future__ import annotations

import re
from bisect import bisect_right


class LineIndex:
    """Maps offsets of one text to 1-based lines; only LF ends a line."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        """The 1-based line that holds the character at `offset`."""
        return max(1, bisect_right(self._starts, offset))

    def start(self, line: int) -> int:
        """Offset of the first character of a 1-based line (clamped to the text's lines)."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1]

    def __len__(self) -> int:
        """How many lines there are (a final LF opens one more, empty, line)."""
        return len(self._starts)
