"""Markdown: structure from its lines, which are as in the file (their markup stays)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ragcli.sources.decode import decode
from ragcli.sources.plain import chunks, notes
from ragcli.types import Block, BlockKind, Extracted

_FRONT_MATTER = re.compile(r"(?:---[^\S\n]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)|\+\+\+[^\S\n]*\n(?P<toml>.*?)\n\+\+\+)[^\S\n]*(?:\n|\Z)", re.DOTALL)  # fmt: skip
_FRONT_TITLE = re.compile(r"^title\s*[:=]\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[^\S\n]+(.*?))?(?:[^\S\n]+#+)?[^\S\n]*")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[^\S\n]*")
_RULE = re.compile(r" {0,3}([-*_])(?:[^\S\n]*\1){2,}[^\S\n]*")
_LIST = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[^\S\n]")
_DELIMITER = re.compile(
    r"[^\S\n]*\|?[^\S\n]*:?-+:?[^\S\n]*(?:\|[^\S\n]*:?-+:?[^\S\n]*)*\|?[^\S\n]*"
)
_LONGEST_HEADING = 1000
_LONGEST_INLINE = 4000  # of a comment within a paragraph
_BACKTICKS = re.compile("`+")
_TOKEN = re.compile(r"\\.|(`+)|<!--")
_LINE = re.compile(r"[^\n]*\n?")


def _lines(text: str, start: int) -> Iterator[tuple[int, int]]:
    """(start, end without the line feed) of each line."""
    for match in _LINE.finditer(text, start):
        if match.end() > match.start():
            yield match.start(), match.end() - match.group().endswith("\n")


def without_comments(text: str) -> str:
    """The text, its lines kept, without its HTML comments, which a reader of the page never sees.

    Those in code stay: there they are what is spoken of. A comment within a paragraph ends in it.
    """
    if "<!--" not in text:
        return text
    kept: list[str] = []
    done, fence = 0, ""
    closes = text.rfind("-->")
    for start, end in _lines(text, 0):
        if end <= done:
            continue
        line = text[start:end]
        if fence:
            bare = line.strip()
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
            continue
        if start >= done and (found := _FENCE.match(line)):
            fence = found.group(1)
            continue
        if start >= done and line.startswith(("    ", "\t")):
            continue
        if text.find("<!--", max(start, done), end) < 0:
            continue
        for first, last in _comments(text, max(start, done), end, closes):
            kept += (text[done:first], "\n" * text.count("\n", first, last))
            done = last
    return "".join((*kept, text[done:]))


def _comments(text: str, at: int, end: int, closes: int) -> Iterator[tuple[int, int]]:
    """(start, end) of the comments that begin on a line, of which `at` to `end` is left.

    closes: where the text's last comment can close.
    """
    begins = at
    runs: dict[int, list[int]] = {}  # where backticks stand, by how many there are
    for run in _BACKTICKS.finditer(text, at, end):
        runs.setdefault(len(run.group()), []).append(run.start())
    while at < end and (token := _TOKEN.search(text, at, end)):
        first, at = token.span()
        if size := len(token.group(1) or ""):  # a code span, or backticks by themselves
            later = runs.get(size, [])
            following = bisect_right(later, first)
            at = later[following] + size if following < len(later) else at
        elif token.group() == "<!--" and first + 2 <= closes:
            block = not text[begins:first].strip()
            close = text.find("-->", first + 2, closes + 3 if block else first + _LONGEST_INLINE)
            if close >= 0 and (block or "\n\n" not in text[first:close]):
                at = close + len("-->")
                yield first, at


def _kind(text: str, start: int, end: int) -> BlockKind:
    lines = text[start:end].split("\n", 2)
    if _LIST.match(lines[0]):
        return "list"
    if len(lines) > 1 and "|" in lines[0] and "-" in lines[1] and _DELIMITER.fullmatch(lines[1]):
        return "table"
    if lines[0].startswith(("    ", "\t")):
        return "code"
    return "paragraph"


class _Scanner:
    """One pass over the lines; `flush` turns the lines held back into blocks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.held: int | None = None  # where the current run of ordinary lines starts
        self.last = 0  # where its last line starts
        self.fence: tuple[str, int] | None = None

    def flush(self, end: int) -> None:
        if self.held is not None and self.held < end:
            for start, stop in chunks(self.text, self.held, end):
                self.blocks.append(Block(start, stop, _kind(self.text, start, stop)))
        self.held = None

    def heading(self, start: int, end: int, level: int) -> None:
        raw = self.text[start:end]
        start += len(raw) - len(raw.lstrip())
        end = start + len(raw.strip())
        if start < end:
            self.blocks.append(Block(start, end, "heading", level))

    def line(self, start: int, end: int) -> None:
        line = self.text[start:end]
        if self.fence is not None:
            self._in_fence(line, start)
        elif fence := _FENCE.match(line):
            self.flush(start)
            self.fence = (fence.group(1), min(end + 1, len(self.text)))
        elif line[:4].lstrip(" ").startswith("#") and (atx := self._atx(line)):
            self.flush(start)
            if atx.group(2):
                self.heading(start + atx.start(2), start + atx.end(2), len(atx.group(1)))
        elif self._is_setext(line):
            self.flush(self.last)
            self.heading(self.last, start, 1 if "=" in line else 2)
        elif _RULE.fullmatch(line):
            self.flush(start)
        else:
            self.held = start if self.held is None else self.held
            self.last = start

    @staticmethod
    def _atx(line: str) -> re.Match[str] | None:
        return _ATX.fullmatch(line) if len(line) <= _LONGEST_HEADING else None

    def _is_setext(self, line: str) -> bool:
        if self.held is None or not _SETEXT.fullmatch(line):
            return False
        title = self.text[self.last : self.text.find("\n", self.last)]
        return bool(title.strip()) and not _LIST.match(title) and "|" not in title

    def _in_fence(self, line: str, start: int) -> None:
        if self.fence is None:
            return
        mark, opened = self.fence
        closing = line.strip()
        if closing.startswith(mark) and not closing.strip(mark[0]):
            self._close_fence(opened, start)

    def _close_fence(self, opened: int, end: int) -> None:
        self.blocks += [Block(a, b, "code") for a, b in chunks(self.text, opened, end)]
        self.fence = None

    def finish(self) -> list[Block]:
        if self.fence is not None:
            self._close_fence(self.fence[1], len(self.text))
        self.flush(len(self.text))
        return self.blocks


def markdown_blocks(text: str) -> tuple[list[Block], str]:
    """(blocks, title of the front matter). Front matter, fences and rules are in no block."""
    title, start = "", 0
    if front := _FRONT_MATTER.match(text):
        start = front.end()
        if named := _FRONT_TITLE.search(front.group("yaml") or front.group("toml") or ""):
            title = named.group(1)
    scanner = _Scanner(text)
    for begin, end in _lines(text, start):
        scanner.line(begin, end)
    return scanner.finish(), title


def load_markdown(data: bytes, ending: str) -> Extracted:
    """Headings, lists, tables, fenced and indented code, paragraphs; title as in the file."""
    decoded = decode(data)
    text = without_comments(decoded.text)
    blocks, title = markdown_blocks(text)
    if not title:
        first = next((block for block in blocks if block.kind == "heading"), None)
        title = text[first.start : first.end] if first is not None and first.level == 1 else ""
    return Extracted(text, "markdown", tuple(blocks), title, notes=notes(decoded))
