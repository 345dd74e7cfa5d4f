"""Frozen records shared by every layer.

Offsets are always Unicode code points into a document's *extracted text*
(`Extracted.text`), half open: ``text[span.start:span.end]``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from ragcli.alignments import Alignment as Alignment
from ragcli.alignments import AlignmentLabel as AlignmentLabel
from ragcli.alignments import AugmentedQuery as AugmentedQuery
from ragcli.alignments import Constituent as Constituent
from ragcli.alignments import ConstituentKind as ConstituentKind
from ragcli.alignments import Expected as Expected
from ragcli.alignments import Iteration as Iteration
from ragcli.alignments import Matched as Matched
from ragcli.alignments import Trace as Trace
from ragcli.spans import Span as Span

BlockKind = Literal["heading", "paragraph", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a document; sentences never cross a block's border.

    `level` is the heading level (1 = top), 0 for what stands under the heading before.
    Another block than a heading may have a level too: it opens a section called `name`
    (a function in code), which its text need not begin with; "" is the part above.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a loader makes of one file.

    blocks: ascending, non-overlapping; white space between them belongs to none.
    page_starts: offset at which page i+1 starts (page formats only, else empty).
    missing_pages: 1-based pages that gave no text. missing: other parts that gave none, in
        words ("chapter 3 (ch3.xhtml) is not in the book"); either makes the file partial.
    places: ascending (offset, label): where in the file the text from there on stands, for
        formats whose lines and pages do not say it ("slide 3", "Budget!A5", "cell 4").
    notes: one line each, for people ("encoding guessed: windows-1252").
    """

    text: str
    kind: str
    blocks: tuple[Block, ...] = ()
    title: str = ""
    page_starts: tuple[int, ...] = ()
    missing_pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    missing: tuple[str, ...] = ()


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
    extracted text; for text formats that is the line of the file. `place` says where in
    the file it stands where neither does ("Budget!A5"), else "". A heading names what
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
    place: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences that fits the encoder. `heading` is the path "A > B".

    `place` is that of its first sentence.
    """

    id: int
    document_id: int
    start: int
    end: int
    text: str
    page: int | None
    line: int
    heading: str
    sentences: tuple[Sentence, ...]
    place: str = ""


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
