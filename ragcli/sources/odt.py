"""ODT and ODP: text documents and presentations, tracked changes as accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.assemble import Assembler, settled
from ragcli.sources.odf import (
    cell_text,
    inline,
    is_box,
    is_unseen,
    meta_title,
    open_package,
    repeated,
)
from ragcli.sources.ooxml import attribute, child, local
from ragcli.types import Extracted

_SHORT_CELL = 300  # characters; a longer cell is layout, not data
_MOST_COPIES = 50  # of a cell that is said to be repeated
_MOST_PAGES = 5_000
_TITLES = frozenset({"title"})
_FURNITURE = frozenset({"page-number", "date-time", "footer", "header", "page", "handout"})


class _Styles:
    """Which paragraph styles are titles, and which page styles hide a page."""

    def __init__(self, *roots: Any) -> None:
        self._parent: dict[str, str] = {}
        self._level: dict[str, int] = {"Title": 1, "Subtitle": 2}
        self.hidden: set[str] = set()
        for root in roots:
            for style in root.iter("{*}style") if root is not None else ():
                self._add(style)

    def _add(self, style: Any) -> None:
        name = attribute(style, "name")
        self._parent[name] = attribute(style, "parent-style-name")
        for one in style:
            if attribute(one, "visibility") == "hidden" and local(one) == "drawing-page-properties":
                self.hidden.add(name)

    def level(self, name: str) -> int:
        for _ in range(20):  # files hold loops
            if name in self._level:
                return self._level[name]
            name = self._parent.get(name, "")
        return 0


class _Reader:
    def __init__(self, styles: _Styles) -> None:
        self.out = Assembler()
        self.styles = styles
        self.title = ""

    def body(self, container: Any, *, in_list: bool = False) -> None:
        """All paragraphs, lists and tables of a container, in order."""
        for one in container:
            name = local(one)
            if name in ("p", "h"):
                self._paragraph(one, in_list)
            elif name == "table":
                self._table(one)
            elif not is_unseen(one):
                self.body(one, in_list=in_list or name == "list")

    def _paragraph(self, paragraph: Any, in_list: bool) -> None:
        later: list[Any] = []
        text = " ".join("".join(inline(paragraph, later)).split())
        level = self.styles.level(attribute(paragraph, "style-name"))
        if local(paragraph) == "h":
            given = attribute(paragraph, "outline-level")
            level = min(int(given), 9) if given.isdecimal() and len(given) < 4 else 1
        if text:
            self.out.inline(text)
            if level:
                self.title = self.title or (text if level == 1 else "")
                self.out.flush("heading", max(1, level))
            else:
                self.out.flush("list" if in_list else "paragraph")
        for one in later:  # notes and boxes follow the paragraph they hang on
            self.table_or_body(one)

    def table_or_body(self, element: Any) -> None:
        if local(element) == "table":
            self._table(element)
        else:
            self.body(element, in_list=local(element) == "list")

    def _table(self, table: Any) -> None:
        for row in _rows(table):
            cells = [one for one in row if local(one) == "table-cell"]
            filled: list[str] = []
            for cell in cells:
                if text := cell_text(cell):
                    filled += [text] * min(repeated(cell, "columns"), _MOST_COPIES)
            if len(filled) == 1 or any(len(text) > _SHORT_CELL for text in filled):
                for cell in cells:
                    self.body(cell)
            elif filled:
                self.out.row(" | ".join(filled))


def _rows(table: Any) -> Iterator[Any]:
    """Rows of a table, also in groups and headers; not those of tables in its cells."""
    for one in table:
        if local(one) == "table-row":
            yield one
        elif local(one) in ("table-rows", "table-header-rows", "table-row-group"):
            yield from _rows(one)


def _content(root: Any, kind: str, label: str) -> Any:
    """office:text or office:presentation."""
    body = child(root, "body")
    content = child(body, kind) if body is not None else None
    if content is None:
        raise SourceError(f"damaged {label} (no {kind} in it)")
    return content


def load_odt(data: bytes, ending: str) -> Extracted:
    """Headings, paragraphs, lists, tables (cells joined by " | "), notes and text boxes.

    Raises SourceError: password needed, damaged, entities, bomb, no text.
    """
    package = open_package(data, "ODT")
    root = package.xml("content.xml")
    reader = _Reader(_Styles(package.spare("styles.xml"), root))
    reader.body(_content(root, "text", "ODT"))
    text, blocks = reader.out.finish()
    if not text.strip():
        raise SourceError("no text in it")
    return Extracted(text, "odt", blocks, meta_title(package) or reader.title)


class _Show(_Reader):
    """Slides of a presentation."""

    def __init__(self, styles: _Styles) -> None:
        super().__init__(styles)
        self.starts: list[int] = []
        self.places: list[tuple[int, str]] = []
        self.pictures_only: list[int] = []
        self.hidden: list[int] = []

    def page(self, page: Any) -> None:
        self.starts.append(self.out.apart())
        number = len(self.starts)
        self.places.append((self.starts[-1], f"slide {number}"))
        if attribute(page, "style-name") in self.styles.hidden:
            self.hidden.append(number)
        before = len(self.out.blocks)
        shapes = [one for one in page if local(one) != "notes"]
        for shape in sorted(shapes, key=lambda one: attribute(one, "class") not in _TITLES):
            self._shape(shape)
        if len(self.out.blocks) == before and any(True for _ in page.iter("{*}image")):
            self.pictures_only.append(number)
        notes = child(page, "notes")
        if notes is not None:
            self.places.append((self.out.apart(), f"slide {number}, notes"))
            for shape in notes:
                self._shape(shape)

    def _shape(self, shape: Any) -> None:
        kind = attribute(shape, "class")
        if kind in _FURNITURE or is_unseen(shape):
            return
        if kind in _TITLES:
            text = cell_text(shape)
            self.title = self.title or text
            self.out.inline(text)
            self.out.flush("heading", 1)
        elif is_box(shape) or local(shape) == "table":
            self.table_or_body(shape)
        else:
            for one in shape:
                self._shape(one)


def load_odp(data: bytes, ending: str) -> Extracted:
    """Slides in order, as for PPTX: titles as headings, tables, notes; a page a slide.

    Raises SourceError: password needed, damaged, entities, bomb, no text.
    """
    package = open_package(data, "ODP")
    root = package.xml("content.xml")
    show = _Show(_Styles(package.spare("styles.xml"), root))
    missing: list[str] = []
    for page in _content(root, "presentation", "ODP"):
        if local(page) != "page":
            continue
        if len(show.starts) == _MOST_PAGES:
            missing.append(f"slides after {_MOST_PAGES:,}")
            break
        show.page(page)
    text, blocks = show.out.finish()
    if not text.strip():
        raise SourceError("no text in it")
    notes = []
    if show.hidden:
        notes.append(f"hidden in the show: slide {', '.join(map(str, show.hidden[:10]))}")
    return Extracted(
        text, "odp", blocks, meta_title(package) or show.title,
        tuple(min(start, len(text)) for start in show.starts), tuple(show.pictures_only),
        tuple(notes), settled(show.places, text), tuple(missing),
    )  # fmt: skip
