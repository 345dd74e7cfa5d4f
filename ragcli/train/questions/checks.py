"""What is wrong with a drafted question, as far as its words tell. Pure.

`FAULTS` are looked for in order; each has a name of its own, under which drafts are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ragcli.selection.grammar import AUXILIARIES, WH
from ragcli.text.normalise import readable
from ragcli.text.words import Word, fold, keys_of, words
from ragcli.train.examples import says

SHORTEST, LONGEST = 3, 30  # words of a question
LEAST_LIKELY = -0.45  # mean log-probability a token: below it a question is mostly none

_MARKS = ("?", "？", "؟")
_GREEK = (*_MARKS, ";")
_ASKS = WH | AUXILIARIES | {"name", "list"}
_POINTS_AT = re.compile(
    r"\b(?:this|that|the|these|those|following|above|below|given|next|previous)\s+(?:\w+\s+)?"
    r"(?:passage|text|article|document|author|sentence|section|paragraph|excerpt|page|chapter|"
    r"title|answer|question|statement|example|figure|table|list)s?\b"
    r"|\b(?:mentioned|described|listed|shown|stated)\s+(?:above|below|here)\b"
    r"|\b(?:these|those)\s+\w+|\bthis\s+\w+"
)
_PRONOUNS = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|theirs?|we|us|our|i|me|my)\b"
)
# Words that say nothing to look for.
_EMPTY = (
    "people person place thing name names year years number kind type part group called made used known"
    " first last other most many much old long far take happen mean become given"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as it was written, with the answer it was written for.

    title, sentence: what the generator saw. likelihood: mean log-probability of the question's
    tokens, before anything was ruled out.
    """

    question: str
    answer: str
    sentence: str
    title: str = ""
    language: str = "en"
    likelihood: float = 0.0


def not_in_source(draft: Draft) -> bool:
    """The sentence, as people read it, does not hold the answer."""
    return not says(readable(draft.sentence), [draft.answer])


def no_question(draft: Draft) -> bool:
    """It does not end as one, or (in English) nothing in it asks."""
    text, marks = draft.question, _GREEK if draft.language == "el" else _MARKS
    if not text.endswith(marks) or sum(map(text.count, marks)) != 1:
        return True
    found = [fold(word.text) for word in words(text, draft.language)]
    if draft.language not in ("en", ""):
        return not found
    return not found or not (found[0] in _ASKS or WH.intersection(found))


def too_short(draft: Draft) -> bool:
    return _length(draft.question) < SHORTEST


def too_long(draft: Draft) -> bool:
    return _length(draft.question) > LONGEST


def _length(question: str) -> int:
    return (
        len(words(question))
        if question.isascii()
        else max(len(question.split()), len(words(question)) // 2)
    )


def gives_answer(draft: Draft) -> bool:
    """It holds the answer, all its content words, or half of them where they are a name."""
    if says(draft.question, [draft.answer]):
        return True
    wanted = {
        w.key
        for w in words(draft.answer, draft.language)
        if w.kind != "stop" and (len(w.text) > 2 or not w.text.isalpha())  # "al" is in many names
    }
    if not wanted:
        return False
    shared = len(wanted & keys_of(draft.question, draft.language)) / len(wanted)
    named = any(w.kind == "name" for w in words(draft.answer, draft.language))
    return shared >= (0.5 if named else 1.0)


def needs_context(draft: Draft) -> bool:
    """It points at a text, or at somebody it does not name; or names nothing at all to look for."""
    folded = fold(draft.question)
    if draft.language in ("en", "") and (_POINTS_AT.search(folded) or _bare_pronoun(draft)):
        return True
    return len(keys_of(folded, draft.language) - keys_of(_EMPTY)) < 2 and not any(
        word.kind in ("name", "number") for word in words(draft.question, draft.language)
    )


def _bare_pronoun(draft: Draft) -> bool:
    """A pronoun with no name before it that it could stand for."""
    first = _PRONOUNS.search(draft.question.casefold())
    return first is not None and not any(
        _names(word) for word in words(draft.question, draft.language) if word.end <= first.start()
    )


def _names(word: Word) -> bool:
    return word.kind == "name" and fold(word.text) not in _ASKS


def invented(draft: Draft) -> bool:
    """It names somebody, or a figure, that neither the sentence nor its title does."""
    known = keys_of(f"{draft.title.replace('_', ' ')}. {draft.sentence}", draft.language)
    return any(
        word.kind in ("name", "number") and word.key not in known
        for word in words(draft.question, draft.language)
        if fold(word.text) not in _ASKS
    )


def repeats_itself(draft: Draft) -> bool:
    """Three words twice over: a generator that goes round in circles."""
    found = [fold(word.text) for word in words(draft.question, draft.language)]
    runs = [tuple(found[at : at + 3]) for at in range(len(found) - 2)]
    return len(set(runs)) < len(runs)


def unlikely(draft: Draft) -> bool:
    """The generator itself finds the wording unlikely."""
    return draft.likelihood < LEAST_LIKELY


FAULTS: dict[str, Callable[[Draft], bool]] = {
    "answer-not-in-source": not_in_source,
    "garbled": lambda draft: repeats_itself(draft) or unlikely(draft),
    "no-question": no_question,
    "too-short": too_short,
    "too-long": too_long,
    "gives-the-answer": gives_answer,
    "needs-context": needs_context,
    "invented": invented,
}
# Every reason to drop a draft, in the order in which they are looked for, in words.
REASONS: dict[str, str] = {
    "answer-not-in-source": "the answer is not in its source as people read it",
    "garbled": "goes round in circles, or the generator found no likely wording",
    "no-question": "not in the form of a question",
    "too-short": f"fewer than {SHORTEST} words",
    "too-long": f"more than {LONGEST} words",
    "gives-the-answer": "the question says the answer",
    "needs-context": "cannot be understood by itself",
    "invented": "names what its source does not",
    "duplicate": "asked before",
    "boilerplate": "the sentence stands in other documents too",
    "not-retrievable": "searching for the question does not find its passage",
    "not-verified": "asked from the source, the generator does not give the answer back",
}


def fault(draft: Draft, asked: Collection[str]) -> str:
    """The first reason to drop it, "" if there is none. asked: `normalised` questions kept."""
    for name, found in FAULTS.items():
        if found(draft):
            return name
    return "duplicate" if normalised(draft.question) in asked else ""


def normalised(question: str) -> str:
    """What two questions share that are the same: words without case, marks and articles."""
    kept = "".join(one if one.isalnum() else " " for one in fold(question))
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))
