"""What all OpenDocument formats share: opening, title, inline text.

Read from the XML: odfpy builds a tree of slow Python objects without bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.ooxml import Package, attribute, local

# What holds text that is not part of what a reader sees.
_UNSEEN = frozenset(
    {"note-citation", "annotation", "annotation-end", "tracked-changes", "hidden-text",
     "hidden-paragraph", "ruby-text", "title", "desc", "event-listeners", "table-of-content",
     "illustration-index", "table-index", "object-index", "alphabetical-index", "user-index",
     "sequence-decls", "variable-decls", "user-field-decls", "forms", "settings", "script"}
)  # fmt: skip
_BLANKS = frozenset({"s", "tab", "line-break", "soft-page-break"})
_BOXES = frozenset(
    {"text-box", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "polygon",
     "path", "caption", "measure", "polyline", "regular-polygon"}
)  # fmt: skip


def is_unseen(element: Any) -> bool:
    """Whether nothing in an element is shown (comments, deleted text, tables of contents)."""
    return local(element) in _UNSEEN or attribute(element, "display") == "none"


def is_box(element: Any) -> bool:
    """Whether an element is a shape that holds paragraphs."""
    return local(element) in _BOXES


def open_package(data: bytes, label: str) -> Package:
    """Raises SourceError for what is damaged or encrypted."""
    package = Package(data, label)
    manifest = "META-INF/manifest.xml"
    if manifest in package and b"encryption-data" in package.read(manifest):
        raise SourceError("password needed", hint="save a copy without a password")
    return package


def meta_title(package: Package) -> str:
    """The title in the document's properties, "" without one."""
    root = package.spare("meta.xml")
    for one in root.iter("{*}title") if root is not None else ():
        return " ".join((one.text or "").split())[:300]
    return ""


def inline(element: Any, later: list[Any]) -> Iterator[str]:
    """Text pieces of a paragraph; notes and shapes that hang on it are collected in `later`."""
    yield element.text or ""
    for one in element:
        name = local(one)
        if name in _BLANKS:
            yield " "
        elif name == "note-body" or is_box(one) or name in ("table", "list"):
            later.append(one)
        elif not is_unseen(one):
            yield from inline(one, later)
        yield one.tail or ""


def cell_text(cell: Any) -> str:
    """All paragraphs of a table cell on one line."""
    parts: list[str] = []
    for paragraph in cell.iter("{*}p", "{*}h"):
        if not any(local(above) == "annotation" for above in paragraph.iterancestors()):
            parts.append("".join(inline(paragraph, [])))
    return " ".join(" ".join(parts).split())


def repeated(element: Any, what: str) -> int:
    """number-rows-repeated or number-columns-repeated, 1 by default."""
    given = attribute(element, f"number-{what}-repeated")
    return max(1, int(given)) if given.isdecimal() and len(given) < 10 else 1
