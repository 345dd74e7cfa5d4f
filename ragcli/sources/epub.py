"""EPUB: chapters in reading order, each read as HTML; a bad chapter loses only itself.

Opened by hand: ebooklib is AGPL and gives up the whole book for one missing chapter.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.assemble import settled
from ragcli.sources.decode import clean, decode
from ragcli.sources.html import declared_charset, parse
from ragcli.sources.ooxml import Package, attribute, child, local, resolve
from ragcli.types import Block, Extracted

_FONTS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_PAGES = frozenset(
    {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml"}
)
_PAGE_NAME = re.compile(r"\.x?html?$", re.IGNORECASE)
# XHTML may close an element at once; HTML would take what follows into it.
_EMPTY = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([A-Za-z][\w:-]{0,40})(\s[^<>]{0,2000})?/>",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:chapter|part|book|kapitel|teil|chapitre|cap[ií]tulo|parte)\b", re.IGNORECASE
)
_MOST_CHAPTERS = 5_000
_LABEL = 80  # characters


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book's manifest; `path` within the archive."""

    path: str
    media: str
    is_nav: bool


@dataclass(slots=True)
class _Book:
    """Text of the chapters so far. `number` counts those that have, or should have, text."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    number: int = 0
    blocks: list[Block] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # each once

    def add(self, text: str) -> int:
        """The offset at which the text then begins."""
        if self.length:
            self.parts.append("\n\n")
            self.length += 2
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        return start


def _package_part(package: Package) -> str:
    """The OPF file: as the container says, else the only one there is."""
    container = "META-INF/container.xml"
    if container in package:
        for one in package.xml(container, lenient=True).iter("{*}rootfile"):
            path = resolve("", attribute(one, "full-path"))
            if path in package:
                return path
    found = next((name for name in package.names() if name.lower().endswith(".opf")), "")
    if not found:
        raise SourceError("damaged EPUB (no package file)")
    return found


def _manifest(root: Any, folder: str) -> dict[str, _Item]:
    items: dict[str, _Item] = {}
    for one in root.iter("{*}item"):
        path = resolve(folder, attribute(one, "href"))
        is_nav = "nav" in attribute(one, "properties").split()
        items[attribute(one, "id")] = _Item(path, attribute(one, "media-type").lower(), is_nav)
    return items


def _encrypted(package: Package) -> set[str]:
    """Files under a rights management; fonts are merely obfuscated."""
    root = package.optional("META-INF/encryption.xml")
    found: set[str] = set()
    for one in root.iter("{*}EncryptedData") if root is not None else ():
        method = next(one.iter("{*}EncryptionMethod"), None)
        if method is not None and attribute(method, "Algorithm") in _FONTS:
            continue
        found |= {resolve("", attribute(ref, "URI")) for ref in one.iter("{*}CipherReference")}
    return found


def _text(element: Any) -> str:
    return " ".join(clean("".join(element.itertext())).split())[:_LABEL]


def _contents(package: Package, items: dict[str, _Item], toc: str) -> dict[str, list[str]]:
    """Entries of the table of contents by file. A broken one costs only the names."""
    navs = [item.path for item in items.values() if item.is_nav]
    if toc in items:
        navs.append(items[toc].path)
    for path in navs:
        try:
            root = package.xml(path, lenient=True)
        except SourceError:
            continue  # chapters then have the names of their headings
        if found := _entries(root, posixpath.dirname(path)):
            return found
    return {}


def _entries(root: Any, folder: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for point in root.iter("{*}navPoint"):  # EPUB 2
        label, content = child(point, "navLabel"), child(point, "content")
        if label is not None and content is not None:
            found.setdefault(resolve(folder, attribute(content, "src")), []).append(_text(label))
    for nav in root.iter("{*}nav"):  # EPUB 3
        if "toc" in attribute(nav, "type").split():
            for link in nav.iter("{*}a"):
                path = resolve(folder, attribute(link, "href"))
                found.setdefault(path, []).append(_text(link))
    return found


def _label(number: int, title: str) -> str:
    """ "chapter 3: The storm"; a title that says so itself stands alone."""
    if _NAMED.match(title):
        return title
    return f"chapter {number}: {title}" if title else f"chapter {number}"


def _chapter(package: Package, path: str) -> Extracted:
    data = package.read(path)
    decoded = decode(data, declared_charset(data))
    return parse(
        type(decoded)(_EMPTY.sub(r"<\1\2></\1>", decoded.text), decoded.encoding, decoded.note),
        whole=True,
    )


def _first_title(chapter: Extracted, names: list[str], entries: list[str]) -> str:
    """What the start of a file is called; "" where it goes on with the chapter before."""
    begins = bool(chapter.blocks) and chapter.blocks[0].kind == "heading"
    later = {name.casefold() for name in names[1 if begins else 0 :]}
    if entries:
        return "" if entries[0].casefold() in later else entries[0]
    return names[0] if begins else ""


def _add(book: _Book, chapter: Extracted, entries: list[str]) -> None:
    """A chapter's text. Its name comes from the contents, else from its first heading."""
    book.number += 1
    book.notes += [note for note in chapter.notes if note not in book.notes]
    headings = [block for block in chapter.blocks if block.kind == "heading"]
    names = [" ".join(chapter.text[b.start : b.end].split())[:_LABEL] for b in headings]
    title = _first_title(chapter, names, entries)
    if title and not headings:
        start = book.add(title)
        book.blocks.append(Block(start, start + len(title), "heading", 1))
        book.places.append((start, _label(book.number, title)))
    start = book.add(chapter.text)
    if (title and headings) or not book.places:  # else it goes on with the chapter before
        book.places.append((start, _label(book.number, title)))
    listed = {name.casefold() for name in entries}
    for block, name in zip(headings, names, strict=True):
        if name.casefold() in listed:  # several chapters in one file
            book.places.append((start + block.start, _label(book.number, name)))
    book.blocks += [
        Block(start + b.start, start + b.end, b.kind, b.level, b.name) for b in chapter.blocks
    ]


