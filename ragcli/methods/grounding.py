"""GGatrieval's steps on one question, by the encoder or by the generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ragcli.cite.question import meets
from ragcli.decoding.options import Setting
from ragcli.decoding.settings import Settings
from ragcli.llm.base import PromptPiece
from ragcli.llm.prompts import compensate
from ragcli.methods.stages import Tools
from ragcli.methods.writing import write
from ragcli.selection import judging
from ragcli.selection.aligners import AlignOptions, EncoderAligner
from ragcli.selection.alignment import Segment, order_key, uncovered
from ragcli.selection.augmentation import same_words, template
from ragcli.selection.constituents import constituents
from ragcli.selection.matching import Lexicon
from ragcli.text.normalise import readable
from ragcli.text.words import alike, words
from ragcli.types import Constituent, Expected, Hit

GGATRIEVAL_SETTINGS: dict[str, Setting] = {
    "ggatrieval.backend": Setting(
        str, "encoder", "what parses, aligns, writes and verifies", "paper 004: a language model",
        choices=("encoder", "generator"),
    ),
    "ggatrieval.segment": Setting(
        str, "per-constituent", "a segment for each constituent, or one that holds them all",
        "GGatrieval sections 3.2 and 3.1", choices=("one", "per-constituent"),
    ),
    "ggatrieval.reach": Setting(
        int, 3, "most sentences of the one segment", "ours", low=1, high=50
    ),
    "ggatrieval.reflect": Setting(
        bool, True, "look at weak matches again and drop them", "GGatrieval eq. 3"
    ),
    "ggatrieval.tau": Setting(
        float, 0.66, "share of constituents from which a passage lends the query its own text",
        "GGatrieval eq. 6, section 4.3", low=0, high=1,
    ),
    "ggatrieval.candidates": Setting(
        int, 50, "candidates of a round", "GGatrieval A.3", low=1, high=1000
    ),
    "ggatrieval.fetch": Setting(
        int, 5, "passages fetched by each augmented query", "GGatrieval A.3", low=1, high=100
    ),
    "ggatrieval.window": Setting(
        int, 20, "candidates looked at together", "GGatrieval A.3", low=1, high=1000
    ),
    "ggatrieval.keep": Setting(int, 5, "passages kept", "GGatrieval A.3", low=1, high=100),
    "ggatrieval.iterations": Setting(
        int, 4, "most rounds of retrieval", "GGatrieval section 4.3", low=1, high=20
    ),
    "ggatrieval.enough": Setting(
        float, 0.75, "share of constituents that the kept passages match together, from which no"
        " further round is needed", "ours", low=0, high=1,
    ),
    "ggatrieval.least": Setting(
        float, 0.5, "the share below which, after the last round, there is no answer", "ours",
        low=0, high=1,
    ),
    "ggatrieval.yes": Setting(
        float, 0.5, "the generator's yes, beyond what it says to no text, from which they suffice",
        "ours", low=0, high=1,
    ),
    "ggatrieval.similar": Setting(
        float, 0.35, "cosine with a sentence from which a constituent may match it", "ours",
        low=0, high=1,
    ),
    "ggatrieval.near": Setting(
        float, 0.6, "cosine with a window of the sentence that reflection asks for", "ours",
        low=0, high=1,
    ),
    "ggatrieval.order": Setting(
        str, "alignment", "what passages are kept by: alignment, or retrieval alone",
        "GGatrieval Table 6", choices=("alignment", "retrieval"),
    ),
    "ggatrieval.without": Setting(
        str, "nothing", "label of the passages that are left out", "GGatrieval Table 5",
        choices=("nothing", "full", "partial", "none"),
    ),
    "ggatrieval.judged": Setting(
        int, 20, "candidates of a round that the generator aligns, if it does; the rest by encoder",
        "ours", low=1, high=1000,
    ),
}  # fmt: skip

_SYNONYM_TOKENS, _PASSAGE_TOKENS = 12, 60


@dataclass(frozen=True, slots=True)
class Options:
    """The settings above, read once."""

    backend: str
    segment: Segment
    reach: int
    reflect: bool
    tau: float
    candidates: int
    fetch: int
    window: int
    keep: int
    iterations: int
    enough: float
    least: float
    yes: float
    similar: float
    near: float
    order: str
    without: str
    judged: int

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """From the settings of a run; `retrieval.k` (-k) counts where `keep` is not given."""
        prefix = "ggatrieval."
        values = {k.removeprefix(prefix): settings.extra[k] for k in GGATRIEVAL_SETTINGS}
        if "retrieval.k" in settings.given and "ggatrieval.keep" not in settings.given:
            values["keep"] = settings.extra["retrieval.k"]
        return cls(**values)  # type: ignore[arg-type]

    @property
    def aligning(self) -> AlignOptions:
        return AlignOptions(
            segment=self.segment, reach=self.reach, reflect=self.reflect,
            similar=self.similar, near=self.near,
        )  # fmt: skip


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
        self._generator, self._at = tools.generator, tools.at
        inner = EncoderAligner(tools.encode, lexicon(language), options.aligning)
        self._aligner = judging.GeneratorAligner(
            inner, tools.generator, question, most=options.judged, reflect=options.reflect
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
        """Label first; among equals the model's own choice; each passage is judged once."""
        fresh = [hit for hit in hits if hit.passage.id not in self._useful]
        texts = [readable(hit.passage.text) for hit in fresh]
        self._at("judging passages")
        scores = judging.usefulness(self._generator, self._question, texts)
        self._useful.update(zip((hit.passage.id for hit in fresh), scores, strict=True))
        keys = [order_key(hit) for hit in hits]
        return [
            (key[0], -self._useful[hit.passage.id], *key[1:])
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


def needs_generator(settings: Settings) -> bool:
    """Whether these settings make GGatrieval load a generator."""
    return settings.extra["ggatrieval.backend"] == "generator"
