"""DOCX as its readers see it: tracked insertions in, deletions and hidden text out.

Read from the XML itself: python-docx passes over text boxes, footnotes, insertions
and strict files, and holds many times the file in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.assemble import Assembler
from ragcli.sources.ooxml import Package, attribute, child, core_title, is_on, local, main_part
from ragcli.types import Extracted

_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_SHORT_CELL = 300  # characters; a longer cell is layout, not data
_SKIPPED = frozenset({"del", "moveFrom", "instrText", "delText", "pPr", "rPr", "Fallback"})
_MARKS = {"tab": " ", "br": " ", "cr": " ", "noBreakHyphen": "-", "ptab": " "}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}


class _Styles:
    """Heading levels and lists by style id, following basedOn."""

    def __init__(self, root: Any) -> None:
        self._level: dict[str, int] = {}
        self._list: set[str] = set()
        self._parent: dict[str, str] = {}
        for style in root if root is not None else ():
            if local(style) == "style":
                self._add(style, attribute(style, "styleId"))

    def _add(self, style: Any, name: str) -> None:
        shown = child(style, "name")
        title = attribute(shown, "val").lower() if shown is not None else ""
        if (based := child(style, "basedOn")) is not None:
            self._parent[name] = attribute(based, "val")
        properties = child(style, "pPr")
        level = _outline(properties)
        if found := _HEADING_NAME.fullmatch(title):
            level = int(found.group(1))
        elif title == "title":
            level = 1
        if level:
            self._level[name] = level
        if properties is not None and child(properties, "numPr") is not None:
            self._list.add(name)

    def _chain(self, name: str) -> Iterator[str]:
        for _ in range(20):  # files hold loops
            if not name:
                return
            yield name
            name = self._parent.get(name, "")

    def level(self, name: str) -> int:
        return next((self._level[one] for one in self._chain(name) if one in self._level), 0)

    def is_list(self, name: str) -> bool:
        return any(one in self._list for one in self._chain(name))


def _outline(properties: Any) -> int:
    """Heading level of paragraph properties, 0 for body text."""
    found = child(properties, "outlineLvl") if properties is not None else None
    value = attribute(found, "val") if found is not None else ""
    return int(value) + 1 if value.isdigit() and int(value) < 9 else 0


class _Reader:
    def __init__(self, styles: _Styles, notes: dict[tuple[str, str], Any]) -> None:
        self.out = Assembler()
        self.styles = styles
        self.notes = notes
        self.title = ""
        self.inserted = 0

    def body(self, container: Any) -> None:
        """All paragraphs and tables of a container, in order."""
        for element in container:
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name == "altChunk":
                self.inserted += 1
            elif name not in _SKIPPED and name not in ("sectPr", "tblPr", "sdtPr", "sdtEndPr"):
                self.body(element)

    def _paragraph(self, paragraph: Any) -> None:
        later: list[Any] = []
        text = "".join(self._runs(paragraph, later)).strip()
        properties = child(paragraph, "pPr")
        style = child(properties, "pStyle") if properties is not None else None
        name = attribute(style, "val") if style is not None else ""
        level = _outline(properties) or self.styles.level(name)
        if text:
            numbered = properties is not None and child(properties, "numPr") is not None
            self.out.inline(text)
            if level:
                self.title = self.title or (" ".join(text.split()) if level == 1 else "")
                self.out.flush("heading", level)
            else:
                is_item = numbered or self.styles.is_list(name)
                self.out.flush("list" if is_item else "paragraph")
        for container in later:  # text boxes and notes follow the paragraph they hang on
            self.body(container)

    def _runs(self, element: Any, later: list[Any]) -> Iterator[str]:
        """Text pieces of a paragraph; boxes and notes in it are collected in `later`."""
        has_choice = local(element) == "AlternateContent" and child(element, "Choice") is not None
        for one in element:
            name = local(one)
            if name == "t":
                yield one.text or ""
            elif name in _MARKS:
                yield _MARKS[name]
            elif name == "txbxContent":
                later.append(one)
            elif name in _NOTES:
                note = self.notes.pop((_NOTES[name], attribute(one, "id")), None)
                if note is not None:
                    later.append(note)
            elif name == "r" and is_on(child(one, "rPr"), "vanish"):
                continue
            elif name not in _SKIPPED or (name == "Fallback" and not has_choice):
                yield from self._runs(one, later)

    def _table(self, table: Any) -> None:
        after: list[Any] = []
        for row in _rows(table):
            later: list[Any] = []
            cells = [self._cell(cell, later) for cell in _within(row, "tc")]
            filled = [text for text in cells if text]
            if len(filled) == 1 or any(len(text) > _SHORT_CELL for text in filled):
                for cell in _within(row, "tc"):
                    self.body(cell)
                later = [one for one in later if local(one) != "txbxContent"]  # these are read
                for note in later:
                    self.body(note)
            else:
                if filled:
                    self.out.row(" | ".join(filled))
                after += later
        for container in after:  # boxes and notes do not tear the table
            self.body(container)

    def _cell(self, cell: Any, later: list[Any]) -> str:
        """All text of a cell on one line; boxes and notes in it are collected in `later`."""
        parts = ["".join(self._runs(p, later)) for p in _paragraphs(cell)]
        return " ".join(" ".join(parts).split())


def _paragraphs(element: Any) -> Iterator[Any]:
    """Paragraphs of a cell, also of tables in it, but not those of text boxes."""
    for one in element:
        if local(one) == "p":
            yield one
        elif local(one) not in _SKIPPED:
            yield from _paragraphs(one)


def _within(element: Any, name: str) -> Iterator[Any]:
    """Children of that name, also inside content controls."""
    for one in element:
        if local(one) == name:
            yield one
        elif local(one) in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _within(one, name)


def _rows(table: Any) -> Iterator[Any]:
    for row in _within(table, "tr"):
        properties = child(row, "trPr")
        if properties is None or child(properties, "del") is None:
            yield row


def _notes(package: Package, folder: str, missing: list[str]) -> dict[tuple[str, str], Any]:
    """Footnotes and endnotes by (part, id); separators are none."""
    found: dict[tuple[str, str], Any] = {}
    for part in ("footnotes", "endnotes"):
        root = package.spare(f"{folder}{part}.xml", missing, part)
        for note in root if root is not None else ():
            if not attribute(note, "type"):
                found[part, attribute(note, "id")] = note
    return found


def load_docx(data: bytes, ending: str) -> Extracted:
    """Paragraphs, headings, lists, tables (cells joined by " | "), text boxes, notes.

    Raises SourceError: password needed, damaged, entities, bomb, no text.
    """
    package = Package(data)
    main = main_part(package, "word/document.xml")
    folder = main.rpartition("/")[0] + "/" if "/" in main else ""
    root = package.xml(main)
    body = child(root, "body")
    if body is None:
        raise SourceError("damaged DOCX (no body)")
    missing: list[str] = []
    styles = _Styles(package.spare(f"{folder}styles.xml", missing, "headings and lists"))
    reader = _Reader(styles, _notes(package, folder, missing))
    reader.body(body)
    if reader.inserted:
        missing.append(f"{reader.inserted} inserted from other files (altChunk)")
    text, blocks = reader.out.finish()
    if not text.strip():
        raise SourceError(missing[0] if missing else "no text in it")
    title = core_title(package) or reader.title
    return Extracted(text, "docx", blocks, title, missing=tuple(missing))
