"""What kind of file this is: by content first, then by the name's ending."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragcli.sources.decode import utf16_without_bom

HEAD = 8192  # bytes that decide

_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd"})
_HTML = frozenset({".html", ".htm", ".xhtml", ".xht"})
_CODE_ENDINGS = (
    ".py .pyi .pyx .js .mjs .cjs .jsx .ts .tsx .c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .java .kt "
    ".kts .scala .go .rs .rb .php .pl .pm .r .jl .lua .swift .cs .fs .vb .dart .ex .exs .erl .hs "
    ".ml .mli .clj .lisp .el .sh .bash .zsh .fish .ps1 .bat .cmd .sql .css .scss .less .vue .svelte "
    ".asm .s .f .f90 .pas .ada .d .zig .nim .v .sv .vhd .tcl .groovy .gradle .cmake .mk .proto "
    ".json .jsonl .ndjson .ipynb .yaml .yml .toml .ini .cfg .conf .xsd .xsl .tf .nix"
)
_CODE = frozenset(_CODE_ENDINGS.split())
_CODE_NAMES = frozenset({"makefile", "dockerfile", "cmakelists.txt", "rakefile", "gemfile"})
# Documents that have no loader yet, by ending.
_LATER_ENDINGS = (
    "epub odt ods odp odg xlsx xlsm xls pptx ppt doc rtf mobi azw azw3 djvu ps msg pages key "
    "numbers dotx docm"
)
_LATER = frozenset(_LATER_ENDINGS.split())

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
    if not head or head.startswith((b"\xff\xfe", b"\xfe\xff")) or utf16_without_bom(head):
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


def _container(head: bytes, ending: str) -> Sniffed | None:
    """Documents inside zip and OLE containers."""
    if head.startswith(b"PK"):
        if ending == ".docx" or (b"word/" in head and ending not in (".zip", ".docm", ".dotx")):
            return Sniffed("docx")
        for mark, name in ((b"epub+zip", "epub"), (b"oasis.opendocument.text", "odt")):
            if mark in head[:200]:
                return Sniffed(None, f"format not supported yet: {name}")
    if head.startswith(_OLE) and ending == ".docx":
        return Sniffed("docx")
    if ending[1:] in _LATER:
        return Sniffed(None, f"format not supported yet: {ending[1:]}")
    if head.startswith(_OLE):
        return Sniffed(None, "binary (Office 97 document)")
    return None


def inspect(path: Path, head: bytes) -> Sniffed:
    """The kind of a file from its first `HEAD` bytes and its name."""
    ending = path.suffix.lower()
    if b"%PDF-" in head[:1024] or ending == ".pdf":
        return Sniffed("pdf")
    if (found := _container(head, ending)) is not None:
        return found
    if head.startswith(b"{\\rtf"):
        return Sniffed(None, "format not supported yet: rtf")
    if name := _magic(head):
        return Sniffed("docx") if ending == ".docx" else Sniffed(None, f"binary ({name})")
    if ending == ".docx":
        return Sniffed("docx")
    if _looks_binary(head):
        return Sniffed(None, "binary")
    return Sniffed(_text_kind(path.name.lower(), ending, head))


def _text_kind(name: str, ending: str, head: bytes) -> str:
    start = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if ending in _HTML or start.startswith((b"<!doctype html", b"<html")):
        return "html"
    if ending in _MARKDOWN:
        return "markdown"
    if start.startswith(b"<?xml") and b"<html" in head[:2048].lower():
        return "html"
    if ending in _CODE or name in _CODE_NAMES or start.startswith(b"#!"):
        return "code"
    return "text"


def sniff(path: Path, head: bytes) -> str | None:
    """The kind of a file, None for what is no supported document (see `inspect` for why)."""
    return inspect(path, head).kind
