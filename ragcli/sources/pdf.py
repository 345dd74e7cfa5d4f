"""PDF text by page. The only import of pypdfium2."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.decode import clean
from ragcli.sources.pdf_fields import Fields
from ragcli.sources.pdf_layout import Line, lay_out
from ragcli.sources.pdf_running import without_running
from ragcli.types import Extracted

_PASSWORD = 4  # FPDF_ERR_PASSWORD
_SEGMENT = re.compile(r"([^\r\n\ufffe\x02]+)([\ufffe\x02]?)")  # U+FFFE, U+0002: line-end hyphens
_BOLD_WEIGHT = 600
_SAMPLE = 300  # characters of a page tested for a missing Unicode map
_TURNED = 20  # characters of a page that tell which way its text goes
_FIELD_SIZE = 8.0  # points, where a page has no text of its own
_MOST_ATTACHMENTS = 100
_BAD_SHARE = 0.3  # of the characters, from which on a page counts as unreadable
_GARBLED = re.compile(
    r"[a-zà-ÿ][A-Z]{2}|[^\W\d_][\\~|^{}<>\[\]@#$%][^\W\d_]|[a-z]\d[a-zA-Z]|[\x01-\x08]"
)
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl",
              0xFB05: "st", 0xFB06: "st", 0x00AD: "", 0xF0B7: "•", 0xF0A7: "▪"}  # fmt: skip
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "˘": "\u0306",
            "ˇ": "\u030c", "˚": "\u030a", "¸": "\u0327"}  # fmt: skip
_ACCENTED = re.compile("([¨´ˆ˜˘ˇ˚¸])([A-Za-zı])")
_HAN = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef"
_BETWEEN_HAN = re.compile(f"(?<=[{_HAN}]) (?=[{_HAN}])")  # placed apart, not words apart
_NO_TITLE = re.compile(
    r"untitled|microsoft (?:word|powerpoint)|\.(?:docx?|pptx?|tex|dvi|indd|qxd|pdf|txt)\b",
    re.IGNORECASE,
)


def _open(data: bytes) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise SourceError("password needed", hint="save a copy without a password") from error
        raise SourceError("damaged PDF") from error


class _Page:
    """Characters of one page and where they stand."""

    def __init__(self, textpage: Any) -> None:
        import pypdfium2.raw as raw

        self._raw = raw
        self._page = textpage
        count = textpage.count_chars()
        self.text: str = textpage.get_text_range() if count > 0 else ""
        if len(self.text) != count:  # characters pdfium leaves out would shift the indices
            self.text = "".join(
                chr(raw.FPDFText_GetUnicode(textpage, at) or 32) for at in range(max(count, 0))
            )
        self._box = [ctypes.c_double() for _ in range(4)]

    def box(self, at: int) -> tuple[float, float, float, float]:
        """(left, right, bottom, top) of a character."""
        refs = [ctypes.byref(value) for value in self._box]
        if not self._raw.FPDFText_GetCharBox(self._page, at, *refs):
            return 0.0, 0.0, 0.0, 0.0
        left, right, bottom, top = (value.value for value in self._box)
        return left, right, bottom, top

    def line(self, start: int, end: int, hyphen: bool) -> Line:
        left, _, bottom, top = self.box(start)
        _, right, bottom2, top2 = self.box(end - 1)
        size = float(self._raw.FPDFText_GetFontSize(self._page, start))
        height = top - bottom
        if size < 2:  # the size is in the text matrix instead
            size = max(height * 1.4, 2.0)
        weights = [self._raw.FPDFText_GetFontWeight(self._page, at) for at in (start, end - 1)]
        return Line(
            _fold(self.text[start:end]),
            left,
            right,
            min(bottom, bottom2),
            max(top, top2),
            size,
            min(weights) >= _BOLD_WEIGHT,
            hyphen,
        )

    def lines(self) -> list[Line]:
        out: list[Line] = []
        for match in _SEGMENT.finditer(self.text):
            raw = match.group(1)
            hyphen = bool(match.group(2)) or raw.endswith("\u00ad")
            start = match.start() + len(raw) - len(raw.lstrip())
            end = match.start() + len(raw.rstrip())
            if start < end:
                line = self.line(start, end, hyphen)
                if line.text:
                    out.append(line)
        return out

    def upright(self) -> int | None:
        """The rotation of the page in which its text is upright; None if it goes several ways."""
        turns: set[int] = set()
        for at in range(0, len(self.text), max(1, len(self.text) // _TURNED)):
            angle = float(self._raw.FPDFText_GetCharAngle(self._page, at))
            if angle >= 0 and not self.text[at].isspace():  # -1: pdfium put the character there
                turns.add(round(math.degrees(angle) / 90) % 4)
        return (4 - turns.pop()) % 4 * 90 if len(turns) == 1 else None

    def readable(self) -> bool:
        """Whether characters mean what they say; else the text is mojibake.

        A missing Unicode map alone is no proof: composed accents lack one too. It
        counts where the words look wrong as well.
        """
        length = len(self.text)
        step = max(1, length // _SAMPLE)
        tested = [at for at in range(0, length, step) if not self.text[at].isspace()]
        if not tested:
            return True
        most = _BAD_SHARE * len(tested)
        if sum(_is_bad(self.text[at]) for at in tested) > most:
            return False
        unmapped = sum(self._raw.FPDFText_HasUnicodeMapError(self._page, at) == 1 for at in tested)
        return unmapped <= most or not _looks_garbled(self.text)


def _looks_garbled(text: str) -> bool:
    """Whether half of the longer words mix cases, digits and signs as no word does."""
    words = [word for word in text[:20_000].split() if len(word) >= 4]
    return bool(words) and 2 * sum(bool(_GARBLED.search(word)) for word in words) > len(words)


def _is_bad(char: str) -> bool:
    """Replaced, private, unassigned and control characters."""
    if char.isascii():
        return char < " " and char not in "\t\n\r\x02"
    return char == "\ufffd" or (
        char not in "\ufffe\uf0b7\uf0a7" and unicodedata.category(char) in ("Co", "Cn", "Cs", "Cc")
    )


def _accented(match: re.Match[str]) -> str:
    """TeX draws some accents before their letter: "na¨ıve" is "naïve"."""
    letter = match.group(2).replace("ı", "i")
    composed = unicodedata.normalize("NFC", letter + _ACCENTS[match.group(1)])
    return composed if len(composed) == 1 else match.group()


def _fold(text: str) -> str:
    """One clean line: ligatures apart, composed, soft hyphens gone, blanks single."""
    text = clean(text).translate(_LIGATURES)
    text = _ACCENTED.sub(_accented, text)
    text = "".join(" " if 0xD800 <= ord(c) <= 0xDFFF or c == "\ufffe" else c for c in text)
    return _BETWEEN_HAN.sub("", " ".join(unicodedata.normalize("NFC", text).split()))


def _page_lines(document: Any, number: int, fields: Fields) -> tuple[list[Line], list[Line], bool]:
    """(lines, filled fields, whether the lines can be read) of one page, counted from 0."""
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return [], [], True
    try:
        textpage = page.get_textpage()
        try:
            found = _Page(textpage)
            turned = page.get_rotation()
            if turned and (upright := found.upright()) is not None and upright != turned:
                # Lines that stand on the shown page are mixed up by pdfium: in memory, it is turned.
                textpage.close()
                page.set_rotation(upright)
                textpage = page.get_textpage()
                found = _Page(textpage)
            if not found.readable():
                return [], [], False
            lines = found.lines()
            smallest = min((line.size for line in lines), default=_FIELD_SIZE)
            return lines, fields.lines(page, smallest), True
        finally:
            textpage.close()
    except pypdfium2.PdfiumError:
        return [], [], True
    finally:
        page.close()


def _attachments(document: Any) -> list[str]:
    """Names of the files a PDF carries with it."""
    import pypdfium2

    names: list[str] = []
    try:
        for at in range(min(document.count_attachments(), _MOST_ATTACHMENTS)):
            names.append(_fold(document.get_attachment(at).get_name())[:100] or "unnamed")
    except (pypdfium2.PdfiumError, UnicodeError):
        names.append("unreadable")
    return names


def _title(document: Any, first: list[Line]) -> str:
    """The title in the metadata unless it is a file name; else the biggest line of page 1."""
    try:
        title = _fold(document.get_metadata_value("Title") or "")
    except (UnicodeError, ValueError):
        title = ""
    if len(title) > 3 and not _NO_TITLE.search(title):
        return title[:300]
    first = [line for line in first if line.y1 - line.y0 < 3 * line.size]  # none on its side
    if not first:
        return ""
    biggest = max(line.size for line in first)
    if biggest < 1.3 * sorted(line.size for line in first)[len(first) // 2]:
        return ""
    lines = [line.text for line in first if line.size >= 0.98 * biggest]
    return " ".join(lines[:3])[:300]


def _span(pages: list[int]) -> str:
    shown = ", ".join(map(str, pages[:10]))
    return f"page{'s' if len(pages) > 1 else ''} {shown}{', …' if len(pages) > 10 else ''}"


def load_pdf(data: bytes, ending: str) -> Extracted:
    """Text of all pages in order; `missing_pages` are those without readable text.

    Raises SourceError: password needed, damaged, no text layer, unreadable text layer.
    """
    document = _open(data)
    import pypdfium2.raw as raw

    try:
        count = len(document)
        fields = Fields(document, raw, _fold)
        pages: list[list[Line]] = []
        filled: list[list[Line]] = []
        empty: list[int] = []
        garbled: list[int] = []
        for number in range(count):
            lines, values, readable = _page_lines(document, number, fields)
            pages.append(lines)
            filled.append(values)
            if not readable:
                garbled.append(number + 1)
            elif not lines and not values:
                empty.append(number + 1)
        title = _title(document, pages[0] if pages else [])
        attached = _attachments(document)
    finally:
        document.close()
    if count == 0:
        raise SourceError("damaged PDF: no pages")
    laid = lay_out([a + b for a, b in zip(without_running(pages), filled, strict=True)])
    if not laid.text.strip():
        if garbled:
            raise SourceError("text layer cannot be read (its fonts have no Unicode map)")
        raise SourceError("no text layer (a scan?)", hint="run OCR on it first, e.g. ocrmypdf")
    notes = []
    if attached:
        notes.append(f"attached files are not read: {', '.join(attached)}")
    if empty:
        notes.append(f"no text on {_span(empty)}")
    if garbled:
        notes.append(f"text cannot be read on {_span(garbled)} (fonts without a Unicode map)")
    return Extracted(
        laid.text, "pdf", laid.blocks, title, laid.page_starts,
        tuple(sorted(empty + garbled)), tuple(notes),
    )  # fmt: skip
