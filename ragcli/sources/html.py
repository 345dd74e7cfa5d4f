"""HTML: the main text of a page. The only import of selectolax (lexbor)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.assemble import Assembler
from ragcli.sources.decode import Decoded, declared_in_xml, decode
from ragcli.sources.html_depth import DEEPEST, bounded
from ragcli.types import BlockKind, Extracted

_META = re.compile(
    rb"""<meta\b[^>]{0,400}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE
)
_META_BYTES = 65_536  # browsers look at 1,024; pages with long preambles need more

_DROP = frozenset(
    {"script", "style", "noscript", "nav", "header", "footer", "aside", "form", "template", "svg",
     "iframe", "object", "embed", "canvas", "audio", "video", "button", "select", "input",
     "textarea", "dialog", "head", "map", "math-annotation", "ix:header"}
)  # fmt: skip
# ... in a book, where nothing is about a site.
_DROP_IN_BOOKS = _DROP - {"header", "footer", "aside", "noscript", "form"}
# Parts of a page that are about the site, by role, class or id.
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog"})
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|breadcrumbs?|navbar|nav|menu|sidebar|newsletter|"
    r"related|recommended|social|share|sharing|promo|advert|ads?|sponsored|skip-link|pagination|"
    r"site-header|site-footer|popup|modal|paywall|comments?-list)(?:$|[\s_-])",
    re.IGNORECASE,
)
_KEPT_TAGS = frozenset({"html", "body", "main", "article", "p", "h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCK = frozenset(
    {"p", "div", "section", "article", "main", "ul", "ol", "dl", "dt", "dd", "blockquote", "table",
     "thead", "tbody", "tfoot", "tr", "td", "th", "figure", "figcaption", "address", "hr", "details",
     "summary", "center", "fieldset", "caption", "body", "html"}
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LINK_LIST_SHARE = 0.8  # of a list's text in links: a menu, if there are at least
_LINK_LIST_LINKS = 4
_MAIN_SHARE = 0.5  # of the page's text an article must hold to be taken for the page
_SHORT_CELL = 300  # characters; a longer cell is layout, not data
_FRAMESET = re.compile(r"<frameset[\s>]", re.IGNORECASE)
_FRAMES = re.compile(r"</?(?:frameset|noframes|frame)(?:\s[^<>]{0,2000})?>", re.IGNORECASE)


def declared_charset(data: bytes) -> str | None:
    """What an XML declaration or a meta element names, also after a long preamble."""
    if found := declared_in_xml(data):
        return found
    match = _META.search(data[:_META_BYTES])
    return match.group(1).decode("ascii") if match else None


def _attribute_text(node: Any) -> str:
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"


@dataclass(slots=True)
class _Size:
    """Visible characters below an element, those in links, and how many links."""

    text: int = 0
    linked: int = 0
    links: int = 0


def _measure(root: Any, whole: bool) -> dict[int, _Size]:
    """Sizes of all elements that are not dropped by their tag, in one pass."""
    sizes: dict[int, _Size] = {}
    stack: list[tuple[Any, _Size | None]] = [(root, None)]
    while stack:
        node, into = stack.pop()
        if into is not None:  # on the way up
            own = sizes[node.mem_id]
            if node.tag == "a":
                own.linked, own.links = own.text, own.links + 1
            into.text += own.text
            into.linked += own.linked
            into.links += own.links
            continue
        size = sizes[node.mem_id] = _Size()
        for child in _children(node):
            if child.tag == "-text":
                size.text += len((child.text_content or "").strip())
            elif child.is_element_node and not _dropped_by_tag(child, whole):
                stack.append((child, size))
                stack.append((child, None))
    return sizes


def _dropped_by_tag(node: Any, whole: bool) -> bool:
    """A header or footer inside an article belongs to the article."""
    tag = node.tag
    if whole:
        return tag in _DROP_IN_BOOKS
    return tag in _DROP and not (tag in ("header", "footer") and _inside(node, "article"))


def _is_boilerplate(node: Any) -> bool:
    attributes = node.attributes
    if not attributes or node.tag in _KEPT_TAGS:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = (attributes.get("style") or "").replace(" ", "").lower()
    if "display:none" in style or attributes.get("role") in _ROLES:
        return True
    return bool(_BOILERPLATE.search(_attribute_text(node)))


def _inside(node: Any, tag: str) -> bool:
    for _ in range(50):
        node = node.parent
        if node is None:
            return False
        if node.tag == tag:
            return True
    return False


def _root(body: Any, sizes: dict[int, _Size]) -> Any:
    """The element that holds the content: an article or main with most of the text, or the body."""

    def length(node: Any) -> int:
        size = sizes.get(node.mem_id)
        return size.text if size is not None else 0

    total = length(body)
    for selector in ("article", "main, [role=main]"):
        best = max(body.css(selector), key=length, default=None)
        if best is not None and length(best) >= _MAIN_SHARE * total > 0:
            return best
    return body


def _layout_rows(root: Any) -> set[int]:
    """Ids of rows that hold another table: layout, not data."""
    rows: set[int] = set()
    for table in root.css("table table"):
        node = table.parent
        while node is not None and node.mem_id not in rows:
            if node.tag == "tr":
                rows.add(node.mem_id)
            node = node.parent
    return rows


class _Reader:
    """Depth first over the tree without recursion (pages nest thousands deep)."""

    def __init__(self, root: Any, sizes: dict[int, _Size], whole: bool) -> None:
        self.out = Assembler()
        self.whole = whole
        self.root = root
        self.sizes = sizes
        self.total = sizes[root.mem_id].text
        self.layout = _layout_rows(root)
        self.kind: list[tuple[BlockKind, int]] = [("paragraph", 0)]

    def read(self) -> Assembler:
        stack: list[tuple[Any, bool]] = [(self.root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                self._leave(node.tag)
            elif node.tag == "-text":
                self.out.inline(node.text_content or "", keep=self.kind[-1][0] == "code")
            elif self._enter(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(_children(node))))
        self.out.flush(*self.kind[0])
        return self.out

    def _enter(self, node: Any) -> bool:
        """Whether to go on into the node's children."""
        tag = node.tag
        if not node.is_element_node or self._skipped(node):
            return False
        if tag == "br":
            self.out.inline("\n" if self.kind[-1][0] == "code" else " ", keep=True)
            return False
        if tag == "tr" and node.mem_id not in self.layout and self._row(node):
            return False
        if tag in _HEADINGS:
            self._open("heading", _HEADINGS[tag])
        elif tag == "li":
            self._open("list", 0)
        elif tag == "pre":
            self._open("code", 0)
        elif tag in _BLOCK:
            self.out.flush(*self.kind[-1])
        return True

    def _skipped(self, node: Any) -> bool:
        """Boilerplate, and menus; never what holds most of the page, whatever it is called."""
        size = self.sizes.get(node.mem_id)
        if size is None:
            return True  # dropped by its tag
        if self.whole or node is self.root or size.text * 2 >= self.total:
            return False
        if node.tag in ("ul", "ol") and size.links >= _LINK_LIST_LINKS:
            return size.linked >= _LINK_LIST_SHARE * size.text
        return _is_boilerplate(node)

    def _open(self, kind: BlockKind, level: int) -> None:
        self.out.flush(*self.kind[-1])
        self.kind.append((kind, level))

    def _leave(self, tag: str) -> None:
        if tag in _HEADINGS or tag in ("li", "pre"):
            self.out.flush(*self.kind.pop())
        elif tag in _BLOCK:
            self.out.flush(*self.kind[-1])

    def _row(self, row: Any) -> bool:
        """Write a row of data cells as one line; False for rows of layout."""
        cells = [self._cell(cell) for cell in _children(row) if cell.tag in ("td", "th")]
        filled = [cell for cell in cells if cell]
        if any(len(cell) > _SHORT_CELL for cell in filled):
            return False
        self.out.flush(*self.kind[-1])
        if len(filled) == 1:
            self.out.inline(filled[0])
            self.out.flush("paragraph", 0)
        elif filled:
            self.out.row(" | ".join(filled))
        return True

    def _cell(self, cell: Any) -> str:
        """All text of a cell on one line."""
        parts: list[str] = []
        stack = [cell]
        while stack:
            node = stack.pop()
            if node.tag == "-text":
                parts.append(node.text_content or "")
            elif node.mem_id in self.sizes:
                if node.tag in _BLOCK or node.tag == "br":
                    parts.append(" ")
                stack.extend(reversed(list(_children(node))))
        return " ".join("".join(parts).split())


def _children(node: Any) -> Iterator[Any]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _unframed(page: str) -> str:
    """A page of frames as browsers without frames show it."""
    return _FRAMES.sub(" ", page) if _FRAMESET.search(page) else page


def parse(decoded: Decoded, *, whole: bool = False) -> Extracted:
    """The page's main text; blocks from its elements, tables row by row.

    whole: all of its text but scripts and navigation, for pages of a book.
    """
    from selectolax.lexbor import LexborHTMLParser

    page, too_deep = bounded(_unframed(decoded.text))
    tree = LexborHTMLParser(page)
    title_node = tree.css_first("title")
    title = " ".join((title_node.text(deep=True) or "").split()) if title_node is not None else ""
    body = tree.body or tree.root
    if body is None:
        raise SourceError("no text in it")
    sizes = _measure(body, whole)
    out = _Reader(body if whole else _root(body, sizes), sizes, whole).read()
    text, blocks = out.finish()
    notes: tuple[str, ...] = (decoded.note,) if decoded.note else ()
    if too_deep:
        notes += (
            f"elements nested deeper than {DEEPEST} levels: their text is read, not their structure",
        )
    return Extracted(text, "html", blocks, title[:300], notes=notes)


def load_html(data: bytes, ending: str) -> Extracted:
    """Raises SourceError where nothing can be read."""
    return parse(decode(data, declared_charset(data)))
