"""Words of like meaning: "die" and "death", "kept" and "keep". Pure given an encoder's vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragcli.cite.evidence import PassageView
from ragcli.cite.question import Question
from ragcli.text.words import fold, words

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

RELATED_FROM = 0.7  # cosine of two single words; unrelated pairs lie below 0.5, antonyms near 0.65
MOST_WORDS = 400  # words looked at; a few hundred short texts cost an encoder about 0.1 s


def with_related(
    question: Question, passages: Sequence[PassageView], encode: Encode, language: str = "en"
) -> Question:
    """The question with, for each plain word that the passages lack, their words of like meaning.

    Names and figures have none. Encodes nothing when nothing is missing.
    """
    pool = _pool(passages, language)
    keys = set(pool.values())
    lacking = [t for t in question.terms if t.kind == "word" and keys.isdisjoint(t.alternatives)]
    if not lacking or not pool:
        return question
    vectors = encode([fold(term.text) for term in lacking] + list(pool))
    cosines = vectors[: len(lacking)] @ vectors[len(lacking) :].T
    found = np.asarray(list(pool.values()), dtype=object)
    related = {
        term.text: frozenset(found[row >= RELATED_FROM].tolist())
        for term, row in zip(lacking, cosines, strict=True)
    }
    terms = tuple(replace(t, related=related.get(t.text, t.related)) for t in question.terms)
    return replace(question, terms=terms)


def _pool(passages: Sequence[PassageView], language: str) -> dict[str, str]:
    """Folded plain words of the passages, best passage first, to their keys."""
    pool: dict[str, str] = {}
    for passage in passages:
        for sentence in passage.sentences:
            for word in words(sentence, language):
                if word.kind == "word":
                    pool.setdefault(fold(word.text), word.key)
                if len(pool) >= MOST_WORDS:
                    return pool
    return pool
