"""DRAG's analyzer: what takes a question apart and scores documents by its components.

Paper 001 trains a small model for both. Here: rules and the bundled encoder, or the user's
generator by few-shot prompts whose answers are scored, never written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Generator, Prompt, PromptPiece
from ragcli.llm.prompts import decompose as prompt
from ragcli.llm.prompts import relevance
from ragcli.selection.components import calibrate, settle
from ragcli.selection.judging import probability, yes
from ragcli.selection.mention import DEFAULT, MentionRules, Mentions
from ragcli.selection.phrases import Phrase, phrases
from ragcli.selection.signals import Scores, best
from ragcli.text.normalise import readable
from ragcli.text.words import fold, key_of, keys_of, words
from ragcli.types import Component, Span

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

# Cosine of a component and the nearest sentence of a passage, under the bundled encoder: from LOW
# to HIGH it counts as 0 to 1. Short phrases are similar to many sentences (median 0.19 where the
# passage is of no use, 0.22 where it is), so only clear similarity counts.
LOW, HIGH = 0.3, 0.8
_MOST_TEXT = 4000  # characters of a document that the generator reads

_SOUGHT = (
    (frozenset({"who", "whom", "whose"}), "person"),
    (frozenset({"where"}), "place"),
    (frozenset({"when"}), "date"),
    (frozenset({"why"}), "reason"),
)
_AMOUNT = frozenset({"many", "much", "old", "tall", "long", "far", "high", "large", "deep", "fast"})


@dataclass(frozen=True, slots=True)
class Text:
    """A document as analyzers read it."""

    title: str
    sentences: tuple[str, ...]
    language: str = "en"

    @property
    def whole(self) -> str:
        """Title and sentences: a title is as good a mention as any."""
        return "\n".join((self.title, *self.sentences))


class Analyzer(Protocol):
    """Takes questions apart and scores documents."""

    @property
    def name(self) -> str:
        """For people: what ran."""
        ...

    def components(self, question: str, language: str) -> tuple[Component, ...]:
        """Invariant (at most one) and variant components are spans of the question."""
        ...

    def scores(
        self, question: str, components: Sequence[Component], documents: Sequence[Text]
    ) -> Scores:
        """(documents, components) in [0, 1]; 0 or 1 for the invariant one."""
        ...


def mentions(
    components: Sequence[Component], documents: Sequence[Text], rules: MentionRules = DEFAULT
) -> Scores:
    """(documents, components): 1 where the document mentions the component, else 0."""
    ready = [Mentions(text.whole, text.language, rules) for text in documents]
    table = [[float(c.text in text) for c in components] for text in ready]
    return np.array(table, np.float64).reshape(len(documents), len(components))


def shares(components: Sequence[Component], documents: Sequence[Text]) -> Scores:
    """(documents, components): share of the component's content words that the document holds."""
    held = [keys_of(text.whole, text.language) for text in documents]
    asked = [
        {text.language: keys_of(one.text, text.language) for text in documents}
        for one in components
    ]
    table = [
        [_share(words_of[text.language], keys) for words_of in asked]
        for text, keys in zip(documents, held, strict=True)
    ]
    return np.array(table, np.float64).reshape(len(documents), len(components))


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0


def fixed_candidates(found: Sequence[Phrase]) -> list[Phrase]:
    """Which phrases may be the invariant component: quotations and names, best first.

    A quotation before a name, a longer name before a shorter one, then the earlier one.
    """
    may = [one for one in found if one.kind in ("quoted", "name")]
    return sorted(may, key=lambda p: (p.kind != "quoted", -len(p.text.split()), p.span))


def sought_by_words(question: str, language: str = "en") -> str:
    """The kind of answer by the question word; empty where it says nothing or names the kind."""
    if language != "en":
        return ""
    asked = [fold(word.text) for word in words(question[:400])]
    if any(one == "how" and other in _AMOUNT for one, other in pairwise(asked)):
        return "number"
    return next((kind for w in asked for known, kind in _SOUGHT if w in known), "")


def assemble(
    found: Sequence[Phrase], invariant: Phrase | None, sought: str
) -> tuple[Component, ...]:
    """Components in the paper's order: the invariant one, variants, the supplementary one."""
    rest = [Component("variant", one.text) for one in found if one is not invariant]
    first = [Component("invariant", invariant.text)] if invariant else []
    last = [Component("supplementary", sought)] if sought else []
    return settle([*first, *rest, *last])


