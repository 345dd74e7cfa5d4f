"""What scores sentences and fragments: the encoder with BM25, the generator's logits, or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, Generator, Prompt
from ragcli.llm.prompts import extract as prompt
from ragcli.selection.extraction import Candidate
from ragcli.selection.judging import yes
from ragcli.selection.signals import Scores, best, bm25, fused
from ragcli.text.normalise import readable

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Signal = Literal["question", "copying", "yes-no"]
UNSCORED = -1e9  # of a candidate outside the pool


class EncoderScorer:
    """BM25 over the candidates and cosine, fused by reciprocal rank; fragments join the query."""

    name = "BM25 and encoder"

    def __init__(self, candidates: Sequence[Candidate], encode: Encode) -> None:
        self._texts = [readable(one.titled) for one in candidates]
        self._languages = [one.language for one in candidates]
        self._encode = encode
        self._vectors: NDArray[np.float32] | None = None

    def wide(self, question: str) -> Scores:
        return self.sentences(question, ())

    def sentences(self, question: str, known: Sequence[str]) -> Scores:
        query = readable(f"{question} {'; '.join(known)}") if known else readable(question)
        if self._vectors is None:
            encoded = self._encode([query, *self._texts])
            target, self._vectors = encoded[0], encoded[1:]
        else:
            target = self._encode([query])[0]
        similar = np.asarray(self._vectors @ target, np.float64)
        return fused(bm25(query, self._texts, self._languages), similar)

    def fragments(self, question: str, fragments: Sequence[str]) -> Scores | None:
        return None  # measured: the order of the best sentences beats similarity


class GeneratorScorer:
    """Log-likelihoods of the generator, means over tokens; one batch of prompts a signal.

    signal: the question after the sentence, the sentence after the question, or yes against
    no. pool: scored candidates, None for all.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        generator: Generator,
        signal: Signal = "question",
        pool: Sequence[int] | None = None,
    ) -> None:
        self._candidates, self._generator, self._signal = candidates, generator, signal
        self._pool = range(len(candidates)) if pool is None else pool

    @property
    def name(self) -> str:
        what = {"question": "likelihood of the question", "copying": "likelihood of copying",
                "yes-no": "yes or no"}  # fmt: skip
        return f"{what[self._signal]} under {self._generator.identity.name}"

    def wide(self, question: str) -> Scores:
        return self.sentences(question, ())

    def sentences(self, question: str, known: Sequence[str]) -> Scores:
        score = {"question": self._question, "copying": self._copying, "yes-no": self._yes_no}
        out = np.full(len(self._candidates), UNSCORED)
        out[list(self._pool)] = score[self._signal](question, known)
        return out

    def fragments(self, question: str, fragments: Sequence[str]) -> Scores | None:
        given = self._generator.encode(Prompt(prompt.fragment(question)))
        return self._means([given] * len(fragments), [f" {readable(text)}" for text in fragments])

    def _question(self, question: str, known: Sequence[str]) -> Scores:
        prompts = [
            self._generator.encode(Prompt(prompt.asking(one.title, one.text, known)))
            for one in self._scored
        ]
        return self._means(prompts, [f" {readable(question)}"] * len(prompts))

    def _copying(self, question: str, known: Sequence[str]) -> Scores:
        given = self._generator.encode(Prompt(prompt.copying(question, known)))
        texts = [f" {readable(one.text)}" for one in self._scored]
        return self._means([given] * len(texts), texts)

    def _yes_no(self, question: str, known: Sequence[str]) -> Scores:
        prompts = [
            self._generator.chat(
                prompt.NEEDED_SYSTEM, prompt.needed(question, one.title, one.text, known)
            )
            for one in self._scored
        ]
        return yes(self._generator, prompts, (prompt.YES, prompt.NO))

    @property
    def _scored(self) -> list[Candidate]:
        return [self._candidates[at] for at in self._pool]

    def _means(self, prompts: Sequence[EncodedPrompt], texts: Sequence[str]) -> Scores:
        tokens = [self._generator.vocabulary.tokenize(text) for text in texts]
        sums = self._generator.loglikelihood(prompts, tokens)
        return np.asarray(sums / [max(1, len(one)) for one in tokens], np.float64)


class HybridScorer:
    """The encoder's ranking; the generator scores only its best candidates, and both are fused."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        encode: Encode,
        generator: Generator,
        signal: Signal = "question",
        pool: int = 12,
    ) -> None:
        self._candidates, self._generator, self._signal = candidates, generator, signal
        self._inner, self._size = EncoderScorer(candidates, encode), pool

    @property
    def name(self) -> str:
        scorer = GeneratorScorer(self._candidates, self._generator, self._signal)
        return f"{self._inner.name}, {scorer.name}"

    def wide(self, question: str) -> Scores:
        return self._inner.wide(question)

    def sentences(self, question: str, known: Sequence[str]) -> Scores:
        wide = self._inner.sentences(question, known)
        pool = best(wide, self._size)
        narrow = GeneratorScorer(self._candidates, self._generator, self._signal, pool)
        scored = narrow.sentences(question, known)
        return fused(wide, np.where(scored > UNSCORED, scored, UNSCORED + wide))

    def fragments(self, question: str, fragments: Sequence[str]) -> Scores | None:
        return GeneratorScorer(self._candidates, self._generator).fragments(question, fragments)
