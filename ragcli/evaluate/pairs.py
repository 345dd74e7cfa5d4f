"""Pairs of premise and claim whose truth is known, made from questions with gold sentences.

Two claims a question: the gold sentence that holds the answer, word for word ("sentence"), and
the question followed by its answer ("answer", which is how ragcli has a short answer judged, and
ALCE a listed one). Four makings:

gold        the gold sentences under their titles: supported
distractor  as many sentences of the question's other passages, those that share the most
            words with the claim and lack the answer: unsupported
swapped     the gold sentences again, the answer in the claim replaced by another question's
            that they do not hold, of the same shape and to the same question word: unsupported
misplaced   the gold sentences again, the answer after the question replaced by another name or
            figure that they do hold, which only a reader notices: unsupported

A true answer may, seldom, be swapped for another true one, and a gold sentence may need the
passage around it; so no verifier is expected to reach 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragcli.evaluate.metrics.short import contains, normalise
from ragcli.evaluate.types import Question
from ragcli.text.normalise import readable
from ragcli.text.words import keys_of, words

Making = Literal["gold", "distractor", "swapped", "misplaced"]
Form = Literal["sentence", "answer"]
Told = tuple[str, str]  # title, sentence

MAKINGS: tuple[Making, ...] = ("gold", "distractor", "swapped", "misplaced")
FORMS: tuple[Form, ...] = ("sentence", "answer")
_YES_NO = {"yes": "no", "no": "yes"}
_ASKS = re.compile(
    r"\b(who|whose|whom|when|where|which|what|how)\b(?:\s+(many|much|long|old|year))?"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """supported: whether the premise supports the claim, as the labels have it."""

    question_id: str
    making: Making
    form: Form
    premise: str
    claim: str

    @property
    def supported(self) -> bool:
        return self.making == "gold"


def make_pairs(questions: Sequence[Question]) -> tuple[Pair, ...]:
    """All pairs, question by question, at most one of each making and form.

    Of questions with an answer and gold sentences; those of others are left out. Answers are
    swapped within `questions`.
    """
    usable = [question for question in questions if question.answers and _gold(question)]
    return tuple(pair for question in usable for pair in _pairs(question, usable))


def _pairs(question: Question, pool: Sequence[Question]) -> Iterator[Pair]:
    gold = _gold(question)
    premise = _premise(gold)
    holder, answer = _holder(gold, question.answers)
    other = _another(question, answer, premise, pool)
    claims: dict[Form, str] = {"sentence": holder, "answer": f"{question.text} {answer}"}
    swapped: dict[Form, str] = {}
    if other:
        swapped["answer"] = f"{question.text} {other}"
        if changed := _replaced(holder, answer, other):
            swapped["sentence"] = changed
    for form in FORMS:
        yield Pair(question.id, "gold", form, premise, claims[form])
        if away := _distractors(question, claims[form], len(gold)):
            yield Pair(question.id, "distractor", form, _premise(away), claims[form])
        if form in swapped:
            yield Pair(question.id, "swapped", form, premise, swapped[form])
    if near := _misplaced(question, answer, gold):
        yield Pair(question.id, "misplaced", "answer", premise, f"{question.text} {near}")


def _gold(question: Question) -> list[Told]:
    return [
        (passage.title, readable(sentence))
        for passage in question.passages
        if passage.gold_level == "sentence"
        for sentence, needed in zip(passage.sentences, passage.gold, strict=True)
        if needed
    ]


def _premise(sentences: Sequence[Told]) -> str:
    """The sentences, each after its title where that changes, as ragcli shows them to a verifier."""
    parts: list[str] = []
    last = ""
    for title, sentence in sentences:
        if title and title != last:
            parts.append(f"{title}:")
        last = title
        parts.append(sentence)
    return " ".join(parts)


def _holder(gold: Sequence[Told], answers: Sequence[str]) -> tuple[str, str]:
    """The gold sentence that holds an alias, and that alias; else the first of both."""
    for answer in answers:
        for _, sentence in gold:
            if _place(answer).search(sentence):
                return sentence, answer
    return gold[0][1], answers[0]


def _distractors(question: Question, claim: str, most: int) -> list[Told]:
    """Sentences of passages without gold, in their order."""
    wanted = keys_of(claim)
    found = [
        (passage.title, readable(sentence))
        for passage in question.passages
        if not any(passage.gold)
        for sentence in passage.sentences
        if sentence.strip() and not contains(sentence, question.answers)
    ]
    near = sorted(range(len(found)), key=lambda at: (-len(wanted & keys_of(found[at][1])), at))
    return [found[at] for at in sorted(near[:most])]


def _another(question: Question, answer: str, premise: str, pool: Sequence[Question]) -> str:
    """An answer of the same shape from another question, "" where there is none.

    The nearest in shape and length; among equals by a hash, so that the choice is fixed.
    """
    plain = normalise(answer)
    if plain in _YES_NO:
        return _YES_NO[plain]
    shape = _shape(answer)
    taken = f"{question.text} {premise}"
    others = {
        candidate: _asks(one.text) != _asks(question.text)
        for one in pool
        if one.id != question.id
        for candidate in one.answers[:1]
        if _shape(candidate)[0] == shape[0]
        and normalise(candidate) not in _YES_NO
        and not contains(taken, [candidate])
        and not contains(candidate, question.answers)
    }
    return min(
        others,
        key=lambda other: (others[other], *_distance(question.id, answer, other)),
        default="",
    )


def _misplaced(question: Question, answer: str, gold: Sequence[Told]) -> str:
    """A name or figure of the gold sentences that neither question nor answer hold, or "".

    The nearest to the answer in shape and length.
    """
    kind = _shape(answer)[0]
    if kind == "other" or normalise(answer) in _YES_NO:
        return ""
    taken = keys_of(" ".join([question.text, *question.answers]))
    found = [
        mention
        for _, sentence in gold
        for mention in _mentions(sentence)
        if _shape(mention)[0] == kind and taken.isdisjoint(keys_of(mention))
    ]
    return min(found, key=lambda other: _distance(question.id, answer, other), default="")


def _mentions(sentence: str) -> list[str]:
    """Figures, and names of as many words as stand together."""
    found: list[tuple[str, int, int]] = []
    for word in words(sentence):
        if word.kind not in ("name", "number"):
            continue
        kind, start, end = found[-1] if found else ("", 0, 0)
        if kind == word.kind == "name" and sentence[end : word.start] == " ":
            found[-1] = (kind, start, word.end)
        else:
            found.append((word.kind, word.start, word.end))
    return [sentence[start:end] for _, start, end in found]


def _asks(question: str) -> tuple[str, str]:
    """The question word, and what is asked to be counted or told."""
    found = _ASKS.search(question.lower())
    return (found[1], found[2] or "") if found else ("", "")


def _distance(salt: str, answer: str, other: str) -> tuple[bool, int, str]:
    """Shapes that differ, words more or less, and a hash."""
    digest = hashlib.sha256(f"{salt}\0{other}".encode("utf-8", "surrogatepass")).hexdigest()
    more = abs(len(answer.split()) - len(other.split()))
    return _shape(answer) != _shape(other), more, digest


def _shape(answer: str) -> tuple[str, str]:
    """Kind, and the pattern of a number or date: "1908" is like "1946", not like "12 days"."""
    letters = [letter for letter in answer if letter.isalnum()]
    digits = sum(letter.isdigit() for letter in letters)
    if digits and (answer[:1].isdigit() or 3 * digits >= len(letters)):
        return "number", re.sub(r"[^\W\d]+", "a", re.sub(r"\d", "0", answer))
    return ("name" if answer[:1].isupper() else "other"), ""


def _replaced(sentence: str, answer: str, other: str) -> str:
    """The sentence with every mention of the answer exchanged; "" where it holds none."""
    place = _place(answer)
    return place.sub(lambda _: other, sentence) if place.search(sentence) else ""


def _place(answer: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(readable(answer))}(?!\w)", re.IGNORECASE)
