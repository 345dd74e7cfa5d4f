"""What the generator judges: constituents of a question, matches, use and sufficiency.

Everything is scored by logits, nothing is written, so that what comes out is always a span
of the question or of a passage. A yes counts only as far as it exceeds the yes that the model
gives to an empty text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, Generator, Prompt
from ragcli.llm.prompts import align as prompt
from ragcli.llm.prompts import parse as parsing
from ragcli.llm.prompts import suffice
from ragcli.selection.aligners import EncoderAligner, Looked, phrase
from ragcli.selection.alignment import Cell
from ragcli.selection.constituents import KINDS, constituents
from ragcli.selection.matching import Wanted, wanted
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


class GeneratorAligner:
    """Yes or no for each constituent and the sentence that the encoder finds nearest to it.

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
        reflect: bool,
    ) -> None:
        self._inner, self._generator, self._question = inner, generator, question
        self._most, self._reflect = most, reflect

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
        pairs = [
            (one, row, self._nearest(one, row, want))
            for one in looked
            if one.texts
            for row, want in enumerate(wants)
            if want.constituent.expects == "any" and want.keys
        ]
        first = self._ask(wants, pairs, again=False)
        likely = [pair for pair, score in zip(pairs, first, strict=True) if score >= 0.5]
        scores = {(id(one), row): float(s) for (one, row, _), s in zip(pairs, first, strict=True)}
        dropped: list[tuple[int, int]] = []
        if self._reflect:
            second = self._ask(wants, likely, again=True)
            dropped = [
                (id(o), row) for (o, row, _), s in zip(likely, second, strict=True) if s < 0.5
            ]
        for one, row, at in pairs:
            old = one.cells[row][at].span
            one.cells[row] = [Cell() for _ in one.texts]
            score = scores[id(one), row]
            if score >= 0.5 and (id(one), row) not in dropped:
                one.cells[row][at] = Cell(score, old or Span(0, len(one.texts[at])))
        return [
            tuple(wants[row].constituent for who, row in dropped if who == id(one))
            for one in looked
        ]

    def _nearest(self, one: Looked, row: int, want: Wanted) -> int:
        """The sentence that matches by words, else the most similar one."""
        scores = [cell.score for cell in one.cells[row]]
        if any(scores):
            return int(np.argmax(scores))
        target = self._inner.vectors([phrase(want)])[0]
        return int((self._inner.vectors(one.texts) @ target).argmax())

    def _ask(
        self, wants: Sequence[Wanted], pairs: Sequence[tuple[Looked, int, int]], *, again: bool
    ) -> Floats:
        """(n,) probability that the sentence matches, less the model's bias."""
        rows = sorted({row for _, row, _ in pairs})
        asked = [(one.texts[at], row) for one, row, at in pairs]
        asked += [(prompt.NO_TEXT, row) for row in rows]
        prompts = [
            self._generator.chat(prompt.SYSTEM, prompt.user(
                text, self._question, wants[row].constituent.text,
                wants[row].constituent.kind, again=again))
            for text, row in asked
        ]  # fmt: skip
        words = (prompt.NO, prompt.YES) if again else (prompt.YES, prompt.NO)
        odds = yes(self._generator, prompts, words)
        bias = dict(zip(rows, odds[len(pairs) :], strict=True))
        centred = odds[: len(pairs)] - np.asarray([bias[row] for _, row, _ in pairs])
        return probability(centred)


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
