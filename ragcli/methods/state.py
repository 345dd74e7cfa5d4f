"""One question's state while the engine works on it, and how it is to be answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragcli.cite.evidence import Evidence
from ragcli.cite.question import Question
from ragcli.events import Progress, Warned
from ragcli.index.staleness import since_indexed
from ragcli.index.where import EVERYWHERE, Where
from ragcli.llm.fingerprint import file_sha256
from ragcli.methods.branches import Prepared
from ragcli.methods.passes import Pass, Retrieval
from ragcli.methods.stages import Context, Gathered, Method, Selection, Tools, sources_of
from ragcli.paths import shown
from ragcli.selection.organiser import Organiser
from ragcli.types import Document, Hit, SearchMode, Source, Step


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to answer, beside the method's settings.

    decode: overrides the method's decoder. force: answer although the evidence is thin,
    with a warning. n_ctx: most tokens of a prompt and its answer. verbatim: source sentences
    instead of generated text. adapter: a LoRA file for `drag.analyzer=adapter`. select: the
    selector that was asked for by name; the method has it already. organiser: opens the user's
    organiser, the same one each time; None for the one in the package.
    """

    decode: str | None = None
    verifier: str = "lexical"
    mode: SearchMode = SearchMode.HYBRID
    where: Where = EVERYWHERE
    force: bool = False
    n_ctx: int | None = None
    verbatim: bool = False
    adapter: Path | None = None
    select: str | None = None
    organiser: Callable[[], Organiser] | None = None

    def recorded(self) -> dict[str, Any]:
        """What the answer records of them, so that the same can be asked again."""
        adapter = self.adapter
        known = adapter is not None and adapter.is_file()
        return {
            "select": self.select,
            "mode": self.mode.value,
            "in": list(self.where.globs),
            "type": list(self.where.kinds),
            "force": self.force,
            "verbatim": self.verbatim,
            "ctx": self.n_ctx,
            "adapter": None
            if adapter is None
            else {
                "file": shown(adapter.name),
                "sha256": file_sha256(adapter) if known else None,
            },
        }


@dataclass(slots=True)
class Watched:
    """Tells how far the generator is in what a stage said that it is at."""

    report: Callable[[Progress], None]
    stage: str = ""

    def begin(self, stage: str) -> None:
        """A stage is about to ask the generator."""
        self.stage = stage
        self.report(Progress(stage, 0, 0))

    def count(self, done: int, total: int) -> None:
        """The generator has done so many prompts, or written so many tokens."""
        self.report(Progress(self.stage, done, total))


@dataclass(slots=True)
class Run:
    """One question's state, filled as the stages finish."""

    question: str
    method: Method
    tools: Tools
    language: str = "en"
    hits: tuple[Hit, ...] = ()
    gathered: Gathered | None = None
    shown: tuple[Context, ...] = ()  # what the answer rests on
    selection: Selection = field(default_factory=Selection)
    prepared: Prepared | None = None
    asked: Question | None = None
    evidence: Evidence | None = None
    steps: list[Step] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    retrievals: list[Retrieval] = field(default_factory=list)
    stop: str = ""
    warnings: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    compared: set[int] = field(default_factory=set)  # documents that `stale` was asked about

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self.timings[stage] = self.timings.get(stage, 0.0) + spent

    def warn(self, message: str) -> Warned:
        self.warnings.append(message)
        return Warned(message)

    def stale(self, among: Callable[[Sequence[Document]], Sequence[Document]]) -> list[str]:
        """A line for each document retrieved since the last call whose file changed or went.

        among: `Reader.stale`.
        """
        fresh = [one for id, one in self.documents.items() if id not in self.compared]
        self.compared.update(one.id for one in fresh)
        return [f"{one.relative} {since_indexed(one)} since it was indexed" for one in among(fresh)]

    @property
    def sources(self) -> tuple[Source, ...]:
        return sources_of(self.shown)

    @property
    def documents(self) -> dict[int, Document]:
        return {hit.document.id: hit.document for hit in self.hits}
