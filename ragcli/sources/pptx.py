"""PPTX: a page a slide, in the order they are shown.

Read from the XML: python-pptx passes over diagrams, fallback content and strict files,
and holds every picture in memory. It is the second reader in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.assemble import Assembler, settled
from ragcli.sources.drawingml import chart_rows, chart_title, paragraph_text, paragraphs, texts
from ragcli.sources.ooxml import Package, attribute, child, core_title, local, main_part
from ragcli.types import Extracted

_MOST_SLIDES = 5_000
_SHORT_CELL = 300  # characters; a longer cell is layout, not data
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_TITLES = frozenset({"title", "ctrTitle"})
_LINES_OF_LISTS = frozenset({"body", "obj", ""})


def _relation(element: Any, name: str = "id") -> str:
    """An attribute of the relationships namespace, such as r:id."""
    for key, value in element.items():
        namespace, _, found = key.rpartition("}")
        if found == name and "relationships" in namespace:
            return str(value)
    return ""


def _placeholder(shape: Any) -> str | None:
    """The kind of placeholder a shape is ("" for plain content), None for none."""
    for group in shape:
        if local(group).startswith("nv"):
            for one in group.iter("{*}ph"):
                return attribute(one, "type")
    return None


class _Slide:
    """Writes the shapes of a slide or of its notes."""

    def __init__(self, out: Assembler, package: Package, part: str) -> None:
        self.out = out
        self.package = package
        self.relations = package.relations(part)
        self.pictures = 0
        self.title = ""

    def shapes(self, tree: Any, *, titles: bool | None = None) -> None:
        """All shapes below an element. titles: only titles, or all but them."""
        for shape in tree:
            name = local(shape)
            if name == "sp":
                self._shape(shape, titles)
            elif name == "grpSp":
                self.shapes(shape, titles=titles)
            elif name == "AlternateContent":
                chosen = next((one for one in shape if len(one)), None)
                if chosen is not None:
                    self.shapes(chosen, titles=titles)
            elif titles is not True:
                self._other(shape, name)

    def _shape(self, shape: Any, titles: bool | None) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE or (titles is not None and titles is not (kind in _TITLES)):
            return
        body = child(shape, "txBody")
        if body is None:
            fill = child(shape, "spPr")
            self.pictures += fill is not None and child(fill, "blipFill") is not None
            return
        if kind in _TITLES:
            self.title = " ".join(map(paragraph_text, paragraphs(body))).strip()
            self.out.inline(self.title)
            self.out.flush("heading", 1)
            return
        lines = [text for one in paragraphs(body) if (text := paragraph_text(one))]
        as_list = kind in _LINES_OF_LISTS and kind is not None and len(lines) > 1
        for text in lines:
            self.out.inline(text)
            self.out.flush("list" if as_list else "paragraph")

    def _other(self, shape: Any, name: str) -> None:
        """Tables, charts, diagrams, pictures."""
        if name == "pic":
            self.pictures += 1
        elif name == "graphicFrame":
            for one in shape.iter("{*}tbl", "{*}chart", "{*}relIds", "{*}pic"):
                if local(one) == "tbl":
                    self._table(one)
                elif local(one) == "pic":
                    self.pictures += 1
                elif local(one) == "chart":
                    self._chart(self._part(_relation(one)))
                else:
                    self._diagram(self._part(_relation(one, "dm")))

    def _part(self, relation: str) -> Any:
        part = self.relations.get(relation, ("", ""))[1]
        return self.package.optional(part)

    def _table(self, table: Any) -> None:
        for row in table.iter("{*}tr"):
            cells = [" ".join(texts(cell)) for cell in row if local(cell) == "tc"]
            filled = [text for text in cells if text]
            if any(len(text) > _SHORT_CELL for text in filled):
                for text in filled:
                    self.out.inline(text)
                    self.out.flush("paragraph")
            elif filled:
                self.out.row(" | ".join(filled))

    def _chart(self, root: Any) -> None:
        if root is None:
            return
        if title := chart_title(root):
            self.out.inline(title)
            self.out.flush("paragraph")
        for row in chart_rows(root):
            self.out.row(row)

    def _diagram(self, root: Any) -> None:
        for text in texts(root) if root is not None else ():
            self.out.inline(text)
            self.out.flush("list")


def _tree(root: Any) -> Any:
    """The shapes of a slide or notes part."""
    common = child(root, "cSld")
    tree = child(common, "spTree") if common is not None else None
    return tree if tree is not None else ()


class _Deck:
    """All slides one after the other, and where each begins."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.out = Assembler()
        self.starts: list[int] = []
        self.places: list[tuple[int, str]] = []
        self.pictures_only: list[int] = []
        self.hidden: list[int] = []
        self.missing: list[str] = []
        self.title = ""

    def slide(self, part: str) -> None:
        """The next slide. A damaged one loses only itself."""
        start = self.out.apart()
        self.starts.append(start)
        number = len(self.starts)
        self.places.append((start, f"slide {number}"))
        if part not in self.package:
            self.missing.append(f"slide {number} is not in the file")
            return
        try:
            self._content(part, number)
        except SourceError as error:
            self.missing.append(f"slide {number}: {error.message}")

    def _content(self, part: str, number: int) -> None:
        root = self.package.xml(part)
        if attribute(root, "show") in ("0", "false"):
            self.hidden.append(number)
        before = len(self.out.blocks)
        slide = _Slide(self.out, self.package, part)
        tree = _tree(root)
        slide.shapes(tree, titles=True)
        slide.shapes(tree, titles=False)
        self.title = self.title or slide.title
        if len(self.out.blocks) == before and slide.pictures:
            self.pictures_only.append(number)
        for kind, target in slide.relations.values():
            if kind == "notesSlide" and target in self.package:
                self._notes(target, number)

    def _notes(self, part: str, number: int) -> None:
        """What the speaker says, as paragraphs of its own place."""
        start = self.out.apart()
        _Slide(self.out, self.package, part).shapes(_tree(self.package.xml(part)))
        if self.out.length > start:
            self.places.append((start, f"slide {number}, notes"))


