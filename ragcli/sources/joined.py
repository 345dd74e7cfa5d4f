"""Several texts made one, each with its own blocks and place, for files of many parts."""

from __future__ import annotations

from collections.abc import Iterable

from ragcli.types import Block


class Joined:
    """Parts are separated by a blank line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.blocks: list[Block] = []
        self.places: list[tuple[int, str]] = []

    def add(self, text: str, blocks: Iterable[Block], place: str = "") -> None:
        """A part with blocks into it; its place, unless that of the part before goes on."""
        if not text.strip():
            return
        if self._parts:
            self._parts.append("\n\n")
            self.length += 2
        at = self.length
        if place != (self.places[-1][1] if self.places else ""):
            self.places.append((at, place))
        self.blocks += [Block(at + b.start, at + b.end, b.kind, b.level, b.name) for b in blocks]
        self._parts.append(text)
        self.length += len(text)

    def text(self) -> str:
        return "".join(self._parts)
