"""CRAG's retrieval evaluator: is a text relevant to a question, and is a retrieval good enough?

Paper 000, appendix A.3. There a fine-tuned T5-large scores pairs; here the encoder with the
question's words does, or the user's generator. Scores lie in [0, 1]; what they mean differs
by evaluator, so each has its own thresholds (`THRESHOLDS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Generator, Prompt
from ragcli.llm.prompts import extract as prompt
from ragcli.selection.judging import probability
from ragcli.text.normalise import readable
from ragcli.text.words import WordKind, alike, words

Scores = NDArray[np.float64]
WEIGHTS: dict[WordKind, float] = {"name": 1.5, "number": 2.0, "ordinal": 2.0, "word": 1.0}
INFLECTED = 0.8  # what a word of the same beginning counts ("keeper", "keeping")
_LONGEST = 1200  # characters of a text that the generator reads


class Confidence(StrEnum):
    """What a retrieval is, by its best score."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of a retrieval: correct above `upper`, incorrect below `lower`. Of a text: `relevant` from."""

    upper: float
    lower: float
    relevant: float


THRESHOLDS = {
    "encoder": Thresholds(upper=0.65, lower=0.5, relevant=0.4),
    "generator": Thresholds(upper=0.85, lower=0.6, relevant=0.45),
}


def confidence(scores: Sequence[float], limits: Thresholds) -> Confidence:
    """Correct if any score exceeds the upper threshold, incorrect if all fall below the lower one."""
    best = max(scores, default=float("-inf"))
    if best > limits.upper:
        return Confidence.CORRECT
    return Confidence.INCORRECT if best < limits.lower else Confidence.AMBIGUOUS


@dataclass(frozen=True, slots=True)
class Judged:
    """A text to judge: its sentences under a title, and the cosine of each with the question."""

    title: str
    sentences: tuple[str, ...]
    cosines: tuple[float, ...]

    def part(self, first: int, last: int) -> Judged:
        """Sentences first..last-1 of it."""
        return Judged(self.title, self.sentences[first:last], self.cosines[first:last])


class Evaluator(Protocol):
    """Relevance of texts to a question."""

    @property
    def name(self) -> str: ...

    def score(self, question: str, texts: Sequence[Judged]) -> Scores:
        """(n,) in [0, 1]; each pair by itself, whatever else is judged with it."""
        ...


class EncoderEvaluator:
    """Mean of the best sentence's cosine and of the share of the question's words that are there."""

    name = "encoder: best sentence and words of the question"

    def __init__(self, language: str = "en") -> None:
        self._language = language

    def score(self, question: str, texts: Sequence[Judged]) -> Scores:
        best = [min(1.0, max((0.0, *one.cosines))) for one in texts]
        share = [coverage(question, f"{one.title}. {' '.join(one.sentences)}", self._language)
                 for one in texts]  # fmt: skip
        return (np.asarray(best, np.float64) + np.asarray(share, np.float64)) / 2


class GeneratorEvaluator:
    """How much likelier the text makes the question: the mean log-ratio a token, as an odds."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    @property
    def name(self) -> str:
        return f"likelihood of the question under {self._generator.identity.name}"

    def score(self, question: str, texts: Sequence[Judged]) -> Scores:
        if not texts:
            return np.zeros(0)
        bodies = [(one.title, " ".join(one.sentences)[:_LONGEST]) for one in texts]
        prompts = [
            self._generator.encode(Prompt(prompt.asking(title, text, ())))
            for title, text in [*bodies, ("", "")]
        ]
        tokens = self._generator.vocabulary.tokenize(f" {readable(question)}")
        sums = self._generator.loglikelihood(prompts, [tokens] * len(prompts))
        return probability((sums[:-1] - sums[-1]) / max(1, len(tokens)))


def coverage(question: str, text: str, language: str = "en") -> float:
    """Share of the question's content words in the text, names and figures weighing more.

    1 for a question of stop words alone.
    """
    wanted = {w.key: WEIGHTS[w.kind] for w in words(question, language) if w.kind != "stop"}
    if not wanted:
        return 1.0
    there = {w.key for w in words(text, language)}
    held = sum(weight * _held(key, there) for key, weight in wanted.items())
    return held / sum(wanted.values())


def _held(key: str, there: set[str]) -> float:
    if key in there:
        return 1.0
    return INFLECTED if any(alike(key, other) for other in there) else 0.0


def rewritten(question: str, language: str = "en") -> tuple[str, ...]:
    """Queries of a wider retrieval: the question's content words, and its names and figures alone.

    None is the question itself, none comes twice; a question of stop words alone has none.
    """
    content = [w for w in words(question, language) if w.kind != "stop"]
    facts = [w for w in content if w.kind != "word"]
    queries = [" ".join(dict.fromkeys(w.text for w in some)) for some in (content, facts)]
    return tuple(q for q in dict.fromkeys(queries) if q and q != question.strip())
