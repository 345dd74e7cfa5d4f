"""What the page shows, as records: every text in them is ready to be escaped and printed."""

from __future__ import annotations

from dataclasses import dataclass

from ragcli.evaluate.report.highlights import Run
from ragcli.evaluate.report.plots import Plot


@dataclass(frozen=True, slots=True)
class Cell:
    """interval: "[low, high]" or "". marked: the interval holds no 0."""

    value: str
    interval: str = ""
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """of a column. doc: what the metric says."""

    text: str
    doc: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    head: tuple[Heading, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class CitationView:
    """number: the marker in the answer; source: of the question's sentences, from 1."""

    number: int
    source: int


@dataclass(frozen=True, slots=True)
class SentenceView:
    """breaks: a line of the answer begins with it. remark: what the verifier objects."""

    runs: tuple[Run, ...]
    citations: tuple[CitationView, ...] = ()
    remark: str = ""
    breaks: bool = False
    false_quotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenView:
    """A marked token in numbers."""

    text: str
    level: int
    lexical: str
    attention: str
    prediction: str
    total: str
    replaced: str
    calibrated: bool


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An arm's answer. written: all that was written, where the answer is not all of it.

    tokens: how many were written; risky, high: levels of the marks.
    """

    number: int
    arm: str
    sentences: tuple[SentenceView, ...]
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    scores: tuple[tuple[str, str], ...]
    tokens: int = 0
    marked: tuple[TokenView, ...] = ()
    written: tuple[Run, ...] = ()
    risky: float = 0.0
    high: float = 0.0
    whole: bool = True  # the whole answer was kept, not its text alone


@dataclass(frozen=True, slots=True)
class CitedBy:
    arm: str
    number: int  # the marker
    answer: int  # the answer's number in the question


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source sentence. gold None: not known which are needed."""

    number: int
    text: str
    title: str
    where: str
    heading: str
    gold: bool | None
    cited: tuple[CitedBy, ...]
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """expected: lines of what the data says of the answer. unseen: gold places not found."""

    number: int
    id: str
    text: str
    expected: tuple[str, ...]
    reference: str
    scores: Table
    chips: tuple[tuple[str, str], ...]
    answers: tuple[AnswerView, ...]
    sources: tuple[SourceView, ...]
    others: tuple[SourceView, ...]
    unseen: int


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
    chip: str  # the metric beside each question
    questions: tuple[QuestionView, ...]
    glossary: tuple[tuple[str, str, str], ...]  # label, what it says, its source
