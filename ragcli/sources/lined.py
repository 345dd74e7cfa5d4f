"""A text by its lines, for loaders whose text is the file's own."""

from __future__ import annotations

from collections.abc import Iterator

from ragcli.types import Block, BlockKind


class Lined:
    """`lines` without their ends; `blocks` collects what a scanner finds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts: list[int] = []
        at = 0
        for line in self.lines:
            self.starts.append(at)
            at += len(line) + 1
        self.blocks: list[Block] = []

    def __len__(self) -> int:
        return len(self.lines)

    def bare(self, at: int) -> str:
        """Line `at` without white space round it; "" beyond the end."""
        return self.lines[at].strip() if at < len(self.lines) else ""

    def indent(self, at: int) -> int:
        """Columns before the first sign of line `at`; 0 for a blank line."""
        line = self.lines[at]
        kept = line.lstrip()
        return len(line[: len(line) - len(kept)].expandtabs(8)) if kept else 0

    def block(self, first: int, after: int, kind: BlockKind, level: int = 0) -> None:
        """Lines `first` to before `after` as a block, its indent kept; none if all are blank."""
        if first < after:
            end = self.starts[after - 1] + len(self.lines[after - 1])
            self.span(self.starts[first], end, kind, level, keep=True)

    def span(
        self, start: int, end: int, kind: BlockKind, level: int = 0, *, keep: bool = False
    ) -> None:
        """Characters `start` to before `end` as a block, without the white space round them.

        keep: the first line keeps its indent.
        """
        raw = self.text[start:end]
        left = raw.lstrip("\n") if keep else raw.lstrip()
        if keep:
            blank = len(left) - len(left.lstrip())
            left = left[left.rfind("\n", 0, blank) + 1 :]
        begin = start + len(raw) - len(left)
        stop = start + len(raw.rstrip())
        if begin < stop:
            self.blocks.append(Block(begin, stop, kind, level))

    def run(self, first: int, stop: str = "") -> int:
        """The line after the lines from `first` on that are not blank (nor start with `stop`)."""
        at = first
        while at < len(self.lines) and (bare := self.bare(at)):
            if stop and at > first and bare.startswith(stop):
                break
            at += 1
        return at

    def below(self, first: int, indent: int) -> int:
        """The line after the lines from `first` on that are blank or indented by more."""
        at, last = first, first
        while at < len(self.lines):
            if self.lines[at].strip():
                if self.indent(at) <= indent:
                    break
                last = at + 1
            at += 1
        return last

    def shown(self) -> tuple[str, tuple[Block, ...]]:
        """(text, blocks): lines of which nothing is in a block are empty in the text.

        So that nothing left out is searched or shown within a passage round it, and line n
        stays line n of the file. The blocks found must ascend.
        """
        lines: list[str] = []
        blocks: list[Block] = []
        removed, begun, ended = 0, 0, 0  # characters; blocks that began, that ended so far
        for start, line in zip(self.starts, self.lines, strict=True):
            while begun < len(self.blocks) and self.blocks[begun].start < start + len(line):
                one = self.blocks[begun]
                at, end = one.start - removed, one.end - removed
                blocks.append(Block(at, end, one.kind, one.level, one.name))
                begun += 1
            while ended < begun and self.blocks[ended].end <= start:
                ended += 1
            said = ended < begun
            lines.append(line if said else "")
            removed += 0 if said else len(line)
        return "\n".join(lines), tuple(blocks)

    def filled(self, first: int, after: int) -> Iterator[int]:
        """Numbers of the lines in a range that are not blank."""
        return (at for at in range(first, after) if self.lines[at].strip())
