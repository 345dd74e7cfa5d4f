"""What kind of file this is: by content first, then by the name's ending."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ragcli.sources import packed
from ragcli.sources.sniff_text import generated, is_man, text_kind
from ragcli.sources.wide import utf16_without_bom, utf32_without_bom

HEAD = 8192  # bytes that decide
TAIL = 1 << 18  # of a zip archive: enough for a list of some thousand parts

# Documents that have no loader yet, by ending.
_LATER_ENDINGS = "odg rtf mobi azw azw3 djvu ps msg pages key numbers fodt fods fodp"
_LATER = frozenset(_LATER_ENDINGS.split())
# Old and binary office formats, by ending: what to save them as.
_OLD_OFFICE = {"doc": "DOCX", "dot": "DOCX", "xls": "XLSX", "xlt": "XLSX", "xlsb": "XLSX",
               "ppt": "PPTX", "pps": "PPTX", "pot": "PPTX"}  # fmt: skip
# Zip documents by the ending of their name, where their content does not tell.
_BY_ENDING = {
    ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".dotm": "docx",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xltm": "xlsx",
    ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx", ".ppsm": "pptx", ".potx": "pptx",
    ".odt": "odt", ".ott": "odt", ".ods": "ods", ".ots": "ods", ".odp": "odp", ".otp": "odp",
    ".epub": "epub",
}  # fmt: skip
# ... by the name of a part that all of their kind have, and by what `mimetype` says.
_PARTS = (
    (re.compile(rb"word/document\d*\.xml"), "docx"),
    (re.compile(rb"xl/workbook\d*\.xml"), "xlsx"),
    (re.compile(rb"xl/workbook\d*\.bin"), "xlsb"),
    (re.compile(rb"ppt/presentation\d*\.xml"), "pptx"),
    (re.compile(rb"META-INF/container\.xml"), "epub"),
)
_MIMETYPES = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
    (b"application/vnd.oasis.opendocument.graphics", "odg"),
)
_ZIP_ENTRY = re.compile(rb"PK\x03\x04.{22}(..)..", re.DOTALL)
_ZIP_LISTED = re.compile(rb"PK\x01\x02.{24}(..).{16}", re.DOTALL)

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (8, b"WEBP", "WebP image"),
    (0, b"\0\0\x01\0", "icon"),
    (0, b"8BPS", "Photoshop image"),
    (0, b"\x7fELF", "ELF program"),
    (0, b"MZ", "Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (0, b"\xca\xfe\xba\xbe", "Java class"),
    (0, b"\0asm", "WebAssembly"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"(\xb5/\xfd", "zstd archive"),
    (0, b"7z\xbc\xaf'\x1c", "7z archive"),
    (0, b"Rar!", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"PK\x05\x06", "zip archive"),
    (0, b"ID3", "MP3 audio"),
    (0, b"\xff\xfb", "MP3 audio"),
    (0, b"OggS", "Ogg media"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"RIFF", "RIFF media"),
    (4, b"ftyp", "MP4 media"),
    (0, b"\x1aE\xdf\xa3", "Matroska media"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"GGUF", "GGUF model"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"\x80\x04\x95", "pickle"),
    (0, b"\0\x01\0\0", "font"),
    (0, b"OTTO", "font"),
    (0, b"wOF", "font"),
)  # fmt: skip
_WEAK = frozenset({b"BM", b"MZ", b"BZh", b"ID3", b"RIFF", b"OTTO", b"wOF", b"GIF8", b"Rar!"})
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# C0 controls that text does not hold (tab, line ends, backspace and escape it may).
_CONTROLS = bytes(c for c in range(1, 32) if c not in (8, 9, 10, 12, 13, 27)) + b"\x7f"


@dataclass(frozen=True, slots=True)
class Sniffed:
    """`kind` names a loader, or is None; then `reason` says why the file is left out."""

    kind: str | None
    reason: str = ""


def _looks_binary(head: bytes) -> bool:
    """Whether bytes without a known magic number are no text."""
    if not head or head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return False
    if utf16_without_bom(head) or utf32_without_bom(head):
        return False
    nuls = head.count(0)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    try:
        head[:-3].decode("utf-8") if len(head) >= HEAD else head.decode("utf-8")
    except UnicodeDecodeError as error:
        cut_at_end = error.start >= len(head) - 6
        if not cut_at_end:
            return nuls * 50 > len(head) or controls * 50 > len(head)
    return nuls * 5 > len(head) or controls * 10 > len(head)


def _magic(head: bytes) -> str:
    for offset, magic, name in _MAGIC:
        if head[offset : offset + len(magic)] != magic:
            continue
        if magic in _WEAK and not _looks_binary(head):
            continue  # a text that begins with these letters
        return name
    return ""


def _is_text(head: bytes) -> bool:
    """Text under the name of a binary format is read as text."""
    return not (head.startswith(_OLE) or _magic(head) or _looks_binary(head))


def _zip_names(head: bytes, tail: bytes) -> set[bytes]:
    """Names of parts at the start of an archive and in the list at its end."""
    names: set[bytes] = set()
    for data, pattern in ((head, _ZIP_ENTRY), (tail, _ZIP_LISTED)):
        for match in pattern.finditer(data):
            length = int.from_bytes(match.group(1), "little")
            names.add(data[match.end() : match.end() + length].replace(b"\\", b"/"))
    return names


def _zip_kind(head: bytes, tail: bytes) -> str:
    """ "docx", "epub", … by content, "" where it does not tell."""
    if b"mimetype" in head[:64]:
        for mark, kind in _MIMETYPES:
            if mark in head[:256]:
                return kind
    names = _zip_names(head, tail)
    for part, kind in _PARTS:
        if any(map(part.fullmatch, names)):
            return kind
    return ""


def _container(head: bytes, tail: bytes, ending: str) -> Sniffed | None:
    """Documents inside zip and OLE containers."""
    kind = _zip_kind(head, tail) if head.startswith(b"PK") else ""
    if kind in ("xlsb", "odg"):
        return _old_office(kind) or Sniffed(None, f"format not supported yet: {kind}")
    if kind := kind or ("" if _is_text(head) else _BY_ENDING.get(ending, "")):
        return Sniffed(kind)
    if ending[1:] in _LATER:
        return Sniffed(None, f"format not supported yet: {ending[1:]}")
    if head.startswith((_OLE, b"PK")) and (found := _old_office(ending[1:])):
        return found
    if head.startswith(_OLE):
        return Sniffed(None, "binary (Office 97 document)")
    return None


def _old_office(name: str) -> Sniffed | None:
    if better := _OLD_OFFICE.get(name):
        return Sniffed(None, f"format not supported yet: {name} (save it as {better})")
    return None


def inspect(path: Path, head: bytes, tail: bytes = b"") -> Sniffed:
    """The kind of a file from its first `HEAD` bytes and its name.

    tail: of a zip archive the last `TAIL` bytes, which list its parts.
    """
    ending = path.suffix.lower()
    damaged_pdf = ending == ".pdf" and not _is_text(head) and not head.startswith(b"PK")
    if b"%PDF-" in head[:1024] or damaged_pdf:
        return Sniffed("pdf")
    if (found := _container(head, tail, ending)) is not None:
        return found
    if head.startswith(b"{\\rtf"):
        return Sniffed(None, "format not supported yet: rtf")
    if head.startswith(packed.MAGIC) and is_man(packed.start_of(head, HEAD)):
        return Sniffed("man")
    if name := _magic(head):
        return Sniffed(None, f"binary ({name})")
    if _looks_binary(head):
        return Sniffed(None, "binary")
    name = path.name.lower()
    if reason := generated(name, ending, head):
        return Sniffed(None, reason)
    return Sniffed(text_kind(name, ending, head))


def sniff(path: Path, head: bytes) -> str | None:
    """The kind of a file, None for what is no supported document (see `inspect` for why)."""
    return inspect(path, head).kind
