"""Documents that are zip archives of XML, opened safely: Office Open XML, ODF, EPUB.

Entries are bounded, XML has no entities and no network. Small parts are read whole;
long tables are streamed, so that their size costs time and no memory.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import unquote

from ragcli.errors import SourceError

MIB = 1 << 20
MOST_ENTRIES = 10_000
MOST_TOTAL = 200 * MIB  # uncompressed size of the parts that are read
BIG = 10 * MIB  # a part above this must not be packed
MOST_RATIO = 200  # more than this
MOST_STREAMED = 768 * MIB  # uncompressed size of the parts that are streamed
MOST_ELEMENT = 8 * MIB  # of a streamed part without one of the elements looked for
_CHUNK = 1 << 16
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ENTITIES = "XML entities are not read (unsafe)"
_SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[<>]{0,2000}>")
_BOMB = "uncompressed size is out of bounds (a zip bomb?)"


_OLD = {"DOCX": "an old Word file", "XLSX": "an old Excel file", "PPTX": "an old PowerPoint file"}
_UNPACK_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError,
)  # fmt: skip


class TooLong(SourceError):
    """What is streamed goes on beyond `MOST_STREAMED`."""


class Package:
    """The parts of a document. All errors are SourceError; `label` names the format in them."""

    def __init__(self, data: bytes, label: str = "DOCX") -> None:
        self.label = label
        if data.startswith(_OLE):
            if _ENCRYPTED in data:
                raise SourceError("password needed", hint="save a copy without a password")
            old = _OLD.get(label, "an old Office file")
            raise SourceError(f"{old}, not {label}", hint=f"save it as {label}")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
            raise SourceError(f"damaged {label} (not a whole zip archive)") from error
        infos = self._zip.infolist()
        if len(infos) > MOST_ENTRIES:
            raise SourceError("too many parts in the archive")
        self._infos = {info.filename.replace("\\", "/").lstrip("/"): info for info in infos}
        self._left = MOST_TOTAL
        self._to_stream = MOST_STREAMED

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def names(self) -> tuple[str, ...]:
        """All parts, in the order of the archive."""
        return tuple(self._infos)

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._infos.get(name)
        if info is None:
            raise SourceError(f"damaged {self.label} (no {name})")
        if info.flag_bits & 1:
            raise SourceError("password needed", hint="save a copy without a password")
        return info

    def read(self, name: str) -> bytes:
        """One part. The declared size is checked first, and the real one as well."""
        info = self._info(name)
        packed = max(1, info.compress_size)
        if info.file_size > self._left or (
            info.file_size > BIG and info.file_size > MOST_RATIO * packed
        ):
            raise SourceError(_BOMB)
        try:
            with self._zip.open(info) as part:
                data = part.read(info.file_size + 1)
        except _UNPACK_ERRORS as error:
            raise SourceError(f"damaged {self.label} ({name} cannot be unpacked)") from error
        if len(data) > info.file_size:
            raise SourceError(_BOMB)
        self._left -= len(data)
        return data

    def xml(self, name: str, *, lenient: bool = False) -> Any:
        """Root element of an XML part. Document types and entities are refused.

        lenient: a document type that only names a DTD is passed over, and small damage
        repaired (tables of contents of books have both).
        """
        from lxml import etree

        data = self.read(name)
        parser = etree.XMLParser(**_SAFE, recover=lenient)
        if lenient:
            data = _DOCTYPE.sub(b"", data, count=1)
        if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
            raise SourceError(_ENTITIES)
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise SourceError(f"damaged {self.label} ({name} is no valid XML)") from error
        if root is None:
            raise SourceError(f"damaged {self.label} ({name} is no valid XML)")
        if root.getroottree().docinfo.doctype:
            raise SourceError(_ENTITIES)
        return root

    def optional(self, name: str) -> Any:
        """`xml`, or None where there is no such part."""
        return self.xml(name) if name in self else None

    def spare(self, name: str, missing: list[str] | None = None, what: str = "") -> Any:
        """`optional` for a part without which the text can be read: None if it is damaged.

        missing: is told what is lost then ("footnotes: damaged DOCX (…)").
        """
        try:
            return self.optional(name)
        except SourceError as error:
            if missing is not None:
                missing.append(f"{what}: {error.message}")
            return None

    def size(self, name: str) -> int:
        """Bytes of a part as it says; no more of it are ever read."""
        return self._info(name).file_size

    def chunks(self, name: str) -> Iterator[bytes]:
        """A part piece by piece."""
        info = self._info(name)
        try:
            with self._zip.open(info) as part:
                while chunk := part.read(_CHUNK):
                    yield chunk
        except _UNPACK_ERRORS as error:
            raise SourceError(f"damaged {self.label} ({name} cannot be unpacked)") from error

    def stream(
        self, name: str, *tags: str, events: tuple[Literal["start", "end"], ...] = ("end",)
    ) -> Iterator[tuple[str, Any]]:
        """(event, element) of the elements with these local names; each is dropped after use.

        Raises SourceError where `MOST_ELEMENT` bytes hold none of them, and TooLong where
        all parts that are streamed together have more than `MOST_STREAMED`.
        """
        from lxml import etree

        parser = etree.XMLPullParser(events, tag=[f"{{*}}{tag}" for tag in tags], **_SAFE)
        without, first, damage = 0, True, None
        for chunk in self.chunks(name):
            if first and b"<!DOCTYPE" in chunk.replace(b"\0", b""):
                raise SourceError(_ENTITIES)
            first = False
            self._to_stream -= len(chunk)
            if self._to_stream < 0:
                raise TooLong(_BOMB)
            damage = _fed(parser, chunk)
            without += len(chunk)
            for event, element in parser.read_events():
                without = 0
                yield event, element
                if event == "end":
                    _drop(element)
            if without > MOST_ELEMENT:
                raise SourceError(_BOMB)
            if damage is not None:
                break
        if damage := damage or _fed(parser, None):
            raise SourceError(f"damaged {self.label} ({name} is no valid XML)") from damage

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """(kind, part) by id of the parts a part refers to; links to the outside are left out."""
        folder, _, file = name.rpartition("/")
        root = self.optional(posixpath.join(folder, "_rels", f"{file}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for one in root if root is not None else ():
            if attribute(one, "TargetMode") != "External":
                kind = attribute(one, "Type").rpartition("/")[2]
                found[attribute(one, "Id")] = (kind, resolve(folder, attribute(one, "Target")))
        return found


def main_part(package: Package, usual: str) -> str:
    """The part with the document: as the relations say, else where it always is."""
    try:
        relations = package.relations("")
    except SourceError:
        return usual
    for kind, part in relations.values():
        if kind == "officeDocument" and part in package:
            return part
    return usual


def core_title(package: Package) -> str:
    """The title in the document's properties, "" without one."""
    root = package.spare("docProps/core.xml")
    title = child(root, "title") if root is not None else None
    return " ".join((title.text or "").split())[:300] if title is not None else ""


def _fed(parser: Any, chunk: bytes | None) -> Exception | None:
    """Gives a parser some more, or ends it; what is wrong with it. Elements before stay."""
    from lxml import etree

    try:
        parser.close() if chunk is None else parser.feed(chunk)
    except etree.XMLSyntaxError as error:
        return error  # type: ignore[no-any-return]
    return None


def _drop(element: Any) -> None:
    """Free an element and what stands before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def resolve(folder: str, target: str) -> str:
    """The part a reference means, from the folder of the part that holds it."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def local(element: Any) -> str:
    """The name of an element without its namespace: strict and transitional files alike."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """An attribute by its local name, "" if it is not there."""
    for key, value in element.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def child(element: Any, name: str) -> Any:
    """The first child of that local name, or None."""
    for one in element:
        if local(one) == name:
            return one
    return None


def is_on(properties: Any, name: str) -> bool:
    """Whether a toggle such as <vanish/> is set among run or paragraph properties."""
    toggle = child(properties, name) if properties is not None else None
    return toggle is not None and attribute(toggle, "val") not in ("0", "false", "off")
