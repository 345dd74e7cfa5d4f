"""Two ways to write one thing: acronyms and their words, decades and their years. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcli.text.words import Word, fold

_ACRONYM = re.compile(r"([A-Z]{2,6})s?")
_DECADE = re.compile(r"((?:1\d|20)?)(\d0)(s?)")  # 70s, 1970s; 70 and 1970 before "'s"
_BEFORE = frozenset({"the", "early", "mid", "late"})  # "the 1970's", but "1970's best film"


def acronyms(words: Sequence[Word]) -> tuple[Word, ...]:
    """Words of capitals alone, two to six of them ("CEO", "MPs")."""
    return tuple(w for w in words if w.kind == "name" and _ACRONYM.fullmatch(w.text))


def spelled_out(acronym: Word, words: Sequence[Word]) -> tuple[Word, ...]:
    """The words in a row that an acronym is made of, function words left out or not; else none.

    Of two letters, only names: "United Kingdom".
    """
    letters = fold(acronym.text[:-1] if acronym.text.endswith("s") else acronym.text)
    for row in (words, [w for w in words if w.kind != "stop"]):
        initials = "".join(fold(w.text)[0] for w in row)
        at = initials.find(letters)
        if at < 0:
            continue
        run = tuple(row[at : at + len(letters)])
        if len(letters) > 2 or all(w.kind == "name" for w in run):
            return run
    return ()


def decade(words: Sequence[Word], at: int, text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Keys of the other forms of a decade, and of its years; nothing for any other word.

    "70s" without a century is the nineteen-seventies; "20s" may be this century's too.
    """
    word = words[at]
    match = _DECADE.fullmatch(fold(word.text))
    if match is None:
        return (), frozenset()
    century, tens, plural = match.groups()
    owning = fold(text[word.end : word.end + 2]) == "'s"
    after = at > 0 and fold(words[at - 1].text) in _BEFORE
    if not plural and not (owning and (after or not century)):
        return (), frozenset()
    centuries = [century] if century else ["19", "20"] if tens <= "20" else ["19"]
    forms = [f"#{tens}", f"#{tens}s", *(f"#{c}{tens}s" for c in centuries)]
    years = {f"#{c}{tens[0]}{year}" for c in centuries for year in range(10)}
    return tuple(forms), frozenset(years)
