"""Source code and configuration: the file's own text, cut into blocks by definition."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ragcli.sources.decode import declared_in_xml, decode
from ragcli.sources.definitions import boundaries, masks
from ragcli.sources.plain import chunks, notes
from ragcli.types import Block, Extracted

LONGEST_LINE = 1000  # characters; longer lines are minified or data, nothing to read or cite
_LONG = re.compile(rf"[^\n]{{{LONGEST_LINE + 1},}}")
_PYTHON = frozenset({".py", ".pyi", ".pyx"})
_YAML = frozenset({".yaml", ".yml"})
_SECTIONS = frozenset({".toml", ".ini", ".cfg", ".conf", ".editorconfig", ".desktop", ".service"})
_UNSTRUCTURED = frozenset({".css", ".scss", ".less", ".xsl", ".xsd", ".vue", ".svelte", ".bat", ".cmd", ".s", ".asm"})  # fmt: skip
_QUOTES = re.compile(r"[rRuUbBfF]{0,2}(?:\"\"\"|''')\s*")


def _language(text: str, ending: str) -> str:
    if ending in _PYTHON or (not ending and re.match(r"#!.{0,80}python", text)):
        return "python"
    if ending in _YAML:
        return "yaml"
    if ending in _SECTIONS:
        return "sections"
    return "" if ending in _UNSTRUCTURED else "code"


def _docstrings(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the words of strings that are statements of their own, without the quotes."""
    for start, end in masks(text, python=True):
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip(" \trRuU"):
            opening = _QUOTES.match(text, start)
            inside = opening.end() if opening else start + 3
            words = text[inside:end].rstrip("\"'").rstrip()
            if words:
                yield inside, inside + len(words)


def _segments(text: str, language: str) -> Iterator[tuple[int, int, int, str]]:
    """(start, end, level, name) of the sections of a file, which together are the file."""
    found = boundaries(text, language) if language else []
    starts = [0, *(match.end() for match in re.finditer("\n", text))] if found else [0]
    cuts = [(starts[one.line], one.level, one.name) for one in found]
    if not cuts or cuts[0][0] > 0:
        cuts.insert(0, (0, 0, ""))
    for (start, level, name), after in itertools.zip_longest(cuts, cuts[1:]):
        yield start, len(text) if after is None else after[0], level, name


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Chunks between blank lines, without the lines that are too long to be read."""
    at = start
    for long in _LONG.finditer(text, start, end):
        yield from chunks(text, at, long.start())
        at = long.end()
    yield from chunks(text, at, end)


def code_blocks(text: str, ending: str) -> list[Block]:
    """Code by chunk, the first of each definition named; docstrings are paragraphs."""
    language = _language(text, ending)
    words = list(_docstrings(text)) if language == "python" else []
    blocks: list[Block] = []
    for start, end, level, name in _segments(text, language):
        for a, b in _pieces(text, start, end):
            blocks.append(Block(a, b, "code", level, name))
            level, name = 0, ""
    return list(_with_words(text, blocks, words)) if words else blocks


def _with_words(text: str, blocks: list[Block], words: list[tuple[int, int]]) -> Iterator[Block]:
    """Code blocks with the ranges of words cut out of them and made paragraphs."""
    at = 0
    for block in blocks:
        start, level, name = block.start, block.level, block.name
        while at < len(words) and words[at][0] < block.end:
            begin, end = max(words[at][0], start), min(words[at][1], block.end)
            if begin < end:
                if text[start:begin].strip(" \t\n\"'"):
                    yield Block(start, begin, "code", level, name)
                    level, name = 0, ""
                yield Block(begin, end, "paragraph", level, name)
                level, name = 0, ""
                start = end
            if words[at][1] > block.end:
                break
            at += 1
        if text[start : block.end].strip(" \t\n\"'"):
            yield Block(start, block.end, "code", level, name)


def load_code(data: bytes, ending: str) -> Extracted:
    """Source code and configuration, line for line; a unit a line, docstrings as prose.

    Lines above `LONGEST_LINE` characters are in no block, and so not indexed.
    """
    decoded = decode(data, declared_in_xml(data))
    text = decoded.text
    told = notes(decoded)
    if long := sum(1 for _ in _LONG.finditer(text)):
        told += (f"{long} lines above {LONGEST_LINE} characters left out",)
    return Extracted(text, "code", tuple(code_blocks(text, ending)), notes=told)
