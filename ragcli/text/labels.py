"""What texts tell apart by a figure or a letter: Pump A and Pump B, room 20, World War II. Pure."""

from __future__ import annotations

import re
from itertools import pairwise

from ragcli.text.words import Word, words

_LETTER = re.compile("[A-Z]|[IVX]{2,5}")
_ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]


def other_one(question: str, text: str, language: str = "en") -> str:
    """What the question names and the text has another one of ("Pump A" against "Pump B"), or "".

    Only what is told apart by a figure or a letter behind a word counts.
    """
    asked = labelled(question, language)
    if not asked:
        return ""
    told: dict[str, set[str]] = {}
    for what, label in labelled(text, language):
        told.setdefault(what.key, set()).add(label_key(label))
    for what, label in asked:
        if what.key in told and label_key(label) not in told[what.key]:
            return question[what.start : label.end]
    return ""


def label_key(label: Word) -> str:
    """Phase II is phase 2."""
    return f"#{_ROMAN.index(label.text) + 1}" if label.text in _ROMAN else label.key


def labelled(text: str, language: str) -> list[tuple[Word, Word]]:
    """Words with the figure or letter that stands right behind them."""
    return [
        (first, second)
        for first, second in pairwise(words(text, language))
        if first.kind in ("word", "name")
        and (second.kind == "number" or _LETTER.fullmatch(second.text))
        and not text[first.end : second.start].strip()
    ]
