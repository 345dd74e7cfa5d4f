"""Query-focused sentences of retrieved passages (paper 000, section 2.2, Figure 6). Pure given scores.

Disentangled: first the knowledge fragments that the question needs and does not hold itself,
chosen among the passages' own phrases; then the sentences, scored for the question together
with the fragments. Standard: the sentences, scored for the question alone. Nothing is written:
what comes out are sentences and phrases of the passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ragcli.selection.mention import Mentions
from ragcli.selection.phrases import Phrase, phrases
from ragcli.selection.signals import Scores, best
from ragcli.text.labels import other_one
from ragcli.types import Span

Prompting = Literal["disentangled", "standard"]
FROM = 3  # best sentences whose phrases may become fragments
FRAGMENTS = 4  # most fragments
_MOST_PHRASES = 48  # looked at


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be extracted. title: of its document, which often names its subject."""

    text: str
    title: str = ""
    language: str = "en"

    @property
    def titled(self) -> str:
        """The sentence under its title, as encoders read it."""
        return f"{self.title}: {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Fragment:
    """A knowledge fragment: `span` of the text of candidate `candidate`, or of its title."""

    candidate: int
    span: Span
    text: str
    in_title: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """chosen: indices of the candidates, best first. fragments: empty under standard prompting.

    scores: (n,) what the candidates were ordered by.
    """

    chosen: tuple[int, ...]
    fragments: tuple[Fragment, ...]
    scores: Scores


class Scorer(Protocol):
    """What judges: the encoder, the generator or both."""

    @property
    def name(self) -> str:
        """For people: what ran."""
        ...

    def wide(self, question: str) -> Scores:
        """(n,) one score a candidate, cheaply: where fragments are looked for."""
        ...

    def sentences(self, question: str, known: Sequence[str]) -> Scores:
        """(n,) one score a candidate; known: fragments that are taken as given."""
        ...

    def fragments(self, question: str, fragments: Sequence[str]) -> Scores | None:
        """(f,) how much the question needs each fragment; None: the given order is as good."""
        ...


def extract(
    question: str,
    candidates: Sequence[Candidate],
    scorer: Scorer,
    *,
    m: int,
    prompting: Prompting = "disentangled",
) -> Extraction:
    """The m best sentences of the candidates."""
    if not candidates:
        return Extraction((), (), np.zeros(0))
    fragments: tuple[Fragment, ...] = ()
    if prompting == "disentangled":
        found = fragments_of(question, candidates, best(scorer.wide(question), FROM))
        order = scorer.fragments(question, [one.text for one in found]) if found else None
        if order is not None:
            found = [found[at] for at in best(order, len(found))]
        fragments = tuple(found[:FRAGMENTS])
    scores = _own_first(
        question, candidates, scorer.sentences(question, [one.text for one in fragments])
    )
    return Extraction(best(scores, m), fragments, scores)


def _own_first(question: str, candidates: Sequence[Candidate], scores: Scores) -> Scores:
    """What speaks of another one than was asked of ("Pump B", not "Pump A") after all others."""
    other = np.array([bool(other_one(question, c.text, c.language)) for c in candidates])
    return np.asarray(scores - other * (np.ptp(scores) + 1.0))


def fragments_of(
    question: str, candidates: Sequence[Candidate], among: Sequence[int]
) -> list[Fragment]:
    """Names and quotations of the given candidates that the question does not mention.

    In order of the candidates given, each text once: where a question leads over another
    thing than those it names, this thing is named beside them.
    """
    found: dict[str, Fragment] = {}
    asked: dict[str, Mentions] = {}
    for at in among:
        one = candidates[at]
        known = asked.setdefault(one.language, Mentions(question, one.language))
        for in_title, text in ((True, one.title), (False, one.text)):
            for phrase in _named(text, one.language):
                key = phrase.text.casefold()
                if key not in found and phrase.text not in known:
                    found[key] = Fragment(at, phrase.span, phrase.text, in_title)
    return list(found.values())


def _named(text: str, language: str) -> list[Phrase]:
    named = [p for p in phrases(text, language) if p.kind in ("name", "quoted")]
    return named[:_MOST_PHRASES]