def _read(package: Package, opf: str, root: Any) -> _Book:
    items = _manifest(root, posixpath.dirname(opf))
    spine = next(root.iter("{*}spine"), None)
    toc = attribute(spine, "toc") if spine is not None else ""
    contents = _contents(package, items, toc)
    locked = _encrypted(package)
    book = _Book()
    seen: set[str] = set()
    for name in _order(items, spine, book):
        item = items.get(name)
        if item is None:
            _lost(book, clean(name), "not in the book")
        elif item.path not in seen and not item.is_nav and _is_page(item):
            seen.add(item.path)
            _page(package, book, item.path, contents, locked)
        if len(seen) == _MOST_CHAPTERS:
            book.missing.append(f"chapters after {_MOST_CHAPTERS:,}")
            break
    return book


def _order(items: dict[str, _Item], spine: Any, book: _Book) -> list[str]:
    """Ids in the order of reading; of the list of files where the book does not say one."""
    given = (
        [attribute(one, "idref") for one in spine if local(one) == "itemref"]
        if spine is not None
        else []
    )
    if given:
        return given
    listed = [name for name, item in items.items() if _is_page(item) and not item.is_nav]
    if not listed:
        raise SourceError("damaged EPUB (no reading order)")
    book.missing.append("reading order: files come as they are listed")
    return listed


def _is_page(item: _Item) -> bool:
    return item.media in _PAGES or bool(_PAGE_NAME.search(item.path))


def _lost(book: _Book, name: str, why: str) -> None:
    book.number += 1
    book.missing.append(f"chapter {book.number} ({name}) is {why}")


def _page(
    package: Package, book: _Book, path: str, contents: dict[str, list[str]], locked: set[str]
) -> None:
    """One file of the reading order; pages without text (covers) are no chapters."""
    name = posixpath.basename(path)
    if path in locked:
        _lost(book, name, "encrypted (DRM)")
    elif path not in package:
        _lost(book, name, "not in the book")
    else:
        try:
            chapter = _chapter(package, path)
        except SourceError as error:
            _lost(book, name, f"unreadable: {error.message}")
            return
        if chapter.text.strip():
            _add(book, chapter, contents.get(path, []))


def load_epub(data: bytes, ending: str) -> Extracted:
    """Chapters in the order of the spine, without tables of contents; places name chapters.

    What is missing, broken or encrypted is named in `missing`. Raises SourceError:
    damaged, bomb, encrypted as a whole, no text.
    """
    package = Package(data, "EPUB")
    opf = _package_part(package)
    root = package.xml(opf, lenient=True)
    book = _read(package, opf, root)
    text = "".join(book.parts)
    if not text:
        if any("DRM" in one for one in book.missing):
            raise SourceError("encrypted (DRM)", hint="use a copy without rights management")
        raise SourceError(book.missing[0] if book.missing else "no text in it")
    metadata = child(root, "metadata")
    found = next(metadata.iter("{*}title"), None) if metadata is not None else None
    title = " ".join(clean("".join(found.itertext())).split())[:300] if found is not None else ""
    return Extracted(
        text, "epub", tuple(book.blocks), title, notes=tuple(book.notes),
        places=settled(book.places, text), missing=tuple(book.missing),
    )  # fmt: skip
