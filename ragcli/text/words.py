"""Words of a text as the checks compare them: where, which kind, and under which key.

Pure. A *key* is what two words must share to count as the same word: NFKC, case folded,
stemmed; number words and digits share a key ("four", "4"), ordinals too ("2nd", "second").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from ragcli.text.stopwords import STOP_WORDS as FUNCTION_WORDS

WordKind = Literal["name", "number", "ordinal", "word", "stop"]

_SPACELESS = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Thai, Lao, kana, Han
_LETTERS = rf"(?:(?![{_SPACELESS}])[^\W_][\u0300-\u036f]*)+"  # accents may stand apart (NFD)
_WORD = re.compile(
    rf"""[{_SPACELESS}]+                          # written without blanks: cut into pairs below
      | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?\b   # 1,200  3.5  3:1  2nd
      | {_LETTERS}(?:['’]{_LETTERS})*  # it's, x86""",
    re.VERBOSE,
)
_STARTS_SPACELESS = re.compile(f"[{_SPACELESS}]")


def _table(words: str) -> list[str]:
    return words.split()


_CARDINALS = {
    word: str(value)
    for value, word in enumerate(
        _table(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen nineteen twenty"
        )
    )
} | {
    word: str(value)
    for word, value in zip(
        _table("thirty forty fifty sixty seventy eighty ninety hundred thousand million billion"),
        (30, 40, 50, 60, 70, 80, 90, 100, 1000, 10**6, 10**9),
        strict=True,
    )
}
_ORDINALS = {
    word: str(value)
    for value, word in enumerate(
        _table(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
            " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
            " twentieth"
        ),
        start=1,
    )
}
_STEMMERS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
STOP_WORDS = frozenset(
    _table(
        """a about after all also am an and any are as at be because been before being between both
    but by can could did do does doing done during each either else ever for from further had has
    have having he her here hers herself him himself his how however i if in into is it its itself
    just let like many may me might more most much must my myself no nor not of off on once only
    or other our ours out one over own per same shall she should so some such than that the their
    theirs them themselves then there these they this those though through thus to too under
    until up upon us very was we were what whatever when where whether which while who whom whose
    why will with within without would yes yet you your yours
    according actual actually called give given gives find found known likely list mean means mention
    mentioned name named names please probably say said says tell"""
    )
)
_QUESTION_WORDS = {
    "de": "welche welchem welchen welcher welches wann warum wieso wieviel viele viel woher wohin",
    "es": "cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo quién quiénes",
    "fr": "quel quelle quels quelles quand combien comment pourquoi lequel laquelle",
    "it": "quale quali quanto quanta quanti quante chi",
    "nl": "welk welke hoeveel wanneer waarom",
    "pt": "qual quais quando quanto quanta quantos quantas onde quem",
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that carry nothing to look for, case folded."""
    if language not in FUNCTION_WORDS or language == "en":
        return STOP_WORDS
    return FUNCTION_WORDS[language] | frozenset(_QUESTION_WORDS.get(language, "").split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: `text == source[start:end]`."""

    text: str
    start: int
    end: int
    key: str
    kind: WordKind


@lru_cache(maxsize=16)
def _stem_function(language: str) -> Callable[[str], str]:
    import snowballstemmer

    stemmer = snowballstemmer.stemmer(_STEMMERS[language])
    return lru_cache(maxsize=16384)(stemmer.stemWord)


def fold(text: str) -> str:
    """NFKC and case folded, curly apostrophes straightened."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def key_of(word: str, language: str = "en") -> str:
    """What two words must share to count as the same word."""
    folded = fold(word).removesuffix("'s").replace("'", "")
    if folded[:1].isdigit():
        number = re.sub(r"(?<=\d)(st|nd|rd|th)$", "", folded)
        return "#" + number.replace(",", "")
    if folded in _CARDINALS:
        return "#" + _CARDINALS[folded]
    if folded in _ORDINALS:
        return "#" + _ORDINALS[folded]
    return _stem_function(language if language in _STEMMERS else "en")(folded)


def words(text: str, language: str = "en") -> list[Word]:
    """The words of a text in order; linear in its length.

    A capital letter makes a name inside a sentence; at its start only where the next word
    has one too, or where the whole word is capitals. German nouns are plain words.
    """
    spans = [span for match in _WORD.finditer(text) for span in _pieces(match)]
    found = []
    for at, (start, end) in enumerate(spans):
        word = text[start:end]
        kind = _kind(word, language)
        if kind == "name" and _starts_sentence(text, start) and not _acronym(word):
            following = text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
            joined = bool(following) and text[end : spans[at + 1][0]] in (" ", "-")
            if not (joined and _kind(following, language) == "name"):
                kind = "word"
        found.append(Word(word, start, end, key_of(word, language), kind))
    return found


def _starts_sentence(text: str, start: int) -> bool:
    """Whether nothing but blanks and opening marks stands between `start` and a sentence's end."""
    before = text[max(0, start - 8) : start].rstrip(" \t\"'“”‘«(")
    return (not before and start <= 8) or before.endswith((".", "!", "?", ":", "\n", "-", "*"))


def _acronym(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1


def _pieces(match: re.Match[str]) -> list[tuple[int, int]]:
    """The match itself, or overlapping pairs of letters where words are not set apart."""
    start, end = match.span()
    if end - start <= 2 or not _STARTS_SPACELESS.match(match.group()):
        return [(start, end)]
    return [(at, at + 2) for at in range(start, end - 1)]


def _kind(word: str, language: str) -> WordKind:
    folded = fold(word)
    if folded in _ORDINALS or re.fullmatch(r"\d+(st|nd|rd|th)", folded):
        return "ordinal"
    if word[0].isdigit() or (folded in _CARDINALS and folded != "one"):
        return "number"
    if folded.removesuffix("'s") in stop_words(language) or len(folded) < 2:
        return "stop"
    if language != "de" and word[0].isupper():
        return "name"
    return "word"


def alike(one: str, other: str) -> bool:
    """Whether two keys are forms of one word: the first four letters and two thirds are the same."""
    shorter, longer = sorted((one, other), key=len)
    need = max(4, -(-2 * len(longer) // 3))
    return len(shorter) >= need and shorter[:need] == longer[:need] and one[0] != "#"


def keys_of(text: str, language: str = "en") -> frozenset[str]:
    """Keys of the content words of a text."""
    return frozenset(word.key for word in words(text, language) if word.kind != "stop")
