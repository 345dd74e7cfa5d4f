"""Sentence boundaries that need no judgement, and those that do.

A boundary is where the next sentence would start: after a terminator, closing
quotes and white space (no white space is needed after CJK full stops).
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from ragcli.text.abbreviations import BEFORE_NUMBER, CAPITALISED, NEVER_END

_CANDIDATE = re.compile(
    r"(?P<mark>[.!?…؟۔।॥։።]+)(?P<close>[.!?…\"'”’»)\]]*(?:\[\d{1,3}\])*)\s+"
    r"|(?P<wide>[。！？｡．]+[」』”’）)\"]*)\s*"
)
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘«—–/]*\Z")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]")
_OPENING = "\"'“‘«„‚‹([{¿¡—"
_OPEN, _CLOSE = "([{“«「『", ")]}”»」』"
# Languages that do not write ordinals with a full stop.
_NO_ORDINAL_STOP = frozenset({"en", "fr", "es", "it", "nl", "pt"})
_STARTER = re.compile(r"(?:It|The|We|They|He|She|This|That|These|There|In|If|When|But|You)\s")
_WORD_WINDOW = 40  # characters looked back for the word before a full stop
DENSE = 6  # fewer characters a candidate than this: dots and dashes, no sentences


@dataclass(frozen=True, slots=True)
class Boundary:
    """A possible sentence start at `at`; `end` is where the terminator begins."""

    at: int
    end: int
    mark: str


def _last_word(flat: str, end: int) -> str:
    match = _LAST_WORD.search(flat[max(0, end - _WORD_WINDOW) : end])
    return match.group() if match else ""


def _is_none(flat: str, boundary: Boundary) -> bool:
    """Whether a stop certainly ends nothing: "1. First", "e.g. this", "Fig. 3", "U.S.C. § 5"."""
    if boundary.mark != ".":
        return False
    following = flat[boundary.at]
    if not (following.isalnum() or following in _OPENING):
        return True
    if _ENUMERATOR.fullmatch(flat, 0, boundary.end + 1):
        return True
    word = _last_word(flat, boundary.end)
    folded = word.casefold()
    if folded in NEVER_END or (
        word[:1].isupper() and folded in CAPITALISED and following.isupper()
    ):
        return True
    return folded in BEFORE_NUMBER and (following.isdigit() or following in "([")


def _is_plain(flat: str, boundary: Boundary, abbreviations: Set[str], language: str) -> bool:
    """A boundary nobody would doubt: a full lower-case word or number, a stop, a capital."""
    following = flat[boundary.at]
    if following.islower() or not following.isalnum():
        return False
    if boundary.mark != ".":
        return following.isalpha() and set(boundary.mark) <= set("!?؟۔।॥։።")
    word = _last_word(flat, boundary.end)
    if following.isdigit():
        return len(word) > 3 and _is_full_word(word, abbreviations)
    if not word or flat[boundary.end - 1] in ")]":
        return True
    if word.isdigit():
        return len(word) == 4 or (len(word) > 1 and language in _NO_ORDINAL_STOP)
    if len(word) == 1 and word.isupper() and language == "en":  # "plan B. It worked."
        return bool(_STARTER.match(flat, boundary.at))
    return _is_full_word(word, abbreviations)


def _is_full_word(word: str, abbreviations: Set[str]) -> bool:
    """Three letters or more, lower-case but for the first, no abbreviation."""
    tail = word.rsplit("-", 1)[-1]
    if len(tail) < 3 or not tail.isalpha() or not tail[1:].islower():
        return False
    return not any(tail.casefold() in known for known in (abbreviations, NEVER_END, BEFORE_NUMBER))


def _imbalance(piece: str) -> tuple[int, int]:
    """Open minus closed brackets and quotes, and straight double quotes."""
    opened = sum(map(piece.count, _OPEN)) - sum(map(piece.count, _CLOSE))
    return opened, piece.count('"')


def plain_boundaries(
    flat: str, abbreviations: Set[str], language: str
) -> tuple[list[int], list[Boundary]]:
    """(offsets of certain sentence starts, boundaries left open), both ascending.

    Inside brackets or quotes nothing is certain. `language` matters for ordinals:
    German and its like write them with a full stop ("3. Oktober").
    """
    found = list(_CANDIDATE.finditer(flat))
    if not found or len(found) * DENSE > len(flat):
        return [], []
    plain: list[int] = []
    open_: list[Boundary] = []
    seen = brackets = quotes = 0
    for match in found:
        at = match.end()
        if at >= len(flat):
            break
        more, marks = _imbalance(flat[seen:at])
        brackets, quotes, seen = max(0, brackets + more), quotes + marks, at
        balanced = brackets == 0 and quotes % 2 == 0
        if match.group("wide"):
            certain = balanced
            if not certain:
                continue
        else:
            boundary = Boundary(
                at, match.end("mark") - len(match.group("mark")), match.group("mark")
            )
            if _is_none(flat, boundary):
                continue
            certain = balanced and _is_plain(flat, boundary, abbreviations, language)
            if not certain:
                open_.append(boundary)
        if certain:
            plain.append(at)
            brackets = quotes = 0
    return plain, open_
