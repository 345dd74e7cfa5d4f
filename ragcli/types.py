"""Frozen records shared by every layer.

Offsets are always Unicode code points into a document's *extracted text*
(`Extracted.text`), half open: ``text[span.start:span.end]``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, ``0 <= start <= end``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}:{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The characters the span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


BlockKind = Literal["heading", "paragraph", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a document; sentences never cross a block's border.

    `level` is the heading level (1 = top), 0 for everything else.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a loader makes of one file.

    blocks: ascending, non-overlapping; white space between them belongs to none.
    page_starts: offset at which page i+1 starts (page formats only, else empty).
    missing_pages: 1-based pages that gave no text.
    notes: one line each, for people ("encoding guessed: windows-1252").
    """

    text: str
    kind: str
    blocks: tuple[Block, ...] = ()
    title: str = ""
    page_starts: tuple[int, ...] = ()
    missing_pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class FileStatus(StrEnum):
    """What became of a file; every file found has exactly one."""

    INDEXED = "indexed"
    PARTIAL = "partial"  # indexed, but pages or parts gave no text
    SKIPPED = "skipped"  # not a document (binary, empty, too large, ignored type)
    FAILED = "failed"  # a document that could not be read


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file seen by the walker. `relative` is relative to `root`, POSIX separators.

    Paths may hold surrogate escapes (names that are not UTF-8).
    """

    root: Path
    relative: str
    size: int
    mtime_ns: int

    @property
    def path(self) -> Path:
        return self.root / self.relative


@dataclass(frozen=True, slots=True)
class Document:
    """One indexed file."""

    id: int
    root: Path
    relative: str
    kind: str
    title: str
    sha256: str
    language: str  # ISO 639-1, "" if unknown
    status: FileStatus = FileStatus.INDEXED
    reason: str = ""

    @property
    def path(self) -> Path:
        return self.root / self.relative


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the index. `text` is exactly `document text[start:end]`.

    `page` is None for formats without pages. `line` is the 1-based line of the
    extracted text; for text formats that is the line of the file. A heading names what
    follows and states nothing: it is shown and searched, never cited.
    """

    id: int
    document_id: int
    passage_id: int
    start: int
    end: int
    text: str
    page: int | None
    line: int
    heading: str = ""
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences that fits the encoder. `heading` is the path "A > B"."""

    id: int
    document_id: int
    start: int
    end: int
    text: str
    page: int | None
    line: int
    heading: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """One retriever's view of a hit; rank is 1-based."""

    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved passage. `score` is the fused score; rank is 1-based."""

    rank: int
    score: float
    document: Document
    passage: Passage
    lexical: RetrieverScore | None = None
    dense: RetrieverScore | None = None
    best_sentence: Sentence | None = None
    best_sentence_score: float = 0.0
    sentence_scores: tuple[float, ...] = ()  # cosine per passage.sentences, or empty
    alignment: Alignment | None = None  # None where no aligner ran


ConstituentKind = Literal[
    "subject",
    "predicate",
    "object",
    "predicative",
    "attribute",
    "adverbial",
    "complement",
    "apposition",
]
Expected = Literal["any", "time", "number", "name"]


@dataclass(frozen=True, slots=True)
class Constituent:
    """A syntactic constituent of a question (paper 004, eq. 1): `text == question[start:end]`.

    expects: a question word stands for something of this sort ("when": a time).
    """

    kind: ConstituentKind
    text: str
    start: int
    end: int
    expects: Expected = "any"


@dataclass(frozen=True, slots=True)
class Matched:
    """A constituent and where a passage matches it.

    span: offsets into the document; None where the title or heading above it matches.
    """

    constituent: Constituent
    span: Span | None
    score: float


class AlignmentLabel(StrEnum):
    """How many of the question's constituents a passage matches (paper 004, section 3.1)."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Alignment:
    """The constituents that a passage matches, L(Q, D), and those it lacks; in question order.

    dropped: of the missing ones, those that the reflection step took out again.
    aligner: what judged.
    """

    matched: tuple[Matched, ...]
    missing: tuple[Constituent, ...]
    aligner: str
    dropped: tuple[Constituent, ...] = ()

    @property
    def ratio(self) -> float:
        """|L(Q, D)| / |Q|; 0 for a question without constituents."""
        total = len(self.matched) + len(self.missing)
        return len(self.matched) / total if total else 0.0

    @property
    def label(self) -> AlignmentLabel:
        if not self.matched:
            return AlignmentLabel.NONE
        return AlignmentLabel.PARTIAL if self.missing else AlignmentLabel.FULL


