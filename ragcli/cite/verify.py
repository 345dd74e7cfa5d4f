"""Does a text support a sentence? Verifiers by name; the answer says which one judged.

`lexical` looks at words only and is conservative; `llm` asks the generator for yes or no;
`nli:PATH` is a user's own cross-encoder (`cite.nli`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from ragcli.cite.yesno import LlmVerifier as LlmVerifier
from ragcli.errors import UsageError
from ragcli.llm.base import Generator
from ragcli.text.labels import label_key, labelled
from ragcli.text.words import Word, alike, fold, words
from ragcli.types import Verdict

VERIFIERS = ("lexical", "llm")
NLI = "nli:"

_WEIGHTS = {"name": 2.0, "number": 2.0, "ordinal": 2.0, "word": 1.0}
_INFLECTED = 0.8
_MISSING_FACT = 0.4  # a name or figure that the premise lacks caps the score here
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|nobody|nothing|without|cannot)\b|n't\b")


class Verifier(Protocol):
    """Judges pairs of premise and hypothesis.

    supported, partly: lowest scores of the two verdicts.
    """

    @property
    def name(self) -> str: ...

    @property
    def supported(self) -> float: ...

    @property
    def partly(self) -> float: ...

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """Score in 0..1 of each hypothesis under the premise of the same index."""
        ...


def verdict(verifier: Verifier, score: float) -> Verdict:
    """The verdict that a score of this verifier stands for."""
    if score >= verifier.supported:
        return Verdict.SUPPORTED
    return Verdict.PARTLY if score >= verifier.partly else Verdict.UNSUPPORTED


class LexicalVerifier:
    """Names, figures and content words must stand in the premise; nothing is inferred.

    The score is the weighted share of them that does. With a name or figure missing, or
    another figure for the same thing ("20 times", "22 times"), a sentence is partly supported
    at best; a negation on one side only halves the score.
    """

    name = "lexical"
    supported = 0.75
    partly = 0.35

    def __init__(self, language: str = "en") -> None:
        self._language = language

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        return [self._score(p, h) for p, h in zip(premises, hypotheses, strict=True)]

    def _score(self, premise: str, hypothesis: str) -> float:
        claimed = {w.key: w for w in words(hypothesis, self._language) if w.kind != "stop"}
        if not claimed:
            return 0.0
        known = frozenset(w.key for w in words(premise, self._language))
        found = {key: _found(word, known) for key, word in claimed.items()}
        total = sum(_WEIGHTS[word.kind] for word in claimed.values())
        score = sum(_WEIGHTS[word.kind] * found[key] for key, word in claimed.items()) / total
        facts = [key for key, word in claimed.items() if word.kind != "word"]
        if any(found[key] == 0 for key in facts) or other_figure(
            premise, hypothesis, self._language
        ):
            score = min(score, _MISSING_FACT)
        return score * (0.5 if _negated(premise) != _negated(hypothesis) else 1.0)


def other_figure(premise: str, hypothesis: str, language: str = "en") -> bool:
    """Whether the premise gives another figure for what the hypothesis counts or numbers."""
    known = counted(premise, language)
    return any(
        what in known and number not in known[what]
        for what, numbers in counted(hypothesis, language).items()
        for number in numbers
    )


def counted(text: str, language: str = "en") -> dict[tuple[str, str], set[str]]:
    """What a text counts ("22 times"), and numbers or letters ("room 20", "Pump A"), to those.

    Keys: the word right after a figure or right before it, and on which side it stands.
    """
    table: dict[tuple[str, str], set[str]] = {}
    for first, second in pairwise(words(text, language)):
        if first.kind == "number" and second.kind in ("word", "name"):
            table.setdefault((second.key, "after"), set()).add(first.key)
    for what, label in labelled(text, language):
        table.setdefault((what.key, "before"), set()).add(label_key(label))
    return table


def _found(word: Word, known: frozenset[str]) -> float:
    if word.key in known:
        return 1.0
    inflects = word.kind in ("word", "name") and any(alike(word.key, key) for key in known)
    return _INFLECTED if inflects else 0.0


def _negated(text: str) -> bool:
    return bool(_NEGATION.search(fold(text)))


def check_verifier(spec: str) -> None:
    """Raises UsageError for a name that is no verifier's, ModelError for a folder without one.

    Nothing is loaded.
    """
    if spec.startswith(NLI):
        from ragcli.cite.nli import open_nli

        open_nli(spec)
        return
    if spec not in VERIFIERS:
        raise UsageError(
            f"unknown verifier: {spec}", hint=f"verifiers: {', '.join(VERIFIERS)}, {NLI}PATH"
        )


def open_verifier(spec: str, generator: Generator | None = None, language: str = "en") -> Verifier:
    """The verifier named `lexical`, `llm` or `nli:PATH`.

    Raises UsageError for another name, and for `llm` without a generator; ModelError for a
    folder that holds no cross-encoder.
    """
    if spec.startswith(NLI):
        from ragcli.cite.nli import open_nli

        return open_nli(spec)
    check_verifier(spec)
    if spec == "lexical":
        return LexicalVerifier(language)
    if generator is None:
        raise UsageError("the verifier llm needs a generator", hint="name one with --model")
    return LlmVerifier(generator)
