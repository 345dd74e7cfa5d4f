"""What the generator judges: constituents of a question, matches, use and sufficiency.

Everything is scored by logits, nothing is written, so that what comes out is always a span
of the question or of a passage. A yes counts only as far as it exceeds the yes that the model
gives to a text that says nothing.

The second look (paper 004, eq. 3) never asks whether something is missing: the 0.5B model says
yes to that as it does to what the text is about, and so took out 32 of 42 true matches on 15
XQuAD questions, of the others 330 of 573. Asked on 7 questions whether a text is about a part,
against 4 passages that are not, its likelihood tells them apart best (area under the curve 0.80;
yes to the first look 0.70, to the quoted match 0.55, to "is it missing", read as no, 0.18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, Generator, Prompt, PromptPiece
from ragcli.llm.prompts import align as prompt
from ragcli.llm.prompts import parse as parsing
from ragcli.llm.prompts import suffice
from ragcli.selection.aligners import EncoderAligner, Looked, phrase
from ragcli.selection.alignment import Cell
from ragcli.selection.constituents import KINDS, constituents
from ragcli.selection.matching import Wanted, wanted
from ragcli.text.normalise import readable
from ragcli.types import Constituent, ConstituentKind, Hit, Span

Floats = NDArray[np.float64]
_LONGEST = 1200  # characters of a passage that is judged whole


def yes(generator: Generator, prompts: Sequence[EncodedPrompt], words: tuple[str, str]) -> Floats:
    """(n,) log-odds of the first word against the second as the next token of each prompt."""
    if not prompts:
        return np.zeros(0)
    tokens = [generator.vocabulary.tokenize(word)[0] for word in words]
    scores = generator.score_next(prompts, tokens).astype(np.float64)
    return np.asarray(scores[:, 0] - scores[:, 1])


def probability(odds: Floats) -> Floats:
    """Log-odds as probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -60, 60))))


def parse(question: str, generator: Generator, language: str = "en") -> tuple[Constituent, ...]:
    """The question's phrases, their roles by the generator's likelihood.

    Candidates are the phrases that rules cut and joins of two neighbours. The likeliest pair of
    role and span wins, what overlaps it is out, and so on; a phrase left over takes its
    likeliest role. Question words keep theirs.
    """
    cut = constituents(question, language)
    asked = [one for one in cut if one.expects != "any"]
    plain = [one for one in cut if one.expects == "any"]
    if not plain:
        return cut
    spans = [Span(one.start, one.end) for one in plain]
    joined = [Span(a.start, b.end) for a, b in pairwise(spans)
              if not question[a.end:b.start].strip()]  # fmt: skip
    scores = _role_scores(question, [*spans, *joined], generator)
    chosen = _greedy(spans, joined, scores)
    parts = [Constituent(kind, s.of(question), s.start, s.end) for s, kind in chosen.items()]
    return tuple(sorted([*asked, *parts], key=lambda one: one.start))


def _role_scores(question: str, spans: Sequence[Span], generator: Generator) -> Floats:
    """(roles, spans): mean log-probability a token of the span in that role, less that of none."""
    texts = [f" {span.of(question)}" for span in spans] + [f" {parsing.ABSENT}"]
    tokens = [generator.vocabulary.tokenize(text) or [0] for text in texts]
    forms = [generator.encode(Prompt(parsing.form(question, kind))) for kind in KINDS]
    prompts = [one for one in forms for _ in tokens]
    sums = generator.loglikelihood(prompts, tokens * len(KINDS))
    means = sums.reshape(len(KINDS), len(tokens)) / np.asarray([len(t) for t in tokens])
    return np.asarray(means[:, :-1] - means[:, -1:])


def _greedy(
    spans: Sequence[Span], joined: Sequence[Span], scores: Floats
) -> dict[Span, ConstituentKind]:
    chosen: dict[Span, ConstituentKind] = {}
    every = [*spans, *joined]
    for flat in np.argsort(-scores, axis=None, kind="stable"):
        role, at = divmod(int(flat), len(every))
        span = every[at]
        if scores[role, at] > 0 and not any(_overlap(span, other) for other in chosen):
            chosen[span] = KINDS[role]
    for at, span in enumerate(spans):
        if not any(_overlap(span, other) for other in chosen):
            chosen[span] = KINDS[int(scores[:, at].argmax())]
    return chosen


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


@dataclass(frozen=True, slots=True)
class Reflection:
    """The second look. by: how much likelier the text makes the part than no text does, or the
    model's yes to what the first look found. gain: nats a token by which it must be likelier."""

    by: Literal["likelihood", "yes"] = "likelihood"
    gain: float = 0.5


