"""Bytes to text: encodings, line ends, control characters."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from ragcli.sources.guess import guess
from ragcli.sources.wide import utf16_without_bom, utf32_without_bom

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Encodings of seven bits, which pass for ASCII; the bytes that they switch with tell them.
_SEVEN_BITS = ("iso-2022", "hz", "utf-7")
_SWITCHES = re.compile(rb"\x1b(?:\$[@B]|\$\([A-D]|\$\)C)")
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_XML_ENCODING = re.compile(rb"""<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
# C0 and C1 controls except tab and line feed, and DEL: a blank each, so that offsets hold.
_CONTROL = {code: " " for code in [*range(0x20), *range(0x7F, 0xA0)] if code not in (0x09, 0x0A)}
_WINDOWS = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252",
            "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "x-sjis": "cp932",
            "tis-620": "cp874", "iso-8859-9": "cp1254", "euc-kr": "cp949", "ks_c_5601-1987": "cp949"}  # fmt: skip
# What a text says of its own encoding: to Emacs, Vim and Python near its start, to LaTeX.
_COOKIE = re.compile(rb"\A(?:[^\r\n]{0,300}\r?\n)?[^\r\n]{0,300}?coding[:=][ \t]*([\w.-]{2,30})")
_INPUTENC = re.compile(
    rb"^[^%\r\n]{0,200}\\usepackage[ ]?\[([\w-]{2,30})\][ ]?\{inputenc\}", re.MULTILINE
)
_OF_LATEX = {
    "ansinew": "cp1252",
    "applemac": "mac-roman",
    "macce": "mac-latin2",
    "cp1252": "cp1252",
}
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_WESTERN_LETTERS = frozenset(
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüýßÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÚÜœŒ“”„‘’–—…«»°§€£©®\u00a0"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`encoding` as Python names it; `note` for people, "" where there is no doubt."""

    text: str
    encoding: str
    note: str = ""


def clean(text: str) -> str:
    """Line ends made LF, BOMs dropped from the start, control characters made blanks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if text.isprintable():
        return text
    return text.translate(_CONTROL)


def _seven_bits(data: bytes, declared: str | None) -> Decoded | None:
    """Text in a stateful seven-bit encoding, declared, or told by its switches (Japanese)."""
    name = (declared or "").strip().lower()
    if name.startswith(_SEVEN_BITS) and (text := _strict(data, name)) is not None:
        return Decoded(text, name)
    if _SWITCHES.search(data[:65_536]) and (text := _strict(data, "iso-2022-jp-2")) is not None:
        return Decoded(text, "iso-2022-jp", "encoding guessed: iso-2022-jp")
    return None


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def declared_in_xml(data: bytes) -> str | None:
    """The encoding an XML declaration names."""
    match = _XML_ENCODING.match(data[:300].lstrip())
    return match.group(1).decode("ascii") if match else None


def _in_text(data: bytes) -> str | None:
    """The encoding that a text names for editors and compilers."""
    if found := _COOKIE.match(data[:700]) or _INPUTENC.search(data[:8192]):
        name = found.group(1).decode("ascii", "replace").lower()
        return _OF_LATEX.get(name, name)
    return None


def _declared(data: bytes, declared: str) -> Decoded | None:
    name = declared.strip().lower()
    name = _WINDOWS.get(name, name)
    if name.replace("_", "-").startswith(("utf", "unicode")):
        return None  # not UTF-8, as the strict try has shown
    try:
        text = data.decode(name, "replace")
    except (LookupError, UnicodeError):
        return None
    damaged = text.count("\ufffd")
    if damaged * 1000 > len(text):
        return None
    note = f"{damaged} damaged characters replaced" if damaged else ""
    return Decoded(text, name, note)


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 in which few bytes are wrong: fewer than there are good multi-byte characters."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    good = len(_MULTIBYTE.findall(data)) - damaged
    if good > 2 * damaged or (good > 0 and damaged <= 2):
        return Decoded(text, "utf-8", f"{damaged} damaged characters replaced")
    return None


def _guessed(data: bytes) -> Decoded:
    text, name = guess(data)
    return Decoded(text, name, f"encoding guessed: {name}")


def _mixed_lines(data: bytes) -> Decoded | None:
    """UTF-8 with lines of Windows-1252 between, as files have that were put together.

    A line with good characters of several bytes in it is UTF-8 with damage.
    """
    lines = data.split(b"\n")
    good = sum(1 for line in lines if not line.isascii() and _strict(line, "utf-8") is not None)
    other = 0
    for at, line in enumerate(lines):
        if line.isascii() or _strict(line, "utf-8") is not None:
            continue
        western = _strict(line, "cp1252")
        if _MULTIBYTE.search(line) or western is None or not _is_western(western):
            continue
        lines[at] = western.encode("utf-8")
        other += 1
    if not other or 3 * good < other:
        return None
    text = b"\n".join(lines).decode("utf-8", "replace")
    return Decoded(text, "utf-8", f"{other} lines are no UTF-8: read as cp1252")


def _is_western(line: str) -> bool:
    beyond = _BEYOND_ASCII.findall(line)
    return not any(set(run) - _WESTERN_LETTERS or len(run) > 2 for run in beyond)


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Text of a file, `clean`ed. Never fails; the note says what was unsure.

    Order: BOM; strict UTF-8; UTF-16 by its pattern of NULs; the encoding the file
    declares, if it fits; UTF-8 with lines in another encoding or with little damage; a guess. A declaration comes after
    strict UTF-8 because it is often wrong and UTF-8 hardly ever passes by chance.
    """
    decoded = _decode(data, declared)
    return Decoded(clean(decoded.text), decoded.encoding, decoded.note)


def _decode(data: bytes, declared: str | None) -> Decoded:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = data[len(bom) :].decode(encoding, "replace")
            damaged = text.count("\ufffd")
            return Decoded(
                text, encoding, f"{damaged} damaged characters replaced" if damaged else ""
            )
    if found := _seven_bits(data, declared):
        return found
    if wide := utf32_without_bom(data):
        return Decoded(data.decode(wide, "replace"), wide, f"encoding guessed: {wide}")
    text_or_none = _strict(data, "utf-8")
    if text_or_none is not None and not (wide := utf16_without_bom(data)):
        return Decoded(text_or_none, "utf-8")
    if wide := utf16_without_bom(data):
        return Decoded(data.decode(wide, "replace"), wide, f"encoding guessed: {wide}")
    if (declared := declared or _in_text(data)) and (found := _declared(data, declared)):
        return found
    return _mixed_lines(data) or _damaged_utf8(data) or _guessed(data)
