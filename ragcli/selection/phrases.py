"""Phrases of a text: names, quotations, figures and runs of content words, as spans. Pure.

What a question is taken apart into, and what a passage's knowledge fragments are chosen
from: a phrase is always a span of its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragcli.text.words import Word, fold, words
from ragcli.types import Span

PhraseKind = Literal["quoted", "name", "number", "content"]
LONGEST = 120  # characters of a quotation that counts as one phrase
_MOST_WORDS = 8  # of a run of content words; a name may be longer

_QUOTED = re.compile(
    r'"([^"\n]{2,120})"|“([^”\n]{2,120})”|«\s*([^»\n]{2,120}?)\s*»|„([^“\n]{2,120})“'
)
# Words that may stand inside a name: "Lord of the Isles", "Ludwig van Beethoven".
_INSIDE = frozenset(
    [
        "of",
        "the",
        "de",
        "del",
        "della",
        "di",
        "da",
        "du",
        "des",
        "la",
        "le",
        "les",
        "van",
        "von",
        "der",
        "den",
        "zu",
        "zur",
        "y",
        "e",
        "al",
        "el",
        "bin",
        "ibn",
        "and",
        "&",
        "for",
    ]
)
_GLUE = re.compile(r"[ \u00a0\-\u2010\u2011'’&/]{1,3}")
_AFTER_SHORT = re.compile(r"\.[ \u00a0]?")  # "J. K.", "St. Ives": a stop that ends no sentence


@dataclass(frozen=True, slots=True)
class Phrase:
    """`text == source[span.start:span.end]`."""

    kind: PhraseKind
    span: Span
    text: str


def phrases(text: str, language: str = "en") -> list[Phrase]:
    """The phrases in order, none overlapping; linear in the length of the text.

    Every word that is not a function word lies in exactly one of them.
    """
    quoted = [_inner(match) for match in _QUOTED.finditer(text)]
    tokens = _with_initials(words(text, language), text)
    found = [Phrase("quoted", span, span.of(text)) for span in quoted]
    run: list[Word] = []
    inside = iter([*quoted, None])
    current = next(inside)
    for word in tokens:
        while current is not None and current.end <= word.start:
            current = next(inside)
        if current is not None and word.end > current.start:
            found += _cut(run, text)
            run = []
            continue
        if run and not _joined(run[-1], word, text):
            found += _cut(run, text)
            run = []
        run.append(word)
    found += _cut(run, text)
    return sorted(found, key=lambda phrase: phrase.span)


def _inner(match: re.Match[str]) -> Span:
    """What stands between the quotation marks."""
    number = next(n for n in range(1, 5) if match.group(n) is not None)
    return Span(match.start(number), match.end(number))


def _cut(run: Sequence[Word], text: str) -> list[Phrase]:
    """A run of words that nothing but blanks and hyphens parts, cut into phrases."""
    found: list[Phrase] = []
    part: list[Word] = []
    for at, word in enumerate(run):
        if part and word.start < part[-1].end:
            part.append(word)
            continue
        if part and len(part) >= (1 + (part[0].kind == "name")) * _MOST_WORDS:
            found += _phrase(part, text)
            part = []
        name = word.kind == "name"
        if word.kind == "stop" and not (part and _bridges(run, at, part)):
            found += _phrase(part, text)
            part = []
            continue
        in_name = bool(part) and part[0].kind == "name"
        if part and (in_name != name) and not _belongs(word, in_name):
            found += _phrase(part, text)
            part = []
        part.append(word)
    return found + _phrase(part, text)


def _bridges(run: Sequence[Word], at: int, part: Sequence[Word]) -> bool:
    """Whether the function word at `at` stands inside a name that goes on after it.

    "and" and "for" join two names more often than they stand in one: they end a phrase.
    """
    if part[0].kind != "name":
        return False
    rest = at
    while rest < len(run) and run[rest].kind == "stop":
        if fold(run[rest].text) not in _INSIDE - {"and", "&", "for"} or rest - at > 1:
            return False
        rest += 1
    return rest < len(run) and run[rest].kind == "name"


def _joined(before: Word, word: Word, text: str) -> bool:
    """Whether two words may belong to one phrase, by what stands between them."""
    if word.start < before.end:  # pairs of letters, where words are not set apart
        return True
    short = len(before.text) <= 2 and before.text[:1].isupper()
    return bool(
        _GLUE.fullmatch(text, before.end, word.start)
        or (short and _AFTER_SHORT.fullmatch(text, before.end, word.start))
    )


def _with_initials(found: Sequence[Word], text: str) -> list[Word]:
    """Capital letters alone are names ("I" and "A" are not), and so is what follows their stop."""
    tokens: list[Word] = []
    for word in found:
        letter = len(word.text) == 1 and word.text.isupper() and word.text not in "AI"
        follows = (
            bool(tokens)
            and tokens[-1].kind == "name"
            and word.text[0].isupper()
            and _joined(tokens[-1], word, text)
            and len(tokens[-1].text) <= 2
        )
        tokens.append(replace(word, kind="name") if letter or follows else word)
    return tokens


def _belongs(word: Word, in_name: bool) -> bool:
    """Function words have been let through by `_bridges`; figures belong to what they follow."""
    return word.kind in ("stop", "number", "ordinal") and (in_name or word.kind != "stop")


def _phrase(part: Sequence[Word], text: str) -> list[Phrase]:
    """The words as one phrase; none where there is no word."""
    kept = list(part)
    while kept and kept[-1].kind == "stop":
        kept.pop()
    if not kept:
        return []
    span = Span(kept[0].start, kept[-1].end)
    kind: PhraseKind = "content"
    if kept[0].kind == "name":
        kind = "name"
    elif all(word.kind in ("number", "ordinal") for word in kept):
        kind = "number"
    return [Phrase(kind, span, span.of(text))]
