"""Org mode: structure from its lines, which are as in the file (their markup stays).

Own scanner, as for Markdown: orgparse knows headlines only, and gives no offsets.
"""

from __future__ import annotations

import re

from ragcli.sources.decode import decode
from ragcli.sources.lined import Lined
from ragcli.sources.plain import notes
from ragcli.types import BlockKind, Extracted

_HEADLINE = re.compile(
    r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED|STARTED|HOLD|COMMENT)[ \t]+)?"
    r"(?:\[#\w\][ \t]+)?(?P<title>\S.*?)?(?:[ \t]+:[\w@#%:]+:)?[ \t]*$"
)
_ANY_HEADLINE = re.compile(r"\*+[ \t]")
_KEYWORD = re.compile(r"\s*#\+(?P<key>\w+):[ \t]*(?P<value>.*)$")
_BEGIN = re.compile(r"\s*#\+begin_(?P<name>\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:[\w-]{1,60}:[ \t]*$")
_PLANNING = re.compile(r"\s*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):\s*[<\[]")
_LIST = re.compile(r"\s*(?:[-+]|\d{1,5}[.)])[ \t]|\s+\*[ \t]")
_CODE = frozenset({"src", "example", "export", "verse"})
_LONGEST = 1000  # characters in a headline


class _Scanner(Lined):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.title = ""
        self.held: int | None = None  # first line of the run being collected
        self.kind: BlockKind = "paragraph"
        self.unclosed: set[str] = set()  # names of blocks that have no end further on
        self.endless = 0  # line before which no drawer ends

    def flush(self, at: int) -> None:
        if self.held is not None:
            self.block(self.held, at, self.kind)
        self.held = None

    def scan(self) -> None:
        at = 0
        while at < len(self):
            after = self._special(at)
            if after:
                at = after
                continue
            kind = self._kind(self.lines[at])
            # An item goes on in lines that look like a paragraph; nothing else does.
            if kind != self.kind and (kind != "paragraph" or self.kind != "list"):
                self.flush(at)
            if self.held is None:
                self.held, self.kind = at, kind
            at += 1
        self.flush(len(self))

    @staticmethod
    def _kind(line: str) -> BlockKind:
        bare = line.lstrip()
        if bare.startswith("|"):
            return "table"
        if bare.startswith(": "):
            return "code"
        return "list" if _LIST.match(line) else "paragraph"

    def _special(self, at: int) -> int:
        """The line after what is no running text, 0 where it is."""
        line = self.lines[at]
        if not line.strip():
            self.flush(at)
            return at + 1
        if line.startswith("*") and len(line) <= _LONGEST and (found := _HEADLINE.match(line)):
            self.flush(at)
            if found.group("title"):
                start = self.starts[at]
                self.span(
                    start + found.start("title"), start + found.end("title"), "heading",
                    len(found.group(1)),
                )  # fmt: skip
            return at + 1
        bare = line.lstrip()
        if bare.startswith("#"):
            return self._hash(at, line, bare)
        if _PLANNING.match(line):
            self.flush(at)
            return at + 1
        return self._drawer(at, line)

    def _hash(self, at: int, line: str, bare: str) -> int:
        """Keywords, blocks, comments."""
        if found := _BEGIN.match(line):
            self.flush(at)
            return self._begin(at, found.group("name").lower())
        if bare.startswith(("# ", "#+")) or bare == "#":
            self.flush(at)
            keyword = _KEYWORD.match(line)
            if keyword and keyword.group("key").lower() == "title" and not self.title:
                self.title = keyword.group("value").strip()
            if keyword and keyword.group("key").lower() == "caption":
                start = self.starts[at]
                self.span(start + keyword.start("value"), start + len(line), "paragraph")
            return at + 1
        return 0

    def _begin(self, at: int, name: str) -> int:
        """The line after a block of code, or a comment; other blocks are read like the rest."""
        if name not in _CODE and name != "comment":
            return at + 1
        closing = f"#+end_{name}"
        after = at + 1 if name not in self.unclosed else len(self)
        while after < len(self) and not self.bare(after).lower().startswith(closing):
            after += 1
        if after == len(self) and name == "comment":
            self.unclosed.add(name)
            return at + 1
        if name in _CODE:
            for first, stop in self._runs(at + 1, after):
                self.block(first, stop, "code")
        return after + 1

    def _runs(self, first: int, after: int) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for at in self.filled(first, after):
            if runs and runs[-1][1] == at:
                runs[-1] = (runs[-1][0], at + 1)
            else:
                runs.append((at, at + 1))
        return runs

    def _drawer(self, at: int, line: str) -> int:
        """The line after a drawer (`:PROPERTIES:` to `:END:`), which nobody reads.

        A headline ends what was no drawer.
        """
        if at < self.endless or not _DRAWER.match(line):
            return 0
        after = at + 1
        while after < len(self) and not _ANY_HEADLINE.match(self.lines[after]):
            if self.bare(after).upper() == ":END:":
                self.flush(at)
                return after + 1
            after += 1
        self.endless = after
        return 0


def load_org(data: bytes, ending: str) -> Extracted:
    """Headlines, paragraphs, lists, tables, blocks.

    Lines of drawers, keywords, planning and comments are empty in the text.
    """
    decoded = decode(data)
    scanner = _Scanner(decoded.text)
    scanner.scan()
    text, blocks = scanner.shown()
    return Extracted(text, "org", blocks, scanner.title, notes=notes(decoded))