@dataclass(frozen=True, slots=True)
class _Pair:
    """A passage, a constituent's row, and the sentence of the passage that is compared with it."""

    one: Looked
    row: int
    at: int

    @property
    def text(self) -> str:
        return self.one.texts[self.at]

    @property
    def span(self) -> Span:
        """What of the sentence matches."""
        return self.one.cells[self.row][self.at].span or Span(0, len(self.text))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text as a look is given it: what of it matches, and the row of the part to compare."""

    text: str
    segment: str
    row: int


class GeneratorAligner:
    """A look at each constituent and the sentence that the encoder finds nearest to it, then a
    second one at the matches (paper 004, eq. 2 and 3).

    Passages beyond the first `most` keep the encoder's alignment, and are named so. What a
    question word asks for is recognised by rules in both.
    """

    def __init__(
        self,
        inner: EncoderAligner,
        generator: Generator,
        question: str,
        *,
        most: int,
        reflection: Reflection | None,
    ) -> None:
        """reflection: the second look, None for none."""
        self._inner, self._generator, self._question = inner, generator, question
        self._most, self._reflection = most, reflection

    @property
    def name(self) -> str:
        return f"generator:{self._generator.identity.name}"

    def align(self, parts: Sequence[Constituent], hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits with their alignment, in the same order."""
        judged, rest = hits[: self._most], hits[self._most :]
        wants = wanted(parts, self._inner.lexicon)
        looked = self._inner.look(wants, judged)
        lost = self._judge(wants, looked)
        done = []
        for one, dropped in zip(looked, lost, strict=True):
            self._inner.asked(wants, one)
            alignment = self._inner.alignment(parts, one, dropped)
            done.append(replace(one.hit, alignment=replace(alignment, aligner=self.name)))
        return (*done, *(self._inner.align(parts, rest) if rest else ()))

    def _judge(
        self, wants: Sequence[Wanted], looked: Sequence[Looked]
    ) -> list[tuple[Constituent, ...]]:
        """Leaves in the cells what matches; what the second look took out, by passage."""
        pairs = [
            _Pair(one, row, self._nearest(one, row, want))
            for one in looked
            if one.texts
            for row, want in enumerate(wants)
            if want.constituent.expects == "any" and want.keys
        ]
        parts = [want.constituent.text for want in wants]
        first = self._first(parts, pairs)
        likely = [(p, float(score)) for p, score in zip(pairs, first, strict=True) if score > 0.5]
        kept, dropped = likely, []
        if self._reflection is not None:
            second = self._second(self._reflection, parts, [pair for pair, _ in likely])
            kept = [(p, float(s)) for (p, _), s in zip(likely, second, strict=True) if s > 0.5]
            dropped = [p for (p, _), s in zip(likely, second, strict=True) if s <= 0.5]
        cells = [(pair, Cell(score, pair.span)) for pair, score in kept]
        for pair in pairs:
            pair.one.cells[pair.row] = [Cell() for _ in pair.one.texts]
        for pair, cell in cells:
            pair.one.cells[pair.row][pair.at] = cell
        return [
            tuple(wants[pair.row].constituent for pair in dropped if pair.one is one)
            for one in looked
        ]

    def _nearest(self, one: Looked, row: int, want: Wanted) -> int:
        """The sentence that matches by words, else the most similar one."""
        scores = [cell.score for cell in one.cells[row]]
        if any(scores):
            return int(np.argmax(scores))
        target = self._inner.vectors([phrase(want)])[0]
        return int((self._inner.vectors(one.texts) @ target).argmax())

    def _first(self, parts: Sequence[str], pairs: Sequence[_Pair]) -> Floats:
        """(n,) probability that the sentence says something about the part."""
        return probability(self._beyond(pairs, lambda shown: self._yes(
            [prompt.first(one.text, parts[one.row]) for one in shown]
        )))  # fmt: skip

    def _second(self, how: Reflection, parts: Sequence[str], pairs: Sequence[_Pair]) -> Floats:
        """(n,) probability that the match is one; however it is read, more means a match."""
        if how.by == "likelihood":
            gains = self._beyond(pairs, lambda shown: self._means(
                [(one.text, parts[one.row]) for one in shown]
            ))  # fmt: skip
            return probability(gains - how.gain)
        return probability(self._beyond(pairs, lambda shown: self._yes(
            [prompt.found(one.text, self._question, parts[one.row], one.segment) for one in shown]
        )))  # fmt: skip

    def _yes(self, asked: Sequence[Sequence[PromptPiece]]) -> Floats:
        prompts = [self._generator.chat(prompt.SYSTEM, user) for user in asked]
        return yes(self._generator, prompts, (prompt.YES, prompt.NO))

    def _means(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """(n,) mean log-probability a token of each part as what the text is about."""
        prompts = [self._generator.encode(Prompt(prompt.about(text))) for text, _ in pairs]
        tokens = [self._generator.vocabulary.tokenize(f" {readable(p)}") or [0] for _, p in pairs]
        sums = self._generator.loglikelihood(prompts, tokens)
        return np.asarray(sums / np.asarray([len(own) for own in tokens]))

    @staticmethod
    def _beyond(pairs: Sequence[_Pair], score: Callable[[Sequence[_Shown]], Floats]) -> Floats:
        """(n,) scores of the pairs, less what their parts have beside a text that says nothing."""
        if not pairs:
            return np.zeros(0)
        rows = sorted({pair.row for pair in pairs})
        shown = [_Shown(pair.text, pair.span.of(pair.text), pair.row) for pair in pairs]
        scores = score([*shown, *(_Shown(prompt.NO_TEXT, prompt.NO_TEXT, row) for row in rows)])
        bias = dict(zip(rows, scores[len(pairs) :], strict=True))
        return np.asarray(scores[: len(pairs)] - np.asarray([bias[pair.row] for pair in pairs]))


def usefulness(generator: Generator, question: str, texts: Sequence[str]) -> list[float]:
    """Probability of yes for each text alone: does it help to answer the question?"""
    prompts = [
        generator.chat(suffice.SYSTEM, suffice.useful(text[:_LONGEST], question)) for text in texts
    ]
    return [float(p) for p in probability(yes(generator, prompts, (suffice.YES, suffice.NO)))]


def sufficiency(generator: Generator, question: str, texts: Sequence[str]) -> float:
    """Probability of yes, less the model's bias: do the texts together answer the question?"""
    if not texts:
        return 0.0
    shown = [[text[:_LONGEST] for text in texts], [prompt.NO_TEXT]]
    prompts = [generator.chat(suffice.SYSTEM, suffice.sufficient(one, question)) for one in shown]
    odds = yes(generator, prompts, (suffice.YES, suffice.NO))
    return float(probability(odds[:1] - odds[1:])[0])
