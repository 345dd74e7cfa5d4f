"""Search terms. Text and query pass through the same analysis, so they meet.

A term never holds white space. Bump `ANALYZER_VERSION` with every change of output:
an index built with another version must be rebuilt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from ragcli.text.normalise import join_hyphenation
from ragcli.text.stopwords import STOP_WORDS

ANALYZER_VERSION = "1"

LONGEST = 32  # code points in a term; longer tokens are cut, never dropped
_COMPOUND = 40  # longest compound that also becomes one term

_STEMMERS: dict[str, str] = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "fa": "persian", "fi": "finnish",
    "fr": "french", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip

# Scripts written without blanks, or (Hangul) with endings glued on.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7af\U00020000-\U0003134f"
)
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
# Combining marks and vowel signs that \w leaves out: Latin to Cyrillic, Indic scripts.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0900-\u0963\u0966-\u0dff"
_W = rf"[\w{_MARKS}]"
_CHUNK = re.compile(
    rf"(?P<cjk>[{_UNSPACED}][{_UNSPACED}\u3099\u309a]*)"
    rf"|(?P<word>{_W}+(?:\+\+|\#(?!\w))|{_W}+(?:['’.:/_@&-]{_W}+)*)"
    r"|(?P<sign>[^\w\s])"
)
_WORDISH = re.compile(rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])+|[{_UNSPACED}\u3099\u309a]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Invisible characters, Arabic and Hebrew vowel points, tatweel.
_IGNORED = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SIGNS = frozenset({"So", "Sc"})  # emoji and other symbols, currencies


@cache
def _stemmer(name: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(name)


def _strip_accents(word: str) -> str:
    """Latin letters without their marks; other scripts' marks make other letters."""
    if word.isascii() or not ("a" <= unicodedata.normalize("NFD", word[0])[0] <= "z"):
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@lru_cache(maxsize=1 << 17)
def _stem(word: str, stemmer: str) -> str:
    if stemmer and not word[0].isdigit() and len(word) <= LONGEST:
        word = _stemmer(stemmer).stemWord(word) or word
    return _strip_accents(word)


@lru_cache(maxsize=4096)
def _is_term_sign(char: str) -> bool:
    return char == "$" or (not char.isascii() and unicodedata.category(char) in _SIGNS)


def _cut(term: str) -> Iterable[str]:
    if len(term) <= LONGEST:
        return (term,)
    return (term[at : at + LONGEST] for at in range(0, len(term), LONGEST))


def _clusters(run: str) -> list[str]:
    """Base characters with their combining marks, so that no n-gram starts with a mark."""
    out: list[str] = []
    for char in run:
        if out and unicodedata.category(char)[0] == "M":
            out[-1] += char
        else:
            out.append(char)
    return out


def _ngrams(run: str, query: bool) -> list[str]:
    """Bigrams; in texts single characters too, so that a query of one character finds them."""
    chars = _clusters(run)
    pairs = [a + b for a, b in pairwise(chars)]
    if query:
        return pairs or chars
    return chars + pairs


def _parts(token: str) -> list[str]:
    """Words inside a compound, split at signs and at camelCase humps."""
    words = _WORDISH.findall(token)
    out: list[str] = []
    for word in words:
        humps = _CAMEL.split(word) if not (word.islower() or word.isupper()) else [word]
        out += [*humps, word] if len(humps) > 1 else humps
    return out


def _whole(token: str, parts: list[str]) -> list[str]:
    """The compound as one term where it means something as one.

    "3:1", "2024-01-01", "1.2.3", "a.b", "my_file" as they are; "e-mail" without its
    hyphen; contractions and possessives not at all.
    """
    if len(token) > _COMPOUND or "'" in token or "’" in token or "/" in token:
        return []
    if _UNSPACED_CHAR.search(token):
        return []
    if any(char.isdigit() for char in token) or not set(token) & {"-", "&"}:
        return [token.strip("_")] if token.strip("_") not in parts else []
    return ["".join(parts)] if len(parts) == 2 else []


def _is_plain(token: str) -> bool:
    """One word, no sign, no hump, no script without blanks: one term."""
    return (
        token.isalnum()
        and len(token) <= LONGEST
        and (token.islower() or not _CAMEL.search(token))
        and (token.isascii() or not _UNSPACED_CHAR.search(token))
    )


def _word_terms(token: str, finish: Callable[[str], str], query: bool) -> list[str]:
    if token.endswith(("++", "#")):
        return [token.casefold()]
    if _is_plain(token):
        return [finish(token.casefold())]
    parts = _parts(token)
    if len(parts) > 1 and ("'" in token or "’" in token):
        parts = [part for part in parts if len(part) > 1] or parts  # l'eau, it's, don't
    terms: list[str] = []
    for part in parts:
        if _UNSPACED_CHAR.match(part):
            terms += _ngrams(part, query)
        else:
            terms += [finish(piece) for piece in _cut(part.casefold())]
    if len(parts) > 1:
        terms += [term.casefold() for term in _whole(token, parts)]
    return terms


def _prepare(text: str) -> str:
    text = join_hyphenation(text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _IGNORED.sub("", text))


def _terms(text: str, stemmer: str, *, query: bool = False) -> list[str]:
    def finish(word: str) -> str:
        return _stem(word, stemmer)

    terms: list[str] = []
    for match in _CHUNK.finditer(_prepare(text)):
        token = match.group()
        if match.lastgroup == "word":
            terms += _word_terms(token, finish, query)
        elif match.lastgroup == "cjk":
            terms += _ngrams(token, query)
        elif _is_term_sign(token):
            terms.append(token)
    return terms


def analyse(text: str, language: str) -> list[str]:
    """Terms of a text in reading order, stemmed by its language (ISO 639-1, "" for none).

    NFKC and case folding; snowball stems, Latin accents dropped after stemming;
    compounds give their parts and themselves; scripts without blanks give single
    characters and pairs; long tokens are cut at 32 code points. Stop words stay.
    """
    return _terms(text, _STEMMERS.get(language, ""))


def analyse_query(query: str, languages: Iterable[str]) -> list[list[str]]:
    """Terms of a query, one list per distinct stemming of the languages in the index.

    Function words of the variant's language go, unless nothing else is left. Each
    list is deduplicated; a query without any term gives no list.
    """
    variants: list[list[str]] = []
    for language in sorted(set(languages)) or [""]:
        stemmer = _STEMMERS.get(language, "")
        stop = STOP_WORDS.get(language, frozenset())
        words = _drop_stop_words(query, stop) if stop else query
        terms = list(dict.fromkeys(_terms(words, stemmer, query=True)))
        if not terms:
            terms = list(dict.fromkeys(_terms(query, stemmer, query=True)))
        if terms and terms not in variants:
            variants.append(terms)
    return variants


def _drop_stop_words(query: str, stop: frozenset[str]) -> str:
    prepared = _prepare(query)
    kept: list[str] = []
    for token in prepared.split():
        bare = token.strip("\"'“”‘’«»()[]{}.,;:!?¿¡…").casefold()
        if bare not in stop and bare.split("'")[0].split("’")[0] not in stop:
            kept.append(token)
    return " ".join(kept)
