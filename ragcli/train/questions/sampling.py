"""Which sentences questions are drafted from: spread over documents and headings, prose only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from ragcli.methods.frames import heading_of
from ragcli.methods.stages import Context
from ragcli.selection.organiser import complete
from ragcli.text.normalise import readable
from ragcli.text.stopwords import STOP_WORDS
from ragcli.text.words import fold, words
from ragcli.train.questions.spans import AnswerSpan, answer_spans
from ragcli.types import Document, Passage, Sentence

NO_PROSE = frozenset({"code", "csv", "xlsx", "ods", "json", "jsonl"})
FEWEST_WORDS, MOST_WORDS = 7, 45
TRIES = 4  # drafts a passage, for each pair that is wanted of it
_LONGEST_TITLE = 160  # characters shown

_MARKUP = re.compile(r"[|{}<>\\]|=|https?:|www\.|\w@\w|_{2,}|\.{4,}|—{3,}")
_BOILERPLATE = re.compile(
    r"©|\(c\) ?\d{4}|copyright|all rights reserved|cookies?\b|privacy policy|terms of (?:use|service)"
    r"|click here|subscribe|sign up|log in|read more|table of contents|\bisbn\b|\bdoi\b|last updated"
    r"|permission is hereby granted|without warranty|see also|et al\.",
    re.IGNORECASE,
)
# What points back to the sentence before.
_POINTS_BACK = re.compile(
    r"(?:He|She|It|They|This|These|Those|That|His|Her|Hers|Their|Its|Such|Others?|Another|One|Some|"
    r"Both|Neither|But|And|Or|So|There|Here|Then|Also|We|I|You|Our|My|Your|Fellow|"
    r"(?:The|In|At|By|From|During|After|Before|For|Of|To|As|On|With) (?:latter|former|same|this|that|"
    r"these|those|his|her|their|its|it|him|them))\b"
)


@dataclass(frozen=True, slots=True)
class Job:
    """An answer to draft a question for. title: of its document, with the path of headings."""

    document: Document
    passage: Passage
    sentence: Sentence
    answer: AnswerSpan
    title: str

    @property
    def start(self) -> int:
        """Offset of the answer in the document's text."""
        return self.sentence.start + self.answer.span.start

    @property
    def end(self) -> int:
        return self.sentence.start + self.answer.span.end


class Library(Protocol):
    """An index that gives documents and their passages."""

    def documents(self) -> Iterator[Document]: ...

    def passages(self, document_id: int) -> tuple[Passage, ...]: ...


def sample(library: Library, seed: int, per_passage: int = 1) -> Iterator[list[Job]]:
    """A passage at a time, its jobs in the order in which they are tried.

    First one passage of every document, then a second of each, of another heading where there
    is one, and so on. What the order depends on is the seed and the documents' contents.
    """
    ordered = sorted(library.documents(), key=lambda d: _draw(seed, d.sha256, d.relative))
    waiting: list[Iterator[list[Job]]] = [
        _of_document(library, document, seed, per_passage)
        for document in ordered
        if document.kind not in NO_PROSE
    ]
    while waiting:
        left = []
        for passages in waiting:
            jobs = next(passages, None)
            if jobs is not None:
                left.append(passages)
                yield jobs
        waiting = left


def _of_document(
    library: Library, document: Document, seed: int, per_passage: int
) -> Iterator[list[Job]]:
    """The passages that can be asked about, headings in turn."""
    by_heading: dict[str, list[list[Job]]] = {}
    passages = library.passages(document.id)
    for passage in sorted(passages, key=lambda p: _draw(seed, document.sha256, str(p.start))):
        jobs = jobs_of(document, passage, seed)[: TRIES * per_passage]
        if jobs:
            by_heading.setdefault(passage.heading, []).append(jobs)
    for row in zip_longest(*by_heading.values()):
        yield from (jobs for jobs in row if jobs is not None)


def jobs_of(document: Document, passage: Passage, seed: int) -> list[Job]:
    """What can be asked for in a passage: names, dates and figures first; sentences in turn."""
    title = heading_of(Context(document, passage.heading, (), 0.0))[:_LONGEST_TITLE]
    language = document.language or "en"
    ranked = []
    for sentence in passage.sentences:
        if sentence.is_heading or not usable(sentence.text, language):
            continue
        spans = answer_spans(sentence.text, language)
        spans.sort(
            key=lambda s: (s.kind in ("content", "quoted"), _draw(seed, document.sha256, s.text))
        )
        chance = _draw(seed, document.sha256, str(sentence.start))
        ranked += [
            ((span.kind == "content", turn, chance), Job(document, passage, sentence, span, title))
            for turn, span in enumerate(spans)
        ]
    return [job for _, job in sorted(ranked, key=lambda one: one[0])]


def usable(text: str, language: str = "en") -> bool:
    """Whether a sentence is prose that says something by itself: no row, no link, no "He was"."""
    shown = readable(text)
    found = words(shown, language)
    if not FEWEST_WORDS <= len(found) <= MOST_WORDS or not complete(shown):
        return False
    if shown.endswith(("?", "？")) or _MARKUP.search(shown) or _BOILERPLATE.search(shown):
        return False
    if language in ("en", "") and _POINTS_BACK.match(shown):
        return False
    visible = sum(not one.isspace() for one in shown)
    letters = sum(one.isalpha() for one in shown)
    return 10 * letters >= 7 * visible and _connected([fold(w.text) for w in found], language)


def _connected(found: Sequence[str], language: str) -> bool:
    """Prose has function words; a row of names or figures has none."""
    known = STOP_WORDS.get(language)
    return known is None or 8 * sum(word in known for word in found) >= len(found)


def _draw(seed: int, *what: str) -> bytes:
    """A random place in an order that is the same each time."""
    told = "/".join((str(seed), *what))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()
