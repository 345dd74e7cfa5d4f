"""Opening Office Open XML safely: bounded zip entries, XML without entities or network."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from ragcli.errors import SourceError

MIB = 1 << 20
MOST_ENTRIES = 10_000
MOST_TOTAL = 200 * MIB  # uncompressed size of the parts that are read
BIG = 10 * MIB  # a part above this must not be packed
MOST_RATIO = 200  # more than this
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_BOMB = "uncompressed size is out of bounds (a zip bomb?)"


class Package:
    """The parts of a document. All errors are SourceError."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            if _ENCRYPTED in data:
                raise SourceError("password needed", hint="save a copy without a password")
            raise SourceError("an old Word file, not DOCX", hint="save it as DOCX")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
            raise SourceError("damaged DOCX (not a whole zip archive)") from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        if len(self._infos) > MOST_ENTRIES:
            raise SourceError("too many parts in the archive")
        self._left = MOST_TOTAL

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        """One part. The declared size is checked first, and the real one as well."""
        info = self._infos.get(name)
        if info is None:
            raise SourceError(f"damaged DOCX (no {name})")
        packed = max(1, info.compress_size)
        if info.file_size > self._left or (
            info.file_size > BIG and info.file_size > MOST_RATIO * packed
        ):
            raise SourceError(_BOMB)
        try:
            with self._zip.open(info) as part:
                data = part.read(info.file_size + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise SourceError(f"damaged DOCX ({name} cannot be unpacked)") from error
        if len(data) > info.file_size:
            raise SourceError(_BOMB)
        self._left -= len(data)
        return data

    def xml(self, name: str) -> Any:
        """Root element of an XML part. Document types and entities are refused."""
        from lxml import etree

        data = self.read(name)
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
            raise SourceError("XML entities are not read (unsafe)")
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise SourceError(f"damaged DOCX ({name} is no valid XML)") from error
        if root is None or root.getroottree().docinfo.doctype:
            raise SourceError("XML entities are not read (unsafe)")
        return root


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
