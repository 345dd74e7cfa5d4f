"""Drafts questions from an index until there are as many as wanted, or nothing is left to try."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragcli import __version__
from ragcli.closing import Closing
from ragcli.llm.base import Generator
from ragcli.llm.prompts import draft as prompt
from ragcli.paths import shown
from ragcli.text.normalise import readable
from ragcli.train.feedback import Feedback
from ragcli.train.questions.checks import REASONS, Draft, fault, normalised
from ragcli.train.questions.ledger import DRAFTED, Ledger, Row
from ragcli.train.questions.sampling import Job, Library, sample
from ragcli.train.questions.verification import verify
from ragcli.train.questions.writer import Writer, Written
from ragcli.types import Hit

TOP = 5  # passages among which a question must find its own
RULES = "questions-1"  # of what is sampled, how words are held, and what is checked


class Index(Library, Protocol):
    """An index that can be searched too."""

    def search(self, query: str, *, k: int, score_sentences: bool) -> tuple[Hit, ...]: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """limit: pairs in the file. per_passage: pairs at most of a passage."""

    limit: int = 100
    per_passage: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a draft. reason: of `REASONS`, "" where it was kept."""

    question: str
    answer: str
    reason: str
    seconds: float


class Drafting(Closing):
    """One run over an index, into a ledger."""

    def __init__(self, index: Index, generator: Generator, ledger: Ledger, wanted: Wanted) -> None:
        self._index, self._generator, self._ledger = index, generator, ledger
        self.wanted = wanted
        self._feedback = Feedback(generator)
        self._writer: Writer | None = None
        self._asked = {normalised(row["question"]) for row in ledger.kept}
        self.outcomes: list[Outcome] = []
        self.passages = 0  # looked at

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    @property
    def prompts(self) -> str:
        """Versions of the wording and of the rules."""
        return f"{prompt.VERSION} {self._feedback.wording} {RULES}"

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.outcomes)

    def run(self) -> Iterator[Outcome]:
        """Each draft once it is on the disk. What an earlier run tried is passed over.

        Raises ModelError, OSError, Interrupted.
        """
        for jobs in sample(self._index, self.wanted.seed, self.wanted.per_passage):
            self.passages += 1
            kept = 0
            for job in jobs:
                if len(self._ledger.kept) >= self.wanted.limit:
                    return
                if kept >= self.wanted.per_passage:
                    break
                known = self._ledger.outcome(self._key(job))
                if known is None:
                    outcome = self._draft(job)
                    known = outcome.reason
                    yield outcome
                kept += not known

    def report(self) -> dict[str, Any]:
        """Valid for the schema `questions@1`."""
        identity, dropped = self._generator.identity, self._ledger.reasons()
        now = [one.reason for one in self.outcomes]
        seconds, kept = self.seconds, now.count("")
        return {
            "schema": "ragcli/questions@1",
            "ragcli": __version__,
            "file": shown(self._ledger.file),
            "dropped_file": shown(self._ledger.dropped_file),
            "model": {"name": identity.name, "sha256": identity.sha256},
            "prompts": self.prompts,
            "seed": self.wanted.seed,
            "limit": self.wanted.limit,
            "per_passage": self.wanted.per_passage,
            "kept": len(self._ledger.kept),
            "dropped": {reason: dropped.get(reason, 0) for reason in REASONS},
            "now": {
                "drafts": len(now),
                "kept": kept,
                "passages": self.passages,
                "seconds": seconds,
                "seconds_a_draft": seconds / len(now) if now else None,
                "seconds_a_pair": seconds / kept if kept else None,
            },
            "exhausted": len(self._ledger.kept) < self.wanted.limit,
        }

    def _draft(self, job: Job) -> Outcome:
        began = time.perf_counter()
        self._writer = self._writer or Writer(self._generator)
        written = self._writer.write(job)
        reason, more = self._check(job, written)
        seconds = time.perf_counter() - began
        if reason:
            self._ledger.drop({
                "key": self._key(job), "reason": reason, "question": written.question,
                "answer": job.answer.text, **more, "likelihood": round(written.likelihood, 3),
                "source": _source(job),
            })  # fmt: skip
        else:
            self._ledger.keep(self._row(job, written, more))
            self._asked.add(normalised(written.question))
        outcome = Outcome(written.question, job.answer.text, reason, seconds)
        self.outcomes.append(outcome)
        return outcome

    def _check(self, job: Job, written: Written) -> tuple[str, dict[str, Any]]:
        """The reason to drop it, or "", and what was found: from what is cheap to what is not."""
        draft = Draft(
            written.question, job.answer.text, job.sentence.text, job.title,
            job.document.language or "en", written.likelihood,
        )  # fmt: skip
        reason = fault(draft, self._asked)
        if reason:
            return reason, {}
        hits = self._index.search(written.question, k=TOP, score_sentences=False)
        if reason := search_fault(job, hits):
            return reason, {
                "found": [f"{hit.document.relative}:{hit.passage.line}" for hit in hits]
            }
        judged = verify(self._feedback, self._generator.vocabulary.tokenize, job, written.question)
        more = {
            "with_source": round(judged.with_source, 3), "without": round(judged.without, 3),
            "preferred": judged.preferred,
        }  # fmt: skip
        return "" if judged.holds else "not-verified", more

    def _row(self, job: Job, written: Written, more: dict[str, Any]) -> Row:
        key = self._key(job)
        return {
            "id": key,
            "question": written.question,
            "answers": [job.answer.text],
            "source": _source(job),
            DRAFTED: {
                "key": key, "model": self._generator.identity.sha256, "prompts": self.prompts,
                "seed": self.wanted.seed, "likelihood": round(written.likelihood, 3),
                "with_source": more["with_source"], "without": more["without"],
            },
        }  # fmt: skip

    def _key(self, job: Job) -> str:
        """Of what a draft depends on; not of where the document lies, nor of the seed."""
        told = [
            self._generator.identity.sha256, self.prompts, job.document.sha256, job.title,
            job.sentence.text, job.start, job.end,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def share_kept(kept: int, dropped: int) -> float:
    """The share of drafts to expect to be kept: measured at one in five, then as it turns out."""
    return (kept + 4.0) / (kept + dropped + 20.0)


def search_fault(job: Job, hits: Sequence[Hit]) -> str:
    """What is wrong with what a search for the question found."""
    text = readable(job.sentence.text)
    for hit in hits:
        if hit.document.id != job.document.id and any(
            readable(one.text) == text for one in hit.passage.sentences
        ):
            return "boilerplate"
    return "" if any(hit.passage.id == job.passage.id for hit in hits) else "not-retrievable"


def _source(job: Job) -> dict[str, Any]:
    """Where the answer stands: offsets count code points of the document's extracted text."""
    sentence = job.sentence
    return {
        "path": shown(job.document.path),
        "document": job.document.sha256,
        "heading": job.passage.heading,
        "page": sentence.page,
        "line": sentence.line,
        "place": sentence.place,
        "sentence": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "answer_start": job.start,
        "answer_end": job.end,
    }
