"""What `ragcli show` is asked for: a file, a page, a line, a citation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ragcli.errors import UsageError

_RANGE = re.compile(r"(.+):(\d+)-(\d+)", re.DOTALL)
_NUMBER = re.compile(r"(.+):(\d+)", re.DOTALL)
_PAGE = re.compile(r"(.+?)(?::| )p\.?(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """path, and at most one of: page; number (a page where the format has pages, else a
    line); span (offsets in code points of the extracted text)."""

    path: str
    page: int | None = None
    number: int | None = None
    span: tuple[int, int] | None = None


def parse_target(text: str, exists: Callable[[str], bool]) -> Target:
    """The target that `text` names; a path that exists as it stands is always that path.

    PATH, PATH:N (page or line), PATH:pN or `PATH p.N` (page), PATH:START-END (offsets, as
    in the JSON of a citation). Raises UsageError for page or line 0 and a range that is none.
    """
    if exists(text):
        return Target(text)
    if found := _RANGE.fullmatch(text):
        start, end = int(found[2]), int(found[3])
        if end < start:
            raise UsageError(f"not a range: {start}-{end}", hint="offsets are START-END")
        return Target(found[1], span=(start, end))
    if found := _PAGE.fullmatch(text):
        return Target(found[1], page=_counted(found[2]))
    if found := _NUMBER.fullmatch(text):
        return Target(found[1], number=_counted(found[2]))
    return Target(text)


def _counted(digits: str) -> int:
    number = int(digits)
    if number < 1:
        raise UsageError("pages and lines count from 1")
    return number
