"""Plain text. The extracted text is the file's own, line for line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragcli.sources.decode import Decoded, declared_in_xml, decode
from ragcli.types import Block, BlockKind, Extracted

_GAP = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`.:_])\1{2,}[^\S\n]*")
_ROWS = frozenset({".csv", ".tsv", ".tab", ".log"})


def chunks(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges between blank lines, without white space at their ends (indents stay)."""
    end = len(text) if end is None else end
    at = start
    for gap in _GAP.finditer(text, start, end):
        yield from _stripped(text, at, gap.start())
        at = gap.start()
    yield from _stripped(text, at, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    raw = text[start:end]
    kept = raw.lstrip()
    if kept:
        lead = raw[: len(raw) - len(kept)]
        begin = start + lead.rfind("\n") + 1  # keep the first line's indent
        yield begin, start + len(raw.rstrip())


def underlined(text: str, start: int, end: int) -> tuple[int, str] | None:
    """(end of the title, underline character) where a chunk begins with an underlined title."""
    first = text.find("\n", start, end)
    if first < 0:
        return None
    second = text.find("\n", first + 1, end)
    rule = text[first + 1 : second if second >= 0 else end]
    title = text[start:first].strip()
    match = _UNDERLINE.fullmatch(rule)
    if match is None or not title or len(title) > 200 or len(rule.rstrip()) * 4 < 3 * len(title):
        return None
    return (first, match.group(1)) if any(map(str.isalnum, title)) else None


def text_blocks(text: str, kind: BlockKind = "paragraph") -> list[Block]:
    """Paragraphs between blank lines; underlined lines are headings, levels by first use."""
    blocks: list[Block] = []
    marks: list[str] = []
    for start, end in chunks(text):
        found = underlined(text, start, end) if kind == "paragraph" else None
        if found is None:
            blocks.append(Block(start, end, kind))
            continue
        title_end, mark = found
        if mark not in marks:
            marks.append(mark)
        blocks.append(Block(start, title_end, "heading", marks.index(mark) + 1))
        body = text.find("\n", title_end + 1, end)
        if body >= 0:
            blocks += [Block(a, b, "paragraph") for a, b in chunks(text, body, end)]
    return blocks


def _title(text: str, blocks: list[Block]) -> str:
    for block in blocks[:3]:
        if block.kind == "heading" and block.level == 1:
            return text[block.start : block.end].strip()
    return ""


def notes(decoded: Decoded) -> tuple[str, ...]:
    return (decoded.note,) if decoded.note else ()


def load_text(data: bytes, ending: str) -> Extracted:
    """Any text without a more exact loader; tables of values and logs are read row by row."""
    decoded = decode(data, declared_in_xml(data))
    text = decoded.text
    blocks = text_blocks(text, "table" if ending in _ROWS else "paragraph")
    return Extracted(text, "text", tuple(blocks), _title(text, blocks), notes=notes(decoded))