class EncoderAnalyzer:
    """Rules for the components; for relevance their words, and similarity to a sentence.

    in_context: a component counts no more than the document is near the whole question. The
    paper's analyzer reads the question beside the component (Algorithm 1, line 3); a phrase by
    itself is also at home elsewhere: "occupation" in a text on an occupied country.
    """

    name = "rules and encoder"

    def __init__(
        self, encode: Encode, rules: MentionRules = DEFAULT, *, in_context: bool = True
    ) -> None:
        self._encode, self._rules, self._in_context = encode, rules, in_context

    def components(self, question: str, language: str) -> tuple[Component, ...]:
        found = phrases(question, language)
        fixed = fixed_candidates(found)
        return assemble(found, fixed[0] if fixed else None, sought_by_words(question, language))

    def scores(
        self, question: str, components: Sequence[Component], documents: Sequence[Text]
    ) -> Scores:
        """Mentioned is 1; else the larger of two: the share of the component's words that are
        there, and the cosine, from LOW to HIGH as 0 to 1; in context at most the question's own
        cosine on the same scale. An invariant is mentioned or not."""
        table = mentions(components, documents, self._rules)
        free = [at for at, one in enumerate(components) if one.kind != "invariant"]
        if free and documents:
            asked = [components[at] for at in free]
            near = calibrate(
                self._similar([*map(_meaning, asked), readable(question)], documents), LOW, HIGH
            )
            found = np.maximum(table[:, free], np.maximum(near[:, :-1], shares(asked, documents)))
            table[:, free] = np.minimum(found, near[:, -1:]) if self._in_context else found
        return table

    def _similar(self, asked: Sequence[str], documents: Sequence[Text]) -> Scores:
        """(documents, asked) cosine of what is asked for and the nearest sentence."""
        texts = [
            readable(f"{document.title}: {sentence}") if document.title else readable(sentence)
            for document in documents
            for sentence in document.sentences or (document.title,)
        ]
        vectors = self._encode([*asked, *texts])
        cosines = vectors[len(asked) :] @ vectors[: len(asked)].T
        ends = np.cumsum([max(1, len(document.sentences)) for document in documents])[:-1]
        return np.array([part.max(axis=0) for part in np.split(cosines, ends)], np.float64)


def _meaning(component: Component) -> str:
    """The kind of answer in more words, so that it can be compared with sentences."""
    if component.kind == "supplementary":
        return prompt.INVENTORY.get(component.text, component.text)
    return readable(component.text)


class GeneratorAnalyzer:
    """The generator chooses among the question's own phrases, and answers yes or no."""

    def __init__(self, generator: Generator, rules: MentionRules = DEFAULT) -> None:
        self._generator, self._rules = generator, rules

    @property
    def name(self) -> str:
        return f"few-shot, {self._generator.identity.name}"

    def components(self, question: str, language: str) -> tuple[Component, ...]:
        found = phrases(question, language)
        invariant = self._fixed(question, fixed_candidates(found) or found)
        rest = self._free(question, [one for one in found if one is not invariant], invariant)
        sought = self._sought(question, invariant, rest)
        return assemble([*([invariant] if invariant else []), *rest], invariant, sought)

    def _fixed(self, question: str, may: Sequence[Phrase]) -> Phrase | None:
        scores = self._choose(prompt.fixed(question), [*(p.text for p in may), prompt.ABSENT])
        at = best(scores, 1)[0]
        return may[at] if at < len(may) else None

    def _free(
        self, question: str, parts: Sequence[Phrase], invariant: Phrase | None
    ) -> list[Phrase]:
        """Phrases, or neighbours joined where the joined text is the likelier component."""
        if len(parts) < 2:
            return list(parts)
        joined = [
            a if _parted(a, b, invariant) else _join(a, b, question) for a, b in pairwise(parts)
        ]
        asked = prompt.free(question, invariant.text if invariant else "")
        scores = self._choose(asked, [p.text for p in [*parts, *joined]])
        kept: list[Phrase] = []
        at = 0
        while at < len(parts):
            pair = at + 1 < len(parts) and joined[at] is not parts[at]
            if pair and scores[len(parts) + at] > max(scores[at], scores[at + 1]):
                kept.append(joined[at])
                at += 2
            else:
                kept.append(parts[at])
                at += 1
        return kept

    def _sought(self, question: str, invariant: Phrase | None, rest: Sequence[Phrase]) -> str:
        asked = prompt.sought(
            question, invariant.text if invariant else "", "; ".join(one.text for one in rest)
        )
        kinds = [*prompt.INVENTORY, prompt.ABSENT]
        kind = kinds[best(self._choose(asked, kinds), 1)[0]]
        said = {key_of(word.text) for one in rest for word in words(one.text)}
        return "" if kind == prompt.ABSENT or key_of(kind) in said else kind

    def _choose(self, asked: Sequence[PromptPiece], texts: Sequence[str]) -> Scores:
        """(n,) mean log-probability a token of each text as what comes next."""
        given = self._generator.encode(Prompt(tuple(asked)))
        tokens = [self._generator.vocabulary.tokenize(f" {readable(text)}") for text in texts]
        sums = self._generator.loglikelihood([given] * len(tokens), tokens)
        return np.asarray(sums / [max(1, len(one)) for one in tokens], np.float64)

    def scores(
        self, question: str, components: Sequence[Component], documents: Sequence[Text]
    ) -> Scores:
        """The probability of yes, less the model's bias: what it says of an empty text."""
        table = mentions(components, documents, self._rules)
        free = [at for at, one in enumerate(components) if one.kind != "invariant"]
        if not free or not documents:
            return table
        texts = [(one.title, " ".join(one.sentences)[:_MOST_TEXT]) for one in documents]
        texts.append(("", relevance.NO_TEXT))
        prompts = [
            self._generator.chat(
                relevance.SYSTEM, relevance.user(title, text, _meaning(components[at]))
            )
            for title, text in texts
            for at in free
        ]
        odds = yes(self._generator, prompts, (relevance.YES, relevance.NO))
        grid = odds.reshape(len(texts), len(free))
        table[:, free] = probability(grid[:-1] - grid[-1])
        return table


def _join(one: Phrase, other: Phrase, question: str) -> Phrase:
    span = Span(one.span.start, other.span.end)
    return Phrase("content", span, span.of(question))


def _parted(one: Phrase, other: Phrase, invariant: Phrase | None) -> bool:
    """Whether the invariant component, or too much, stands between two phrases."""
    between = Span(one.span.end, other.span.start)
    inside = invariant is not None and between.start <= invariant.span.start < between.end
    return inside or len(between) > 12
