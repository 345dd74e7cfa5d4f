"""LaTeX as people read it, line for line: macros gone, their arguments' words kept.

A scanner in one pass over the source, without recursion: pylatexenc's parser builds a
tree that loses the lines and breaks on nested or unclosed groups. Nothing is executed:
no file is included, no macro expanded but names that an author gave to a few words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragcli.sources import latex_words as words
from ragcli.sources.decode import decode
from ragcli.sources.keeping import LineKeeper
from ragcli.sources.plain import notes
from ragcli.text.normalise import readable
from ragcli.types import Block, BlockKind, Extracted

_TOKEN = re.compile(
    r"(?P<comment>%[^\n]*)"
    r"|\\(?P<accent>['`^\"~=.]|[uvHckrdb](?![A-Za-z]))[ \t]*(?:\{\\?(?P<group>\w)\}|\\?(?P<letter>[A-Za-z]))"
    r"|\\verb\*?(?P<mark>[^A-Za-z\s*])(?P<verb>[^\n]{0,500}?)(?P=mark)"
    r"|\\(?P<edge>begin|end)[ \t]*\{(?P<environment>[^{}\n]{1,60})\}"
    r"|\\(?P<name>[A-Za-z@]+)\*?[ \t]*|\\(?P<sign>[^A-Za-z\n])"
    r"|(?P<open>\{)|(?P<close>\})|(?P<bracket>\[)|(?P<newline>\n)|(?P<special>[~$&]|--+|``|'')"
    r"|(?P<plain>[^\\%{}\n~$&`'\[-]+|.)"
)
_SPECIAL = {"~": " ", "$": "", "``": "“", "''": "”", "--": "–", "---": "—"}
_OPTIONS = re.compile(r"\[[^\[\]\n]{0,300}\][ \t]*")
_CITATION = re.compile(r"[A-Za-z]*cite[A-Za-z]*")
_END_OF_ROW = re.compile(r"\\\\\*?(?:\[[^\]\n]{0,20}\])?")
_DEFINED = re.compile(r"\s*\{?\\?[A-Za-z@]*\}?(?:\[[^\]\n]{0,200}\]|#\d)*")
# A name that an author gave to a few words: \newcommand{\tool}{\textsc{Pump}\xspace}
_NAMED = re.compile(
    r"\s*\{?\\(?P<name>[A-Za-z]{1,40})\}?\s*\{(?P<body>(?:[^{}#\n]|\{[^{}#\n]{0,40}\}){1,80})\}"
)
_LONGEST_NAME = 40  # characters that such a name may stand for, and
_NAMES = 20_000  # how often one is put in: definitions must not make a text of any size
_MARKUP = re.compile(r"\\[A-Za-z]+\*?|[{}$~]")
_DEFINERS = {"newcommand": 1, "renewcommand": 1, "providecommand": 1, "DeclareRobustCommand": 1,
             "def": 1, "gdef": 1, "edef": 1, "let": 0, "newenvironment": 2, "renewenvironment": 2}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Group:
    """An open `{`. closing: what is put at its end; heading: level, if it is a title."""

    silent: bool = False
    closing: str = ""
    heading: int = 0
    title: int = -1  # where the document's title starts


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.out = LineKeeper()
        self.groups: list[_Group] = []
        self.silent = 0  # how many open groups are
        self.waiting: list[_Group] = []  # for the next `{`, the last first
        self.later: list[list[_Group]] = []  # what waits behind each open group
        self.endless: set[str] = set()  # what has no end further on
        self.named: dict[str, str] = {}  # what an author's own macros stand for
        self.put_in = 0
        self.tables = 0
        self.blank = True  # whether the source line has nothing on it so far
        self.titles: list[tuple[int, int]] = []
        # Before the document there are definitions, and the title.
        self.preamble = "\\begin{document}" in text

    def read(self) -> None:
        at, length = 0, len(self.text)
        while at < length:
            found = _TOKEN.match(self.text, at)
            if found is None:  # a backslash at the very end
                break
            at = self._token(found)
        self._kind_flush()

    def put(self, text: str, *, keep: bool = False) -> None:
        if not self.silent and (not self.preamble or (self.groups and self._in_title())):
            self.out.put(text, keep=keep or self.tables > 0)

    def _in_title(self) -> bool:
        return any(group.title >= 0 for group in self.groups[-4:])

    def _kind_flush(self) -> None:
        kind: BlockKind = "table" if self.tables else "paragraph"
        self.out.flush(kind)

    def _token(self, found: re.Match[str]) -> int:
        """Reads a token; where to go on."""
        kind = found.lastgroup or ""
        if kind in ("group", "letter"):
            self.put(words.accented(found.group(kind), found.group("accent")))
        elif kind == "verb":
            self.put(found.group("verb"))
        elif kind == "environment":
            return self._environment(found)
        elif kind == "name":
            return self._macro(found.group("name"), found.end())
        elif kind == "sign":
            return self._sign(found)
        elif kind in ("open", "close", "newline", "bracket"):
            return int(getattr(self, f"_{kind}")(found))
        elif kind != "comment":
            self._plain(found.group(), kind)
        if kind != "comment" and not found.group().isspace():
            self.waiting.clear()
        self.blank = self.blank and found.group().isspace()
        return found.end()

    def _plain(self, text: str, kind: str) -> None:
        if text == "\\":
            return  # at a line end: a blank
        if kind == "special":
            text = (" | " if self.tables else " ") if text == "&" else _SPECIAL.get(text, text)
        self.put(text)

    def _newline(self, found: re.Match[str]) -> int:
        self.out.newline(self.blank)
        if self.blank:  # a paragraph ends: an argument that was never closed ends too
            while self.groups and self.groups[-1].silent and not self.preamble:
                self._shut()
            self.waiting.clear()
        self.blank = True
        return found.end()

    def _open(self, found: re.Match[str]) -> int:
        group = self.waiting.pop() if self.waiting else _Group()
        if group.heading:
            self._kind_flush()
        if group.title >= 0:
            group = _Group(title=self.out.length)
        self.groups.append(group)
        self.later.append(self.waiting)
        self.waiting = []
        self.silent += group.silent
        self.blank = False
        return found.end()

    def _close(self, found: re.Match[str]) -> int:
        self.blank = False
        if self.groups:
            self._shut()
        return found.end()

    def _shut(self) -> None:
        group, self.waiting = self.groups.pop(), self.later.pop()
        self.silent -= group.silent
        self.put(group.closing)
        if group.heading:
            self.out.flush("heading", group.heading)
        if group.title >= 0:
            self.titles.append((group.title, self.out.length))
            self.out.flush("heading", 1)

    def _bracket(self, found: re.Match[str]) -> int:
        """Options between a macro and its arguments say nothing; other brackets are text."""
        options = _OPTIONS.match(self.text, found.start()) if self.waiting else None
        if options is not None:
            return options.end()
        self.waiting.clear()
        self.put("[")
        self.blank = False
        return found.end()

    def _sign(self, found: re.Match[str]) -> int:
        self.blank = False
        self.waiting.clear()
        sign = found.group("sign")
        if sign == "\\":
            row = _END_OF_ROW.match(self.text, found.start())
            self.put(" ")
            if self.tables:
                self._kind_flush()
            return row.end() if row is not None else found.end()
        self.put("" if sign in "()[]" else words.symbol(sign) or ("" if sign in "'`^~=." else sign))
        return found.end()

    def _environment(self, found: re.Match[str]) -> int:
        self.blank = False
        self.waiting.clear()
        name, begins = found.group("environment"), found.group("edge") == "begin"
        if begins and (name in words.SILENT_ENVIRONMENTS or name in words.CODE_ENVIRONMENTS):
            silent = name in words.SILENT_ENVIRONMENTS
            return self._raw(found.end(), f"\\end{{{name}}}", silent)
        self._kind_flush()
        if name == "document":
            self.preamble = False
            self.groups.clear()
            self.later.clear()
            self.silent = 0
        if name in words.TABLES:
            self.tables = max(0, self.tables + (1 if begins else -1))
        if begins:
            count = words.ENVIRONMENT_ARGUMENTS.get(name, 0)
            self.waiting = [_Group(silent=True)] * count
            options = _OPTIONS.match(self.text, found.end())
            return options.end() if options is not None else found.end()
        return found.end()

    def _raw(self, start: int, closing: str, silent: bool) -> int:
        """Verbatim text as it is, or what says nothing; one without an end is read on."""
        end = self.text.find(closing, start) if closing not in self.endless else -1
        if end < 0:
            self.endless.add(closing)
            return start
        self._kind_flush()
        lines = self.text[start:end].split("\n")
        for number, line in enumerate(lines):
            if number:
                self.out.newline(not line.strip())
            if not silent and (number or not line.lstrip().startswith(("[", "{"))):
                self.put(line, keep=True)
        self.out.flush("code")
        return min(len(self.text), end + len(closing))

    def _macro(self, name: str, end: int) -> int:
        self.blank = False
        self.waiting.clear()
        if name == "item":
            return self._item(end)
        if name == "iffalse":
            return self._raw(end, "\\fi", True)
        if name in _DEFINERS:
            self._define(end)
            self.waiting = [_Group(silent=True)] * _DEFINERS[name]
            defined = _DEFINED.match(self.text, end)
            return defined.end() if defined is not None else end
        if name in ("caption", "par", "bibitem"):
            self._kind_flush()
        if name == "bibitem":
            self.put("- ")
        self.waiting = self._arguments(name)
        if not self.waiting:
            self._symbol(name, end)
        return end

    def _define(self, at: int) -> None:
        found = _NAMED.match(self.text, at)
        if found is not None:
            said = " ".join(_MARKUP.sub(" ", found.group("body")).split())
            if len(said) <= _LONGEST_NAME:
                self.named[found.group("name")] = said

    def _arguments(self, name: str) -> list[_Group]:
        """What is done with the groups behind a macro, the first last; [] without any."""
        if name in words.LEVELS:
            return [_Group(heading=words.LEVELS[name])]
        if name == "title":
            return [_Group(title=0)]
        if name in words.SILENT_ARGUMENTS:
            return [_Group(silent=True)] * words.SILENT_ARGUMENTS[name]
        if name in ("frac", "dfrac", "tfrac"):
            return [_Group(), _Group(closing="/")]
        if name == "footnote":
            self.put(" [")
            return [_Group(closing="]")]
        if _CITATION.fullmatch(name) or name in words.REFERENCES:
            self.put("[")
            return [_Group(closing="]")]
        return []

    def _symbol(self, name: str, end: int) -> None:
        """A macro without arguments of its own; unknown ones leave the text in theirs.

        The blank behind a macro's name is none of the text; behind a sign it is wanted.
        """
        shown = words.symbol(name)
        if not shown and (shown := self.named.get(name, "")):
            self.put_in += 1
            shown = shown if self.put_in <= _NAMES else ""
        self.put(shown)
        if not shown:
            self.waiting = [_Group()]
        elif self.text[end - 1].isspace() and (following := self.text[end : end + 1].strip()):
            is_letter = shown.isalpha() and len(shown) <= 2 and following.isalpha()  # "\\o re"
            self.put("" if is_letter else " ")

    def _item(self, end: int) -> int:
        self._kind_flush()
        label = _OPTIONS.match(self.text, end)
        if label is None:
            self.put("- ")
            return end
        name = label.group().strip()[1:-1].strip("{}")
        self.put(f"- {name}: " if not name.startswith("\\") else "- ")
        return label.end()


def _levelled(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Heading levels counted from the outermost that the document uses."""
    levels = [block.level for block in blocks if block.kind == "heading" and block.level > 1]
    lift = min(levels, default=2) - 2
    return tuple(
        Block(b.start, b.end, b.kind, b.level - lift if b.level > 1 else b.level) for b in blocks
    )


def load_latex(data: bytes, ending: str) -> Extracted:
    """Line n of the text is what line n of the file says; structure by its macros."""
    decoded = decode(data)
    reader = _Reader(decoded.text)
    reader.read()
    text, blocks = reader.out.finish()
    title = ""
    if reader.titles:
        start, end = reader.titles[0]
        title = readable(text[start:end])[:300]
    return Extracted(text, "latex", _levelled(blocks), title, notes=notes(decoded))
