"""JSON read token by token: no recursion, no tree, any depth, also of a file that is cut.

Own scanner: the standard library builds the whole tree and stops at the first error and at
depth; ijson does not say where in the file a value stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragcli.sources.decode import clean

_TOKEN = re.compile(r"\"(?:[^\"\\\n]++|\\[^\n])*+\"|[{}\[\],:]|[^\s{}\[\],:\"]+|\"")
_STRING = re.compile(r"\"(?:[^\"\\\n]++|\\[^\n])*+\"")
_KEY = 60  # characters of a key that are shown
_SEGMENTS = 3  # of a path that are shown before a value


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar. path: its last segments ("b[0].name"); outer: the first ("items[3]").

    depth: containers round it. in_array: it has a number there, which is not in the path.
    """

    path: str
    outer: str
    text: str
    start: int
    depth: int
    in_array: bool


@dataclass(frozen=True, slots=True)
class Member:
    """An object or array in another: depth 1 stands in the root. name: its key or "[n]"."""

    start: int
    depth: int
    name: str


class BrokenJson(Exception):
    """The text is no JSON, or is cut."""


def decoded(token: str) -> str:
    """A string token as the text it stands for, on one line."""
    if "\\" not in token:
        return token[1:-1]
    try:
        text = json.loads(token, strict=False)
    except ValueError:
        text = token[1:-1]
    text = clean(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return " ".join(text.split()) if "\n" in text else text


def unescaped(text: str) -> str:
    """The text with the escapes in its strings made the signs they stand for, lines kept."""
    if "\\" not in text:
        return text
    return _STRING.sub(
        lambda found: f'"{decoded(found.group())}"' if "\\" in found.group() else found.group(),
        text,
    )


class _Walk:
    """Where in the tree the tokens are: `names` of the open containers, `counts` of arrays."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.counts: list[int] = []
        self.key: tuple[str, int] | None = None
        self.awaits_key = False

    def name(self) -> str:
        """What the value that comes now is called."""
        if self.kinds and self.kinds[-1] == "[":
            return f"[{self.counts[-1]}]"
        return self.key[0] if self.key is not None else ""

    def open(self, mark: str, name: str) -> None:
        self.names.append(name)
        self.kinds.append(mark)
        self.counts.append(0)
        self.key = None
        self.awaits_key = mark == "{"

    def close(self, mark: str) -> None:
        if not self.kinds or self.kinds.pop() != ("{" if mark == "}" else "["):
            raise BrokenJson
        self.names.pop()
        self.counts.pop()
        self.awaits_key, self.key = False, None

    def comma(self) -> None:
        if not self.kinds:
            raise BrokenJson
        self.counts[-1] += 1
        self.key = None
        self.awaits_key = self.kinds[-1] == "{"


def _joined(segments: list[str]) -> str:
    path = ""
    for segment in segments:
        path += segment if segment.startswith("[") or not path else f".{segment}"
    return path


def scan(text: str) -> Iterator[Member | Value]:
    """Containers as they open and scalars, in order; the root container is none of them.

    Raises BrokenJson at the place where it is no longer JSON, and at the end if it is cut.
    """
    walk = _Walk()
    done = False
    for found in _TOKEN.finditer(text):
        token = found.group()
        if done or token == '"':
            raise BrokenJson
        if token in "{[":
            name, at = walk.name(), walk.key[1] if walk.key else found.start()
            if walk.kinds:
                yield Member(at, len(walk.kinds), name)
            walk.open(token, name)
        elif token in "}]":
            walk.close(token)
            done = not walk.kinds
        elif token == ",":
            walk.comma()
        elif walk.awaits_key and token[0] == '"':
            walk.key, walk.awaits_key = (decoded(token)[:_KEY], found.start()), False
        elif token != ":":
            yield _value(walk, token, found.start())
            done = not walk.kinds
    if not done:
        raise BrokenJson


def _value(walk: _Walk, token: str, start: int) -> Value:
    # The root's name is "", and only the ends of a deep path are built.
    depth = len(walk.names)
    in_array = bool(walk.kinds) and walk.kinds[-1] == "["
    last = walk.names[max(1, depth - _SEGMENTS + (not in_array)) :]
    if not in_array:
        last.append(walk.name())
    while in_array and last and last[-1].startswith("["):
        last.pop()
    shown = decoded(token) if token[0] == '"' else token
    at = walk.key[1] if walk.key else start
    return Value(_joined(last), _joined(_record(walk.names)), shown, at, depth, in_array)


def _record(names: list[str]) -> list[str]:
    """The outermost member, and its number if it is an array: what people call a record."""
    if len(names) > 2 and names[2].startswith("[") and not names[1].startswith("["):
        return names[1:3]
    return names[1:2]
