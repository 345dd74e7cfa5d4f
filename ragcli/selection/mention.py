"""Whether a text mentions a name explicitly: the test of invariant components. Pure.

Paper 001, appendix B, σ1: an invariant component scores 1 where the document mentions it,
else 0. What counts as the same name is ours: NFKC, case and accents never matter; what else
may differ is a parameter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.text.words import Word, fold, words

_ARTICLES = frozenset(
    [
        "the",
        "a",
        "an",
        "le",
        "la",
        "les",
        "l",
        "el",
        "los",
        "las",
        "il",
        "lo",
        "gli",
        "i",
        "der",
        "die",
        "das",
        "de",
        "het",
    ]
)
_PARENTHESISED = re.compile(r"\s*[(（\[]([^()（）\[\]]*)[)）\]]\s*")
_MOST = 12  # words of a name that are compared; longer ones are cut


@dataclass(frozen=True, slots=True)
class MentionRules:
    """What may differ between a name and its mention.

    inflection: the word forms (plural, case endings, by stem) and a possessive ending.
    initials: a first name may stand as its initial; an initial may be left out, and an
    initial or one capitalised middle name added.
    acronyms: "WHO" for "World Health Organization", either way round.
    parts: a leading article, a parenthesised part and hyphens may be left out.
    """

    inflection: bool = True
    initials: bool = True
    acronyms: bool = True
    parts: bool = True


DEFAULT = MentionRules()
STRICT = MentionRules(False, False, False, False)


@dataclass(frozen=True, slots=True)
class _Token:
    """A word to compare: `plain` without case and accents, `key` its stem."""

    plain: str
    key: str
    capital: bool


class Mentions:
    """A text made ready, so that many names can be looked for in it."""

    def __init__(self, text: str, language: str = "en", rules: MentionRules = DEFAULT) -> None:
        self._language, self._rules = language, rules
        found = words(text, language)
        self._tokens = [_token(word) for word in found]
        self._raw = frozenset(word.text for word in found)
        self._at: dict[str, list[int]] = {}
        for at, token in enumerate(self._tokens):
            for form in {self._form(token), token.plain, token.plain[:1]}:
                self._at.setdefault(form, []).append(at)
        self._initials = "".join(t.plain[:1] if t.capital else " " for t in self._tokens)

    def __contains__(self, name: str) -> bool:
        """Whether the text mentions the name under the rules; an empty name never is."""
        return any(self._has(alias) for alias in self._aliases(name))

    def _aliases(self, name: str) -> list[list[_Token]]:
        """The name, and it without what may be left out."""
        texts = [name]
        if self._rules.parts:
            texts.append(_PARENTHESISED.sub(" ", name))
            texts += [m for m in _PARENTHESISED.findall(name) if m.isupper() and len(m) > 1]
        aliases = []
        for text in texts:
            tokens = [_token(word) for word in words(text.strip(), self._language)][:_MOST]
            if self._rules.parts and len(tokens) > 1 and tokens[0].plain in _ARTICLES:
                tokens = tokens[1:]
            if tokens and tokens not in aliases:
                aliases.append(tokens)
        return aliases

    def _has(self, name: Sequence[_Token]) -> bool:
        starts = self._at.get(self._form(name[0]), ())
        if any(self._follows(name, at) for at in starts):
            return True
        if self._rules.parts and self._joined("".join(token.plain for token in name)):
            return True
        if self._rules.initials and len(name) > 1 and not name[0].plain[0].isdigit():
            starts = self._at.get(name[0].plain[:1], ())
            if any(self._by_initials(name, at) for at in starts):
                return True
        return self._rules.acronyms and self._acronym(name)

    def _form(self, token: _Token) -> str:
        return token.key if self._rules.inflection else token.plain

    def _follows(self, name: Sequence[_Token], at: int) -> bool:
        part = self._tokens[at : at + len(name)]
        return len(part) == len(name) and all(
            self._form(one) == self._form(other) for one, other in zip(name, part, strict=True)
        )

    def _joined(self, name: str) -> bool:
        """Written as one word, or with a hyphen where the name has none: "Spider-Man"."""
        if len(name) < 4:
            return False
        for at in self._at.get(name[:1], ()):
            joined = ""
            for token in self._tokens[at : at + 4]:
                joined += token.plain
                if joined == name:
                    return True
                if not name.startswith(joined):
                    break
        return False

    def _by_initials(self, name: Sequence[_Token], at: int) -> bool:
        """Whether a person's name starts at `at`, its first names and initials written otherwise.

        The last word must be there as it is; one capitalised word may be added before it.
        """
        here, added = 0, 0
        for token in self._tokens[at : at + len(name) + 2]:
            while here and here < len(name) - 1 and len(name[here].plain) == 1:
                if _initial_of(token.plain, name[here].plain):
                    break
                here += 1  # the text leaves the name's initial out
            whole = self._form(token) == self._form(name[here])
            if here == len(name) - 1 and whole:
                return len(token.plain) > 1
            if here < len(name) - 1 and (whole or _initial_of(token.plain, name[here].plain)):
                here += 1
            elif here and token.capital and not added:
                added = 1
            else:
                return False
        return False

    def _acronym(self, name: Sequence[_Token]) -> bool:
        if len(name) == 1:
            short = name[0].plain
            return name[0].capital and 3 <= len(short) <= 8 and self._spelled(short)
        letters = "".join(token.plain[0] for token in name if token.capital)
        return len(letters) >= 3 and letters.upper() in self._raw

    def _spelled(self, letters: str) -> bool:
        """Whether capitalised words of the text spell the letters, small words between allowed."""
        for at in self._at.get(letters[0], ()):
            if not self._tokens[at].capital or len(self._tokens[at].plain) < 2:
                continue
            run = self._initials[at : at + 2 * len(letters)]
            if run.replace(" ", "").startswith(letters) and "   " not in run.rstrip():
                return True
        return False


def mentioned(name: str, text: str, language: str = "en", rules: MentionRules = DEFAULT) -> bool:
    """Whether `text` mentions `name` as whole words."""
    return name in Mentions(text, language, rules)


def _initial_of(short: str, long: str) -> bool:
    return (len(short) == 1 or len(long) == 1) and short[:1] == long[:1]


def _token(word: Word) -> _Token:
    plain = _plain(fold(word.text).removesuffix("'s").replace("'", ""))
    return _Token(plain, _plain(word.key), word.text[:1].isupper())


def _plain(text: str) -> str:
    """Without accents; scripts whose marks are letters keep them (no Latin letter below)."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    if not any("a" <= char <= "z" for char in parts):
        return text
    return "".join(char for char in parts if not unicodedata.combining(char))
