"""GGatrieval's steps on one question, by the encoder or by the generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from ragcli.cite.question import meets
from ragcli.llm.base import PromptPiece
from ragcli.llm.prompts import compensate
from ragcli.methods.grounding_options import Options
from ragcli.methods.stages import Tools
from ragcli.methods.writing import write
from ragcli.selection import judging
from ragcli.selection.aligners import EncoderAligner
from ragcli.selection.alignment import order_key, uncovered
from ragcli.selection.augmentation import same_words, template
from ragcli.selection.constituents import constituents
from ragcli.selection.matching import Lexicon
from ragcli.text.normalise import readable
from ragcli.text.words import alike, words
from ragcli.types import Constituent, Expected, Hit

_SYNONYM_TOKENS, _PASSAGE_TOKENS = 12, 60


def lexicon(language: str) -> Lexicon:
    """Words and expectations of a language, for the aligners."""

    def holds(expects: Expected, text: str, known: frozenset[str]) -> bool:
        return meets("person" if expects == "name" else expects, text, known, language)

    return Lexicon(partial(words, language=language), alike, holds)


class Backend(Protocol):
    """What a round consists of. One object answers for one question."""

    @property
    def name(self) -> str: ...

    @property
    def enough(self) -> float:
        """Verification from which the kept passages suffice."""
        ...

    @property
    def least(self) -> float:
        """Verification that has failed, after the last round, when it is below this."""
        ...

    def parse(self) -> tuple[Constituent, ...]:
        """The question's constituents; the other steps come after it."""
        ...

    def align(self, hits: Sequence[Hit]) -> tuple[Hit, ...]: ...

    def order(self, hits: Sequence[Hit]) -> list[tuple[float, ...]]:
        """Keys for progressive selection, the smallest is the best."""
        ...

    def verify(self, kept: Sequence[Hit]) -> float:
        """How far the kept passages suffice, 0..1."""
        ...

    def reword(self, part: Constituent, question: str) -> str: ...

    def imagine(self, question: str) -> str: ...


class ByEncoder:
    """Rules, words and similarities; a template instead of a written passage."""

    name = "encoder: rules parse, words and similarity align, coverage verifies"

    def __init__(self, question: str, language: str, tools: Tools, options: Options) -> None:
        self._question, self._language, self._options = question, language, options
        self._aligner = EncoderAligner(tools.encode, lexicon(language), options.aligning)
        self._parts: tuple[Constituent, ...] = ()
        self.enough, self.least = options.enough, min(options.least, options.enough)

    def parse(self) -> tuple[Constituent, ...]:
        self._parts = constituents(self._question, self._language)
        return self._parts

    def align(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        return self._aligner.align(self._parts, hits)

    def order(self, hits: Sequence[Hit]) -> list[tuple[float, ...]]:
        return [order_key(hit) for hit in hits]

    def verify(self, kept: Sequence[Hit]) -> float:
        """Share of the constituents that the passages match together; 1 without any."""
        if not self._parts:
            return 1.0 if kept else 0.0
        return 1.0 - len(uncovered(self._parts, kept)) / len(self._parts)

    def reword(self, part: Constituent, question: str) -> str:
        return same_words(part, question)

    def imagine(self, question: str) -> str:
        return template(self._parts)(question)


class ByGenerator:
    """The language model judges, by logits, and writes the pseudo-passages."""

    def __init__(self, question: str, language: str, tools: Tools, options: Options) -> None:
        self._question, self._language = question, language
        self._generator, self._at, self._keep = tools.generator, tools.at, options.keep
        inner = EncoderAligner(tools.encode, lexicon(language), options.aligning)
        self._aligner = judging.GeneratorAligner(
            inner, tools.generator, question, most=options.judged, reflection=options.reflection
        )
        self._parts: tuple[Constituent, ...] = ()
        self.enough = self.least = options.yes
        self._useful: dict[int, float] = {}
        self._written: dict[str, str] = {}

    @property
    def name(self) -> str:
        return f"generator: {self._generator.identity.name} parses, aligns, writes and verifies"

    def parse(self) -> tuple[Constituent, ...]:
        self._at("taking the question apart")
        self._parts = judging.parse(self._question, self._generator, self._language)
        return self._parts

    def align(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        self._at("aligning passages")
        return self._aligner.align(self._parts, hits)

    def order(self, hits: Sequence[Hit]) -> list[tuple[float, ...]]:
        """As `order_key`, where the model's choice stands for the retrieval's among equals.

        Each passage is judged once; one that matches too little to be kept is not judged.
        """
        keys = [order_key(hit) for hit in hits]
        lowest = max(sorted(key[:2] for key in keys)[: self._keep], default=(0, 0.0))
        able = [hit for hit, key in zip(hits, keys, strict=True) if key[:2] <= lowest]
        fresh = [hit for hit in able if hit.passage.id not in self._useful]
        texts = [readable(hit.passage.text) for hit in fresh]
        self._at("judging passages")
        scores = judging.usefulness(self._generator, self._question, texts)
        self._useful.update(zip((hit.passage.id for hit in fresh), scores, strict=True))
        return [
            (*key[:2], -self._useful.get(hit.passage.id, 0.0), *key[2:])
            for key, hit in zip(keys, hits, strict=True)
        ]

    def verify(self, kept: Sequence[Hit]) -> float:
        texts = [readable(hit.passage.text) for hit in kept]
        self._at("verifying what is kept")
        return judging.sufficiency(self._generator, self._question, texts)

    def reword(self, part: Constituent, question: str) -> str:
        return self._write(
            part.text,
            partial(compensate.synonym, part.text, question),
            compensate.SYNONYM_SYSTEM,
            _SYNONYM_TOKENS,
        )

    def imagine(self, question: str) -> str:
        return self._write(
            question,
            partial(compensate.passage, question),
            compensate.PASSAGE_SYSTEM,
            _PASSAGE_TOKENS,
        )

    def _write(
        self, key: str, user: Callable[[], Sequence[PromptPiece]], system: str, most: int
    ) -> str:
        memo = f"{most}:{key}"
        if memo not in self._written:
            self._at("augmenting the query")
            self._written[memo] = write(self._generator, system, user(), max_tokens=most)
        return self._written[memo]


BACKENDS: dict[str, Callable[[str, str, Tools, Options], Backend]] = {
    "encoder": ByEncoder,
    "generator": ByGenerator,
}
