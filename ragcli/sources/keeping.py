"""Text without its markup whose lines are still those of the file.

For formats with so much markup inside sentences that nobody could read or find them
(LaTeX, man pages): every line of the file gives one line here, without its markup, so
that a line cited is the line to look at.
"""

from __future__ import annotations

from ragcli.sources.plain import chunks
from ragcli.text.units import FILLER
from ragcli.types import Block, BlockKind

_BLANK = " \t\n" + FILLER


class LineKeeper:
    """Collects the text line by line, and the blocks in it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._marks: list[tuple[int, int, BlockKind, int]] = []
        self._from = 0  # where the block being written starts
        self._said = False  # whether this line has a visible sign so far
        self._ended = False  # whether a line end waits for what comes behind it

    def put(self, text: str, *, keep: bool = False) -> None:
        """Text of the current line, without line ends. keep: the line end before it is meant."""
        if not text:
            return
        if self._ended and not text.isspace():
            # Line ends are no breaks here; where they look like one, a filler says so.
            goes_on = keep or text.lstrip()[0].islower()
            self._end_line("" if goes_on else FILLER)
        self._add(text)
        self._said = self._said or not text.isspace()

    def newline(self, blank: bool) -> None:
        """Ends the line. blank: there was nothing on it in the file either.

        A line that had nothing but markup gets a filler, so that the paragraph goes on.
        """
        self._end_line()
        if not self._said and not blank:
            self._add(FILLER)
        self._ended, self._said = True, False

    def _end_line(self, filler: str = "") -> None:
        if self._ended:
            self._ended = False
            self._add(filler + "\n")

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def flush(self, kind: BlockKind = "paragraph", level: int = 0) -> None:
        """What was written since the last flush is one block (of this kind), if anything."""
        self._end_line()
        if self._from < self.length:
            self._marks.append((self._from, self.length, kind, level))
        self._from = self.length

    def finish(self) -> tuple[str, tuple[Block, ...]]:
        """(text, blocks); paragraphs end at blank lines, those that begin with "- " are lists."""
        self.flush()
        text = "".join(self._parts)
        blocks: list[Block] = []
        for start, end, kind, level in self._marks:
            pieces = [(start, end)] if kind == "heading" else chunks(text, start, end)
            for a, b in pieces:
                blocks += self._block(text, a, b, kind, level)
        return text, tuple(blocks)

    @staticmethod
    def _block(text: str, start: int, end: int, kind: BlockKind, level: int) -> list[Block]:
        raw = text[start:end]
        bare = raw.strip(_BLANK)
        if not any(map(str.isalnum, bare)):
            return []
        end = start + len(raw.rstrip(_BLANK))
        left = len(raw) - len(raw.lstrip(_BLANK))
        if kind == "code":
            left = raw.rfind("\n", 0, left) + 1  # its indent stays
        if kind == "paragraph" and bare.startswith(("- ", "• ")):
            kind = "list"
        return [Block(start + left, end, kind, level)]