@dataclass(frozen=True, slots=True)
class AugmentedQuery:
    """A query of an iteration. kind: question; aligned: Q+D; compensated: Q'+D_pseudo.

    of: id of the passage it was made for, None for the question itself.
    """

    text: str
    kind: Literal["question", "aligned", "compensated"]
    of: int | None = None
    found: int = 0


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round of a method that retrieves until the evidence suffices.

    full, partial, none: labels of the candidates. kept: passage ids, best first.
    missing: constituents that no kept passage matches. score: of the verification, 0..1.
    """

    queries: tuple[AugmentedQuery, ...]
    candidates: int
    full: int
    partial: int
    none: int
    kept: tuple[int, ...]
    missing: tuple[str, ...]
    score: float
    sufficient: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """What a method that works in rounds did. by: what parsed, aligned, wrote and verified."""

    constituents: tuple[Constituent, ...]
    iterations: tuple[Iteration, ...]
    by: str
    ended: str = ""  # why it stopped, for people


class SearchMode(StrEnum):
    HYBRID = "hybrid"
    LEXICAL = "lexical"
    DENSE = "dense"


ComponentKind = Literal["invariant", "variant", "supplementary"]


@dataclass(frozen=True, slots=True)
class Component:
    """A query component of DRAG (paper 001, section 3.2)."""

    kind: ComponentKind
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence as it stands in a prompt: which document slot, which sentence."""

    document_slot: int  # 0-based position of the document in the prompt
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Risk:
    """Irrelevance risk of one token (paper 001, eq. 4-7). attention None: no tap."""

    lexical: float
    attention: float | None
    prediction: float
    total: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """One generated token.

    logprob, entropy (nats): under the fused distribution the token was drawn from.
    alternative: what the uncalibrated choice would have been, None if the same.
    attention: mass on each source sentence of the main branch's prompt, in prompt
    order (empty without a tap). looked: the whole row, over every position before the token,
    prompt and generated ones; filled only for a stage that watches what is written.
    """

    token: int
    text: str
    logprob: float
    entropy: float
    risk: Risk | None = None
    calibrated: bool = False
    alternative: str | None = None
    attention: tuple[float, ...] = ()
    looked: tuple[float, ...] = ()


class Verdict(StrEnum):
    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Citation:
    """A source sentence that supports an answer sentence. `number` is the [n] marker."""

    number: int
    document: Document
    sentence: Sentence
    score: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of the answer; `span` is into `Answer.text`."""

    span: Span
    text: str
    citations: tuple[Citation, ...]
    verdict: Verdict
    false_quotations: tuple[str, ...] = ()  # quoted in the answer, not in any source


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer with everything needed to check and to replay it."""

    question: str
    text: str
    method: str
    sentences: tuple[AnswerSentence, ...]
    steps: tuple[Step, ...]
    hits: tuple[Hit, ...]
    selected: tuple[Source, ...]
    abstained: bool
    reason: str = ""  # why it abstained, for people
    stop: str = ""  # "end" | "length" | "repetition" | "interrupted"
    warnings: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)  # seconds per stage
    provenance: dict[str, Any] = field(default_factory=dict)  # models, index, options, seed
    trace: Trace | None = None  # rounds of retrieval, where the method works in rounds
