"""reStructuredText: structure from its lines, which are as in the file (their markup stays).

Own scanner, as for Markdown: docutils gives nodes without offsets, and lines that are
off inside tables and nested lists; its text is not the file's, and it follows includes.
"""

from __future__ import annotations

import re

from ragcli.sources.decode import decode
from ragcli.sources.lined import Lined
from ragcli.sources.plain import notes
from ragcli.types import BlockKind, Extracted

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")
_DIRECTIVE = re.compile(
    r"\s*\.\.[ \t]+(?:\|[^|\n]{1,200}\|[ \t]+)?(?P<name>[\w:.+-]{1,80})::(?:[ \t]+|$)"
)
_FOOTNOTE = re.compile(r"\s*\.\.[ \t]+\[[^\]\n]{1,100}\][ \t]+")
_OPTION = re.compile(r"\s+:[\w-]{1,60}:(?:\s|$)")
_LIST = re.compile(
    r"\s*(?:[-*+•‣⁃]|\(?(?:\d{1,5}|#|[A-Za-z]|[ivxIVX]{1,5})[.)])[ \t]|\s*:[^:\n]{1,100}:(?:\s|$)"
)
_SIMPLE_TABLE = re.compile(r"=+(?:[ \t]+=+)+")
_GRID_TABLE = re.compile(r"\+[-=+]{3,}\+")
_CODE_WORDS = (
    "code code-block sourcecode parsed-literal math doctest testcode testoutput prompt ipython "
    "productionlist graphviz mermaid uml digraph graph jinja"
)
_CODE = frozenset(_CODE_WORDS.split())
# Directives about other files or about the output: nothing to read in them.
_SILENT_WORDS = (
    "toctree include literalinclude image raw contents sectnum index meta role default-role "
    "highlight currentmodule py:currentmodule module py:module automodule autoclass autofunction "
    "automethod autosummary target-notes header footer tabularcolumns only-html plot bibliography "
    "testsetup testcleanup replace unicode date title"
)
_SILENT = frozenset(_SILENT_WORDS.split())


class _Scanner(Lined):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.styles: list[str] = []

    def scan(self) -> None:
        at = 0
        while at < len(self):
            if not self.bare(at):
                at += 1
            elif (after := self._heading(at)) or (after := self._explicit(at)):
                at = after
            elif after := self._table(at):
                self.block(at, after, "table")
                at = after
            else:
                at = self._chunk(at)

    def _level(self, style: str) -> int:
        if style not in self.styles:
            self.styles.append(style)
        return self.styles.index(style) + 1

    def _heading(self, at: int) -> int:
        """The line after a title, 0 where there is none. A transition is one without words."""
        bare, below = self.bare(at), self.bare(at + 1)
        if rule := _ADORNMENT.fullmatch(bare):
            if self.bare(at + 2) == bare and below and not _ADORNMENT.fullmatch(below):
                self.block_title(at + 1, self._level(2 * rule.group(1)))
                return at + 3
            return at + 1 if not below else 0
        rule = _ADORNMENT.fullmatch(below) if not self.lines[at][:1].isspace() else None
        wide = rule is not None and (len(below) * 4 >= 3 * len(bare) or len(below) >= len(bare))
        if rule is None or not wide or len(bare) > 300 or not any(map(str.isalnum, bare)):
            return 0
        self.block_title(at, self._level(rule.group(1)))
        return at + 2

    def block_title(self, at: int, level: int) -> None:
        self.span(self.starts[at], self.starts[at] + len(self.lines[at]), "heading", level)

    def _table(self, at: int) -> int:
        bare = self.bare(at)
        if _GRID_TABLE.fullmatch(bare):
            return self.run(at)
        if not _SIMPLE_TABLE.fullmatch(bare):
            return 0
        borders, line, at_border = 0, at, False
        while line < len(self) and borders < 3:
            bare = self.bare(line)
            if not bare and (borders < 2 or at_border):
                break
            at_border = _SIMPLE_TABLE.fullmatch(bare) is not None
            borders += at_border
            line += 1
        return line if borders > 1 else 0

    def _explicit(self, at: int) -> int:
        """The line after explicit markup (`..`), or after what of it is read here."""
        line = self.lines[at]
        bare = line.strip()
        if bare != ".." and not bare.startswith(".. "):
            return 0
        indent = self.indent(at)
        if found := _DIRECTIVE.match(line):
            return self._directive(at, found.group("name"), found.end(), indent)
        if note := _FOOTNOTE.match(line):
            after = self.run(at, "..")
            self.span(self.starts[at] + note.end(), self._end(after), "paragraph")
            return after
        if bare == ".." and not self.bare(at + 1):
            return at + 1
        return self.below(at + 1, indent)  # a comment, a target

    def _end(self, after: int) -> int:
        return self.starts[after - 1] + len(self.lines[after - 1])

    def _directive(self, at: int, name: str, words: int, indent: int) -> int:
        after = max(self.below(at + 1, indent), at + 1)
        if name in _SILENT:
            return after
        last = at + 1
        if self.lines[at][words:].strip():  # what is said on the first line may go on
            while last < after and self.bare(last) and not _OPTION.match(self.lines[last]):
                last += 1
        body = self._options(last, after)
        if name in _CODE:
            self.code(body, after)
            return after
        self.span(self.starts[at] + words, self._end(last), "paragraph")
        if name == "csv-table":
            self.block(body, after, "table")
            return after
        return body  # what it holds is read like the rest

    def _options(self, at: int, after: int) -> int:
        """The line after a directive's options, which may go on in lines indented by more."""
        inside: int | None = None
        while at < after and self.bare(at):
            if _OPTION.match(self.lines[at]):
                inside = self.indent(at)
            elif inside is None or self.indent(at) <= inside:
                break
            at += 1
        return at

    def code(self, first: int, after: int) -> None:
        """A code block for each run of lines."""
        at = first
        while at < after:
            stop = min(self.run(at), after) if self.bare(at) else at
            self.block(at, stop, "code")
            at = max(stop, at + 1)

    def _chunk(self, at: int) -> int:
        """A run of lines: list, doctest, term with its definition, or paragraph."""
        after = self._chunk_end(at)
        last = self.bare(after - 1)
        indent = self.indent(at)
        kind: BlockKind = "paragraph"
        if _LIST.match(self.lines[at]):
            kind = "list"
        elif self.bare(at).startswith(">>>"):
            kind = "code"
        elif after > at + 1 and self.indent(at + 1) > indent:
            self.block(at, at + 1, "paragraph")
            at += 1
        if last == "::":
            self.block(at, after - 1, kind)
        else:
            self.block(at, after, kind)
        if last.endswith("::") and kind != "code":
            end = self.below(after, indent)
            self.code(after, end)
            return max(after, end)
        return after

    def _chunk_end(self, at: int) -> int:
        line = at + 1
        while line < len(self) and (bare := self.bare(line)):
            if bare.startswith(".. ") or self.bare(line - 1) == "::":
                break
            line += 1
        return line


def load_rst(data: bytes, ending: str) -> Extracted:
    """Titles, paragraphs, lists, tables, literal blocks.

    Lines of comments, targets, options and directives about other files are empty in the text.
    """
    decoded = decode(data)
    scanner = _Scanner(decoded.text)
    scanner.scan()
    text, blocks = scanner.shown()
    first = next((block for block in blocks if block.kind == "heading"), None)
    title = text[first.start : first.end] if first and first.level == 1 else ""
    return Extracted(text, "rst", blocks, title, notes=notes(decoded))
