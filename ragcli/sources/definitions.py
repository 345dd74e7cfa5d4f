"""Where the definitions of a source file begin and end, told from its lines.

Own scanner: tree-sitter's language packs fetch their grammars when they run, and `ast`
knows one version of one language and gives up on files that are cut or being edited.
A line that looks like a definition opens one; indentation says where it ends, which
holds in languages with braces too, as people write them. It takes one pass and cannot
fail; what it misses only makes a section longer.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|"
    r"async|override|open|data|partial|readonly|virtual|inline|extern|unsafe|const|pub(?:\([a-z:]+\))?|"
    r"local|implicit|case|suspend|mutating|fileprivate|typedef|CREATE|OR|REPLACE|TEMP|TEMPORARY)\s+)*"
)
_CONTAINER_WORDS = (
    "class struct interface namespace module trait impl object protocol extension record mod package "
    "defmodule enum union"
)
_PLAIN_WORDS = "def defp defmacro func fn fun function sub proc procedure type macro"
_CONTAINERS = frozenset(_CONTAINER_WORDS.split())
_KEYWORD = re.compile(
    rf"[ \t]*{_MODIFIERS}(?P<word>{'|'.join([*_CONTAINER_WORDS.split(), *_PLAIN_WORDS.split()])})\b\*?"
    r"(?:<[^>\n]{1,60}>)?[ \t]+(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>[A-Za-z_$~@][\w.:$?!~]*+)"
    r"(?![\w ]*=[^=>])(?![ \t*&]+\w+[ \t]*[(\[])"
)
# The few ways without a keyword: assigned functions, shell, Lisp, R, SQL.
_SPECIAL = tuple(
    re.compile(pattern, re.IGNORECASE if "TABLE" in pattern else 0)
    for pattern in (
        r"[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+(?P<name>[\w$]+)[ \t]*(?::[^=\n]{0,200})?=[ \t]*"
        r"(?:async[ \t]*)?(?:function\b|\([^)\n]{0,300}\)[^=\n]{0,100}=>|[\w$]+[ \t]*=>)",
        r"[ \t]*(?P<name>[A-Za-z_][\w.-]*)[ \t]*\(\)[ \t]*\{?[ \t]*$",
        r"\((?:defun|defmacro|defn-?|defmethod|define|defclass|defstruct)[ \t]+\(?(?P<name>[^\s()]+)",
        r"[ \t]*(?P<name>[\w.]+)[ \t]*(?:<-|=)[ \t]*function[ \t]*\(",
        r"[ \t]*CREATE[ \t]+(?:OR[ \t]+REPLACE[ \t]+)?(?:TEMP(?:ORARY)?[ \t]+)?(?:TABLE|VIEW|FUNCTION|"
        r"PROCEDURE|TRIGGER|TYPE|INDEX)[ \t]+(?:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?[\"`\[]?(?P<name>[\w.]+)",
    )
)
# `int main(int argc` and methods of classes: a name before a parenthesis, a brace behind.
_CALLED = re.compile(
    r"[ \t]*(?P<type>[\w:*&<>,\[\]~ \t]{0,120}?)(?P<name>~?[A-Za-z_$][\w:$~]*+)[ \t]*\("
)
_BARE_NAME = re.compile(r"[A-Za-z_][\w:~]*[ \t]*\(")
_TYPE = re.compile(r"[A-Za-z_][\w \t*&:<>]*")
_CONTROL_WORDS = (
    "if for while switch catch return else do try foreach using lock synchronized when until unless "
    "function sizeof throw new delete case assert with match elif await yield in and or not print"
)
_NO_NAMES = frozenset(_CONTROL_WORDS.split())
_PYTHON = re.compile(r"[ \t]*(?:async[ \t]+)?(?P<word>def|class)[ \t]+(?P<name>\w+)")
_SECTION = re.compile(r"\[+[ \t]*(?P<name>[^\]\n]{1,200}?)[ \t]*\]+[ \t]*(?:[#;].*)?$")
_YAML_KEY = re.compile(r"(?P<name>[\w./\"'-]{1,100}):[ \t]*(?:[|>&!#].*)?$")
_ABOVE = ("#", "//", "/*", "*", "--", ";", "@", "[", "template", "%")
_ABOVE_PYTHON = ("#", "@")
_NEUTRAL = re.compile(
    r"[})\]{]|(?:end|fi|done|esac)\b|#(?:if|el|en|de|un|inc)|[A-Za-z_]\w*[ \t]*:$"
)
_LONGEST = 400  # characters of a line that can be a definition
_DEEPEST = 6  # levels of definitions inside definitions
_TAB = 4


@dataclass(frozen=True, slots=True)
class Boundary:
    """From `line` (0-based) on the text belongs to section `name` at `level`.

    An empty name: what follows a definition, under the one around it.
    """

    line: int
    level: int
    name: str


@dataclass(frozen=True, slots=True)
class _Open:
    indent: int
    level: int
    holds: bool  # may hold definitions of its own


# What starts a string or comment in which no definition is looked for.
_PYTHON_MASK = re.compile(r"\"\"\"|'''|#[^\n]*|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?")
_C_MASK = re.compile(r"/\*|`|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n]){0,10}'")
_ENDS = {'"""': '"""', "'''": "'''", "/*": "*/", "`": "`"}


def masks(text: str, python: bool) -> Iterator[tuple[int, int]]:
    """Ascending ranges of strings and comments that may span lines; a cut one ends the text."""
    pattern = _PYTHON_MASK if python else _C_MASK
    at = 0
    while found := pattern.search(text, at):
        at = found.end()
        if (closing := _ENDS.get(found.group())) is not None:
            end = text.find(closing, at)
            if end < 0 and closing == "`":
                continue  # shell and Markdown use single ones
            at = len(text) if end < 0 else end + len(closing)
            yield found.start(), at


class _Scanner:
    def __init__(self, text: str, language: str) -> None:
        self.language = language
        self.lines = text.split("\n")
        self.boundaries: list[Boundary] = []
        self.stack: list[_Open] = []
        self.ended = -2  # the line that last ended a definition without opening one
        self.hidden = _hidden(text, self.lines, language)

    def scan(self) -> list[Boundary]:
        for at, line in enumerate(self.lines):
            bare = line.strip()
            if not bare or at in self.hidden:
                continue
            if self.language == "sections":
                if found := self._definition(at, line):
                    self.boundaries.append(Boundary(self._first(at), 1, found[0]))
            elif not self._is_neutral(bare):
                self._line(at, line)
        return self.boundaries

    def _line(self, at: int, line: str) -> None:
        indent, level = _indent(line), 0
        while self.stack and indent <= self.stack[-1].indent:
            level = self.stack.pop().level
        inside = len(self.stack) < _DEEPEST and (not self.stack or self.stack[-1].holds)
        if inside and (found := self._definition(at, line)):
            start, level = self._first(at), len(self.stack) + 1
            if at and _BARE_NAME.match(line) and _TYPE.fullmatch(self.lines[at - 1]):
                if self.ended == at - 1:
                    self.boundaries.pop()
                start = self._first(at - 1)  # C with the type on a line of its own
            self.boundaries.append(Boundary(start, level, found[0]))
            self.stack.append(_Open(indent, level, found[1]))
        elif level:
            self.boundaries.append(Boundary(self._first(at), level, ""))
            self.ended = at

    def _is_neutral(self, bare: str) -> bool:
        """Lines at the margin that do not end what they are in."""
        if self.language == "yaml":
            return bare.startswith(("-", "#"))
        if self._is_above(bare):
            return True  # it may belong to what comes next
        return _NEUTRAL.match(bare) is not None

    def _first(self, at: int) -> int:
        """The first of the comments, decorators and attributes right above a line."""
        lowest = self.boundaries[-1].line + 1 if self.boundaries else 0
        while at > lowest and self._belongs_below(at - 1):
            at -= 1
        return at

    def _belongs_below(self, at: int) -> bool:
        if at in self.hidden:
            return self.language != "python"  # there it is the docstring of what is above
        return self._is_above(self.lines[at].strip())

    def _is_above(self, bare: str) -> bool:
        if self.language == "python":
            return bare.startswith(_ABOVE_PYTHON)
        return bare.startswith(_ABOVE) and not bare.startswith(("#if", "#el", "#en", "#inc"))

    def _definition(self, at: int, line: str) -> tuple[str, bool] | None:
        """(name, whether it holds definitions) where a line opens a definition."""
        if len(line) > _LONGEST:
            return None
        if self.language == "python":
            found = _PYTHON.match(line)
            return (found.group("name"), found.group("word") == "class") if found else None
        if self.language in ("sections", "yaml"):
            found = (_SECTION if self.language == "sections" else _YAML_KEY).match(line)
            return (found.group("name").strip("\"'"), False) if found else None
        if found := _KEYWORD.match(line):
            if line.rstrip().endswith(";") and "{" not in line:
                return None  # declared here, defined elsewhere
            return found.group("name").rstrip(":"), found.group("word") in _CONTAINERS
        for pattern in _SPECIAL:
            if found := pattern.match(line):
                return found.group("name"), False
        return self._called(at, line)

    def _called(self, at: int, line: str) -> tuple[str, bool] | None:
        """A function by its shape: at the margin or in a class, and a brace opens behind it."""
        found = _CALLED.match(line) if "(" in line else None
        if found is None or found.group("name") in _NO_NAMES:
            return None
        if set(found.group("type").split()) & _NO_NAMES or (_indent(line) and not self.stack):
            return None
        for following in self.lines[at : at + 8]:
            bare = following.rstrip()
            if bare.endswith("{"):
                return found.group("name"), False
            if bare.endswith((";", "}", ":")) or not bare:
                return None
        return None


def _indent(line: str) -> int:
    blank = line[: len(line) - len(line.lstrip())]
    return len(blank.expandtabs(_TAB)) if len(blank) < _LONGEST else len(blank)


def _hidden(text: str, lines: list[str], language: str) -> set[int]:
    """Lines that begin inside a string or comment."""
    if language not in ("python", "code"):
        return set()
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    hidden: set[int] = set()
    for start, end in masks(text, language == "python"):
        hidden.update(range(bisect_right(starts, start), bisect_right(starts, end - 1)))
    return hidden


def boundaries(text: str, language: str) -> list[Boundary]:
    """Ascending; language: "python", "code" (any other), "yaml", "sections" (TOML, INI)."""
    return _Scanner(text, language).scan()
