"""Whether an answer, once there, may stand: the check after generation. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.cite.claims import SHORT, bare, is_refusal
from ragcli.cite.question import Question, Term, keys_in, meets
from ragcli.cite.verify import other_figure
from ragcli.text.labels import other_one
from ragcli.text.normalise import readable
from ragcli.text.words import alike, fold, keys_of, words
from ragcli.types import AnswerSentence, Verdict

_YES_NO = re.compile(
    r"^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might"
    r"|must)\b"
)
_FACTS = ("name", "number")
STRONG = 1.5  # evidence from which a plain word of the question may be missing
NEAR = 0.75  # how close to the best place the cited sentences must be
_GENERIC = frozenset(
    keys_of("year date month day century place type kind amount number main part way sort").union(
        keys_of("often usually commonly due")
    )
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What an answer is held against.

    texts: what the model was shown, one a source sentence or heading. score: `Evidence.score`.
    near: `evidence.nearness` of what the answer cites.
    """

    texts: Sequence[str]
    score: float = 2.0
    near: float = 1.0


def objection(
    question: Question, sentences: Sequence[AnswerSentence], shown: Shown, language: str = "en"
) -> str:
    """Why the answer should not be given, for people; empty when it may be.

    An answer stands when at least one of its sentences passes every check, and what it
    cites is about as close to the question as the best that was found.
    """
    if not sentences:
        return "the model gave no answer"
    if asked := other_one(question.text, "\n".join(shown.texts), language):
        return f"the documents found say nothing of “{asked}”"
    keys = frozenset().union(*(keys_in(question, text, language) for text in shown.texts))
    reasons = [_sentence_objection(question, s, keys, shown.score, language) for s in sentences]
    if "" not in reasons:
        return reasons[0]
    if shown.near < NEAR:
        return "the answer rests on sentences that do not speak of what was asked"
    return ""


def _sentence_objection(
    question: Question,
    sentence: AnswerSentence,
    known: frozenset[str],
    score: float,
    language: str,
) -> str:
    if is_refusal(sentence.text):
        return "the model found no answer in the documents"
    if not sentence.citations:
        return "no sentence of the documents supports the answer"
    said = bare(sentence.text)
    foreign = foreign_facts(question, said, known, language)
    if foreign:
        return f"the answer names “{foreign[0]}”, which the passages found do not"
    claimed = unsupported_constituents(question, said, known, language)
    if any(term.kind != "word" for term in claimed) or (claimed and score < STRONG):
        return f"the documents found say nothing of “{claimed[0].text}”"
    if question.strict and not meets(question.expects, said, question.keys, language):
        return "the answer does not give what was asked for"
    cited = " ".join(citation.sentence.text for citation in sentence.citations)
    if other_figure(readable(cited), said, language):
        return "the answer gives another figure than the sentence that it rests on"
    if asked := other_one(question.text, f"{said}\n{readable(cited)}", language):
        return f"the answer does not speak of “{asked}” but of another one"
    if sentence.verdict is Verdict.UNSUPPORTED:
        return "no sentence of the documents supports the answer"
    if not adds_something(question, said, language):
        return "the model only repeated the question"
    return ""


def foreign_facts(
    question: Question, sentence: str, known: frozenset[str], language: str = "en"
) -> tuple[str, ...]:
    """Names and figures of a sentence that neither the sources nor the question hold.

    Of a short answer, every word that answers, where none of them is held.
    """
    own = [w for w in words(sentence, language) if w.kind != "stop" and w.key not in question.keys]
    foreign = [word for word in own if not _holds(known, word.key)]
    if len(own) <= SHORT and len(foreign) == len(own):
        return tuple(word.text for word in foreign)
    return tuple(word.text for word in foreign if word.kind in _FACTS)


def unsupported_constituents(
    question: Question, sentence: str, known: frozenset[str], language: str = "en"
) -> tuple[Term, ...]:
    """Constituents of the question that the sentence asserts although no source holds them."""
    said = keys_of(sentence, language)
    return tuple(
        term
        for term in question.terms
        if _GENERIC.isdisjoint(term.alternatives)
        and not said.isdisjoint(term.alternatives)
        and not any(_holds(known, key) for key in term.alternatives)
        and known.isdisjoint(term.related)
    )


def _holds(known: frozenset[str], key: str) -> bool:
    return key in known or any(alike(key, other) for other in known)


def adds_something(question: Question, sentence: str, language: str = "en") -> bool:
    """Whether a sentence says more than the question did; a yes or no question asks no more.

    To a choice, an answer names something of the question and leaves a name of it out.
    """
    if _YES_NO.match(fold(question.text).strip()):
        return True
    said = keys_of(sentence, language)
    if question.choice:
        left = [t for t in question.terms if t.kind == "name" and said.isdisjoint(t.alternatives)]
        return bool(said - question.keys) or (bool(said) and bool(left))
    return bool(said - question.keys)
