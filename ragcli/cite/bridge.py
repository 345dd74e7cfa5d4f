"""Passages that belong together: the title of one stands, as a name, in the text of the other.

A question of two steps ("the founder of the firm that …") has its constituents in two places,
joined by a name that it does not hold itself. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragcli.text.words import keys_of, words

_ASIDE = re.compile(r"\([^()]*\)\s*$|&\w+;")  # "Charmed (series)", "Simon &amp; Simon"
_NAMING = ("name", "number", "ordinal")

Title = frozenset[str]


def titles(texts: Iterable[str], asked: frozenset[str], language: str = "en") -> tuple[Title, ...]:
    """Keys of each title, without an aside in brackets.

    asked: keys of the question; a title that it holds whole joins nothing: the question itself
    leads there.
    """
    found = (keys_of(_ASIDE.sub(" ", text), language) for text in texts)
    return tuple(keys for keys in found if keys - asked)


def names(text: str, language: str = "en") -> frozenset[str]:
    """Keys of the names and figures of a text."""
    return frozenset(word.key for word in words(text, language) if word.kind in _NAMING)


def named(titles: Sequence[Title], names: frozenset[str], own: Sequence[Title] = ()) -> bool:
    """Whether one of the titles stands whole among the names of a text.

    own: titles of the text itself, which tell it from no other part of its document.
    """
    return any(title <= names for title in titles if title not in own)
