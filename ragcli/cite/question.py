"""What a question asks for: its constituents and the kind of answer it expects.

Pure. English question words; a question in another language keeps its constituents and
expects nothing in particular.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragcli.cite.shortforms import acronyms, decade, spelled_out
from ragcli.text.words import Word, WordKind, fold, words

Expected = Literal["time", "number", "person", "any"]

# What a missing constituent costs: names and figures tell one fact from its neighbours.
WEIGHTS: dict[WordKind, float] = {"name": 1.5, "number": 2.0, "ordinal": 2.0, "word": 1.0}

# Words that pick one of a row, as ordinals do; a row is one choice ("last", "final").
_SELECTORS = (
    ("last", "final", "latest"),
    ("previous", "former", "preceding", "prior"),
    ("oldest", "eldest"),
    ("youngest", "newest"),
)
_NO_ROW = frozenset({"name", "names", "to", "time", "of"})  # "last name", "prior to", "next time"
SELECTORS: dict[str, tuple[str, ...]] = {word: row for row in _SELECTORS for word in row}

_TIME = re.compile(
    r"^(?:\w+ )?when\b|\b(?:what|which)\s+(?:\w+\s+)?"
    r"(?:year|date|month|century|decade|weekday|day of the week)\b"
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|tall|long|far|high|heavy|deep|wide|often)\b|\bwhat percent"
)
_PERSON = re.compile(r"^(?:\w+ )?who(?:m|se)?\b")
_CHOICE = re.compile(  # "Who is the oldest, A or B?", "Between A and B, which came first?"
    r"^(?:in |of |to )?(?:which|who|what)\b.*\bor\b|^(?:between|of)\b.*\band\b.*\b(?:which|who)\b"
)
_NO_FIGURE = re.compile(r"\bhow (?:often|long|much|far)\b")  # "twice", "until May", "none"


@dataclass(frozen=True, slots=True)
class Term:
    """A constituent of a question.

    alternatives: keys of which one must be found. related: keys of words of like meaning,
    which count nearly as much.
    """

    text: str
    kind: WordKind
    alternatives: tuple[str, ...]
    related: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart.

    strict: an answer without the expected kind is none. choice: the answer is one of several
    that the question names. words: all of them, in order.
    """

    text: str
    terms: tuple[Term, ...]
    expects: Expected
    strict: bool
    choice: bool = False
    words: tuple[Word, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(key for term in self.terms for key in term.alternatives)


def parse_question(text: str, language: str = "en") -> Question:
    """Content words, names, figures and selectors of a question, each once, in order."""
    found: dict[str, Term] = {}
    tokens = words(text, language)
    choice = language == "en" and bool(_CHOICE.search(fold(text).strip()))
    for at, word in enumerate(tokens):
        if word.kind == "stop":
            continue
        kind: WordKind = word.kind
        alternatives: tuple[str, ...] = (word.key,)
        row = SELECTORS.get(fold(word.text))
        if row and at + 1 < len(tokens) and fold(tokens[at + 1].text) not in _NO_ROW:
            kind = "ordinal"
            alternatives = tuple(key for other in row for key in _key(other, language))
        if choice and kind == "ordinal":
            kind = "word"  # it is for the answer to compare; no document need say "first"
        forms, years = decade(tokens, at, text)
        alternatives = tuple(dict.fromkeys(alternatives + forms))
        found.setdefault(word.key, Term(word.text, kind, alternatives, years))
    expects, strict = _expectation(fold(text).strip()) if language == "en" else ("any", False)
    return Question(text, tuple(found.values()), expects, strict, choice, tuple(tokens))


def keys_in(question: Question, text: str, language: str = "en") -> frozenset[str]:
    """Keys of a text's content words, as far as the question goes by another form too.

    An acronym of the question stands in a text that spells it out ("CEO", "chief executive
    officer"), and the words of the question in a text that has their acronym.
    """
    own = words(text, language)
    keys = {word.key for word in own if word.kind != "stop"}
    keys.update(short.key for short in acronyms(question.words) if spelled_out(short, own))
    for short in acronyms(own):
        keys.update(w.key for w in spelled_out(short, question.words) if w.kind != "stop")
    return frozenset(keys)


def _key(word: str, language: str) -> tuple[str, ...]:
    return tuple(w.key for w in words(word, language))


def _expectation(question: str) -> tuple[Expected, bool]:
    if _TIME.search(question):
        return "time", True
    if _NUMBER.search(question):
        return "number", not _NO_FIGURE.search(question)
    if _PERSON.search(question):
        return "person", False
    return "any", False


_TIME_WORD = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|easter|christmas"
    r"|centur(?:y|ies)|decades?|years?|months?|weeks?|days?|hours?|minutes?|noon|midnight|night"
    r"|morning|evening|afternoon|dawn|dusk|today|yesterday|tomorrow|always|never|now|once"
    r"|after|before|during|until|since|ago|when|while|whenever|later|earlier|soon)\b"
)
_QUANTITY = re.compile(
    r"\b(?:no|none|both|several|few|single|pair|couple|dozens?|half|twice|once|many|all|an?|one"
    r"|hundreds|thousands|millions|zero|only)\b"
)


def meets(expects: Expected, text: str, known: frozenset[str], language: str = "en") -> bool:
    """Whether `text` holds something of the expected kind.

    known: keys of the question; a name or figure that the question already gave is no answer.
    """
    if expects == "any":
        return True
    if expects == "time":
        return bool(_TIME_WORD.search(fold(text)))
    kinds = ("number",) if expects == "number" else ("name",)
    found = any(w.kind in kinds and w.key not in known for w in words(text, language))
    return found or (expects == "number" and bool(_QUANTITY.search(fold(text))))
