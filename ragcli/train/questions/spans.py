"""What in a sentence can be asked for: dates, amounts, numbers, names, as spans of it. Pure.

The answer is chosen before the question, so that it stands in its source whatever is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ragcli.selection.grammar import IRREGULAR, is_verb
from ragcli.selection.phrases import Phrase, phrases
from ragcli.text.normalise import readable
from ragcli.text.words import Word, fold, words
from ragcli.types import Span

SpanKind = Literal["date", "amount", "number", "name", "quoted", "content"]
MOST_WORDS = 7  # of an answer
_LARGEST_SHARE = 0.5  # of the sentence's characters

_MONTHS = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?{_MONTHS}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,?\s+\d{{3,4}}\b)?"
    r"|(?<=\bin )(?:1\d|20)\d\d\b|(?<=\bIn )(?:1\d|20)\d\d\b"
    r"|(?<=\bsince )(?:1\d|20)\d\d\b|(?<=\buntil )(?:1\d|20)\d\d\b|(?<=\bby )(?:1\d|20)\d\d\b"
)
_SCALE = r"(?:\s(?:hundred|thousand|million|billion|trillion))?"
_UNITS = (
    "km/h|m/s|mph|km|cm|mm|m|kg|g|mg|l|ml|bar|kW|MW|GW|kWh|V|A|Hz|kHz|MHz|GHz|KB|MB|GB|TB|°C|°F|"
    "met(?:er|re)s?|kilomet(?:er|re)s?|miles?|feet|inches|acres|hectares|tons|tonnes|pounds|"
    "kilograms|grams|lit(?:er|re)s?|degrees|seconds|minutes|hours|days|weeks|months|years"
)
_AMOUNT = re.compile(
    rf"[$€£¥]\s?\d[\d,.]*\d{_SCALE}|[$€£¥]\s?\d{_SCALE}"
    rf"|\b\d[\d,.]*{_SCALE}\s?(?:%|percent\b|per\scent\b|(?:(?:square|cubic)\s)?(?:{_UNITS})\b)"
)
_MONTH = re.compile(_MONTHS)
_NO_COUNT = re.compile(r"[01]|(?:1\d|20)\d\d")  # years: "the 1981 restraints"
# Text beside a span that makes it one of several: ", Toyota", "and Nissan", "Jones and".
_MORE_AFTER = re.compile(r"['’]?s?(?:,? (?:and|or|&) |, |/)(?:the |[a-z]+ )?[A-Z\"“]")
_MORE_BEFORE = re.compile(r"(?:[\w\"”.)], |(?:\b(?:and|or)|&) |/)(?:the )?\Z")
_BLANK = re.compile(r"\w[ \u00a0]\Z")
_ARTICLE = re.compile(r"\b(?:an?|the) \Z", re.IGNORECASE)
_ENDS = re.compile(r"[.,;:)]|\Z")
_JOINED = "-–—/½¼¾²³^°[]"  # beside a number: a range, a fraction, a reference


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """`text` is `sentence[span.start:span.end]` as people read it."""

    kind: SpanKind
    span: Span
    text: str


def answer_spans(sentence: str, language: str = "en", *, partial: bool = False) -> list[AnswerSpan]:
    """Spans in order, none overlapping; each stands once in the sentence.

    A name or number that is one of a row, or belongs to the word after it ("Norman knights"),
    is none: the answer would be a part of one. partial: those too, which may be answers to other
    questions.
    """
    found: list[AnswerSpan] = []
    for kind, span in _candidates(sentence, language, partial):
        text = readable(span.of(sentence))
        taken = any(span.start < one.span.end and one.span.start < span.end for one in found)
        if not taken and _fits(text, sentence) and (partial or _apart(sentence, span)):
            found.append(AnswerSpan(kind, span, text))
    return sorted(found, key=lambda one: one.span)


def _candidates(sentence: str, language: str, partial: bool) -> Iterator[tuple[SpanKind, Span]]:
    """Those that come first win where two overlap."""
    for match in _AMOUNT.finditer(sentence):
        yield "amount", Span(*match.span())
    for match in _DATE.finditer(sentence):
        if len(match.group().split()) > 1 or match.group().isdigit():  # "May" may be a verb
            yield "date", Span(*match.span())
    for span in _counts(sentence, language):
        yield "number", span
    for phrase in phrases(sentence, language):
        span = _without_possessive(phrase)
        if partial or _whole(phrase, span, sentence):
            yield phrase.kind, span


def _whole(phrase: Phrase, span: Span, sentence: str) -> bool:
    """Whether the phrase says all of an answer."""
    match phrase.kind:
        case "name":
            return not (_MONTH.search(phrase.text) or _partial(sentence, span))
        case "number":
            return False  # a count is found above; what is left are references and the like
        case "content":
            return _is_noun_phrase(phrase, sentence)
        case "quoted":
            return True


def _fits(text: str, sentence: str) -> bool:
    """Short enough, whole, and there once."""
    count = len(text.split())
    return (
        1 <= count <= MOST_WORDS
        and len(text) > 1 - text.isdigit()
        and len(text) <= _LARGEST_SHARE * len(sentence)
        and fold(readable(sentence)).count(fold(text)) == 1
    )


def _apart(sentence: str, span: Span) -> bool:
    """No range, fraction or reference goes on beside it."""
    before, after = sentence[: span.start].rstrip()[-1:], sentence[span.end : span.end + 1]
    return not (before and before in _JOINED) and not (after and after in _JOINED)


def _without_possessive(phrase: Phrase) -> Span:
    owns = phrase.text.endswith(("'s", "’s"))
    return Span(phrase.span.start, phrase.span.end - 2 * owns)


def _partial(sentence: str, span: Span) -> bool:
    """One of a row, or what belongs to the word behind it: the answer would be a part of one."""
    before = sentence[max(0, span.start - 40) : span.start]
    goes_on = words(f"x {before}")[-1:] if _BLANK.search(before) else []
    return (
        _modifies(sentence, span)
        or any(word.kind in ("name", "number", "ordinal") for word in goes_on)
        or bool(_MORE_AFTER.match(sentence, span.end) or _MORE_BEFORE.search(before[-12:]))
    )


def _modifies(sentence: str, span: Span) -> bool:
    """Whether a word follows that is no verb and no function word: "Norman knights"."""
    if sentence[span.end : span.end + 1] in ("-", "–", "/", "'", "’"):
        return True
    follows = words(sentence[span.end : span.end + 40])
    if not follows or sentence[span.end : span.end + follows[0].start].strip():
        return False
    word = follows[0]
    return word.kind == "word" and not (is_verb(fold(word.text)) or word.text.endswith("ed"))


def _counts(sentence: str, language: str) -> Iterator[Span]:
    """Figures and number words with what is counted behind them: "2 million" of "2 million men"."""
    first: Word | None = None
    for number, counted in pairwise(words(sentence, language)):
        beside = sentence[number.end : counted.start].isspace()
        if number.kind != "number":
            continue
        first = first or number
        if beside and counted.kind == "number":
            continue
        if beside and counted.kind == "word" and counted.text.islower():
            span = Span(first.start, number.end)
            if not _NO_COUNT.fullmatch(span.of(sentence)):
                yield span
        first = None


def _is_noun_phrase(phrase: Phrase, sentence: str) -> bool:
    """Two words or more between an article and the end of a clause, the last of them no verb."""
    last = fold(phrase.text.split()[-1])
    return (
        len(phrase.text.split()) > 1
        and not (last in IRREGULAR or last.endswith("ed"))
        and bool(_ARTICLE.search(sentence[: phrase.span.start]))
        and bool(_ENDS.match(sentence, phrase.span.end))
    )