def _slides(package: Package, main: str) -> Iterator[str]:
    """The parts of the slides in the order they are shown."""
    root = package.xml(main)
    relations = package.relations(main)
    listed = child(root, "sldIdLst")
    for one in listed if listed is not None else ():
        yield relations.get(_relation(one), ("", ""))[1]


def _numbers(word: str, numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return f"slide{'s' if len(numbers) > 1 else ''} {shown} {word}"


def _title(package: Package) -> str:
    """The title in the properties, unless it is what PowerPoint calls every new file."""
    title = core_title(package)
    return "" if "powerpoint" in title.casefold() else title


def load_pptx(data: bytes, ending: str) -> Extracted:
    """Slides with titles as headings, tables, charts, diagrams and speaker notes.

    `missing_pages` are slides that have pictures and no text. Raises SourceError:
    password needed, damaged, entities, bomb, no text.
    """
    package = Package(data, "PPTX")
    deck = _Deck(package)
    for part in _slides(package, main_part(package, "ppt/presentation.xml")):
        if len(deck.starts) == _MOST_SLIDES:
            deck.missing.append(f"slides after {_MOST_SLIDES:,}")
            break
        deck.slide(part)
    text, blocks = deck.out.finish()
    if not text.strip():
        reason = "no text in it" + (" (pictures only)" if deck.pictures_only else "")
        raise SourceError(deck.missing[0] if deck.missing else reason)
    notes = []
    if deck.hidden:
        notes.append(_numbers("hidden in the show", deck.hidden))
    return Extracted(
        text, "pptx", blocks, _title(package) or deck.title,
        tuple(min(start, len(text)) for start in deck.starts), tuple(deck.pictures_only),
        tuple(notes), settled(deck.places, text), tuple(deck.missing),
    )  # fmt: skip
