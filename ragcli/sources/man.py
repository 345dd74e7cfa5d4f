"""Manual pages (man and mdoc macros), line for line, without the macros.

Own reader: what renders them are programs (groff, mandoc), and their output has lost the
lines of the file. Nothing is executed: no string, register or macro is expanded, no
file included.
"""

from __future__ import annotations

import re

from ragcli.sources.decode import decode
from ragcli.sources.keeping import LineKeeper
from ragcli.sources.mdoc import Mdoc
from ragcli.sources.packed import MAGIC, unpacked
from ragcli.sources.plain import notes
from ragcli.sources.roff import arguments, unescape
from ragcli.types import Extracted

_REQUEST = re.compile(r"[.'][ \t]*([A-Za-z][A-Za-z0-9]{0,14}|\\[\"#]|\.)?[ \t]*(.*)")
_FONTS = frozenset({"B", "I", "R", "SM", "SB", "BI", "BR", "IB", "IR", "RB", "RI", "CW"})
_BREAKS = frozenset({"PP", "P", "LP", "HP", "RS", "RE", "br", "sp", "TQ", "bp", "in", "ti", "ne"})
_CODE = {"nf": True, "EX": True, "Vb": True, "fi": False, "EE": False, "Ve": False}
_UNTIL = {"de": "..", "de1": "..", "am": "..", "ig": "..", "EQ": ".EN", "PS": ".PE"}
_CODING = re.compile(rb"-\*-.{0,60}coding:\s*([\w-]+)")
_CONDITIONS = frozenset({"if", "ie", "el", "while"})
_TABLE_FORMAT = re.compile(r"[\^_lrcansLRCANSbBiIfpvwWmxXzZeEtTdDuU0-9().,;|\s*=-]*\.?")


class _Reader:
    def __init__(self) -> None:
        self.out = LineKeeper()
        self.mdoc = Mdoc()
        self.title = ""
        self.code = False
        self.until = ""  # lines up to this one say nothing
        self.tag = False  # the next line is the tag of a list item
        self.prefix = ""  # a tag, for the line below it: together they make a sentence
        self.table = ""  # "" outside, "format" before the rows, "rows"
        self.depth = 0  # of braces of a condition that is not followed

    def read(self, text: str) -> None:
        lines = text.split("\n")
        for number, line in enumerate(lines):
            self._line(line)
            if number < len(lines) - 1:
                self.out.newline(not line.strip() or self.code)
        self._flush()

    def _line(self, line: str) -> None:
        if self.until:
            if line.rstrip() == self.until:
                self.until = ""
        elif self.depth:
            self.depth = max(0, self.depth + line.count("\\{") - line.count("\\}"))
        elif self.table and line[:3] != ".TE":
            self._table(line)
        elif line.startswith((".", "'")) and (found := _REQUEST.fullmatch(line)):
            self._request(found.group(1) or "", found.group(2))
        else:
            self._text(unescape(line))

    def _text(self, text: str) -> None:
        """A line of text, or what a font macro prints."""
        if self.tag and text.strip():
            self.tag, self.prefix = False, f"{text.strip()}: "
        elif text.strip():
            self.out.put(self.prefix + (text if self.code else text.strip()), keep=self.code)
            self.prefix = ""

    def _request(self, name: str, rest: str) -> None:
        if name in _FONTS:
            self._font(name, rest)
        elif name in ("TH", "Dt"):
            words = [unescape(word) for word in arguments(rest)]
            self.title = self.title or (f"{words[0]}({words[1]})" if len(words) > 1 else "")
        elif name in ("SH", "SS", "Sh", "Ss"):
            self._heading(rest, 1 if name in ("SH", "Sh") else 2)
        elif name in _CODE or name in ("Bd", "Ed"):
            self._flush()
            self.code = _CODE.get(name, name == "Bd" and "-literal" in rest)
        elif name in _UNTIL:
            self.until = _UNTIL[name]
        elif name in _CONDITIONS:
            self.depth = max(0, rest.count("\\{") - rest.count("\\}"))
        else:
            self._structure(name, rest)

    def _structure(self, name: str, rest: str) -> None:
        if name in _BREAKS:
            self._flush()
        elif name == "TP":
            self._flush()
            self.tag = True
        elif name == "IP":
            self._item(rest)
        elif name == "TS":
            self._flush()
            self.table = "format"
        elif name == "TE":
            self.table = ""
            self.out.flush("table")
        elif name in ("UR", "MT"):
            self.out.put(unescape(rest).strip())
        elif self.mdoc.knows(name):
            if self.mdoc.breaks(name):
                self._flush()
            if name == "It":
                tag = self.mdoc.printed(name, rest)
                self.prefix = f"{tag}: " if tag else "- "
            else:
                self._text(self.mdoc.printed(name, rest))

    def _font(self, name: str, rest: str) -> None:
        words = [unescape(word) for word in arguments(rest)]
        self._text(("" if len(name) == 2 and name not in ("SM", "SB", "CW") else " ").join(words))

    def _heading(self, rest: str, level: int) -> None:
        self._flush()
        self.code = False
        self.out.put(" ".join(unescape(word) for word in arguments(rest)))
        self.out.flush("heading", level)

    def _item(self, rest: str) -> None:
        self._flush()
        words = arguments(rest)
        tag = unescape(words[0]).strip() if words else ""
        if tag in ("•", "-", "*", "o", "·"):
            self.prefix = "- "
        elif tag:
            self.prefix = f"{tag}: "

    def _table(self, line: str) -> None:
        """Rows of tbl, cells by tabs; the lines that describe the columns say nothing."""
        if self.table == "format":
            if not _TABLE_FORMAT.fullmatch(line) and not line.rstrip().endswith(";"):
                self.table = "rows"  # a damaged table: read on
            else:
                self.table = "rows" if line.rstrip().endswith(".") else "format"
                return
        if line.startswith(".") or line.strip() in ("_", "=", "T}"):
            return
        cells = [unescape(cell).strip() for cell in re.split(r"\t|T\{|T\}", line)]
        self.out.put(" | ".join(cell for cell in cells if cell), keep=True)

    def _flush(self) -> None:
        self.out.put(self.prefix)  # a tag with nothing below it
        self.tag, self.prefix = False, ""
        self.out.flush("code" if self.code else "paragraph")


def load_man(data: bytes, ending: str) -> Extracted:
    """Line n of the text is what line n of the file says; sections are headings.

    A page packed with gzip is unpacked. Raises SourceError where that fails.
    """
    if data.startswith(MAGIC):
        data = unpacked(data)
    coding = _CODING.search(data[:300])
    decoded = decode(data, coding.group(1).decode("ascii", "replace") if coding else None)
    reader = _Reader()
    reader.read(decoded.text)
    text, blocks = reader.out.finish()
    return Extracted(text, "man", blocks, reader.title, notes=notes(decoded))
