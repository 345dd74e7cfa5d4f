"""Putting text together block by block, for formats whose text is not the file itself."""

from __future__ import annotations

import re
import unicodedata

from ragcli.sources.decode import clean
from ragcli.types import Block, BlockKind

_SPACE = re.compile(r"\s+")


class Assembler:
    """Collects inline text and closes it into blocks separated by a blank line.

    Text is composed (NFC); white space is folded except in code. Rows that follow
    each other become one table block, list items one list block, a line each.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._inline: list[str] = []
        self._apart = False
        self.blocks: list[Block] = []

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._length

    def inline(self, text: str, *, keep: bool = False) -> None:
        """Text inside the current block; `keep` leaves its white space alone."""
        self._inline.append(text if keep else _SPACE.sub(" ", text))

    def flush(self, kind: BlockKind, level: int = 0) -> None:
        """Close the inline text into a block of this kind; nothing if there is none."""
        if not self._inline:
            return
        raw = clean("".join(self._inline))
        self._inline.clear()
        text = raw.strip("\n").rstrip() if kind == "code" else _SPACE.sub(" ", raw).strip()
        if text.strip():
            self.block(text, kind, level)

    def row(self, text: str) -> int:
        """One row of a table; the offset it begins at."""
        return self.block(_SPACE.sub(" ", clean(text)).strip(), "table", 0)

    def apart(self) -> int:
        """What comes next joins no row or item before it; an offset before it, after all else."""
        self._apart = True
        return self._length + bool(self.blocks)

    def block(self, text: str, kind: BlockKind, level: int = 0, name: str = "") -> int:
        """A finished block; a row or item right after its like joins it on a line of its own.

        Returns the offset its text begins at. level, name: as of a Block; a block that opens a section joins none.
        """
        text = unicodedata.normalize("NFC", text)
        last = self.blocks[-1] if self.blocks else None
        joins = (
            kind in ("table", "list")
            and not (level or self._apart)
            and last is not None
            and last.kind == kind
        )
        self._apart = False
        if self.blocks:
            self._add("\n" if joins else "\n\n")
        start = at = self._length
        self._add(text)
        if joins and last is not None:
            self.blocks.pop()
            start, level, name = last.start, last.level, last.name
        self.blocks.append(Block(start, self._length, kind, level, name))
        return at

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def finish(self) -> tuple[str, tuple[Block, ...]]:
        """(text, blocks)."""
        return "".join(self._parts), tuple(self.blocks)


def settled(places: list[tuple[int, str]], text: str) -> tuple[tuple[int, str], ...]:
    """Places in strictly ascending order inside the text: the last of those at one offset."""
    return tuple((at, label) for at, label in dict(places).items() if at < len(text))
