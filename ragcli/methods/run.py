"""The engine: runs any method on a question and yields events, `Finished` last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragcli.cite import support
from ragcli.cite.attribute import attribute
from ragcli.cite.evidence import Evidence, Limits, view, weigh
from ragcli.cite.question import Question, parse_question
from ragcli.cite.related import with_related
from ragcli.cite.verify import Verifier, open_verifier
from ragcli.decoding.loop import generate
from ragcli.decoding.settings import Settings
from ragcli.decoding.stop import Stop
from ragcli.events import Cited, Event, Finished, Retrieved, Selected, Token, Warned
from ragcli.index.reader import Reader
from ragcli.index.where import EVERYWHERE, Where
from ragcli.llm.base import Generator, Session
from ragcli.methods.branches import Prepared, prepare
from ragcli.methods.finish import finished_text
from ragcli.methods.frames import heading_of
from ragcli.methods.provenance import provenance
from ragcli.methods.stages import Method, Selection, Tools, sources_of
from ragcli.text.language import detect
from ragcli.types import (
    Answer,
    AnswerSentence,
    Document,
    Hit,
    SearchMode,
    Source,
    Step,
)

Cancelled = Callable[[], bool]


def never() -> bool:
    """Not cancelled."""
    return False


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to answer, beside the method's settings.

    decode: overrides the method's decoder. force: answer although the evidence is thin,
    with a warning. n_ctx: most tokens of a prompt and its answer.
    """

    decode: str | None = None
    verifier: str = "lexical"
    mode: SearchMode = SearchMode.HYBRID
    where: Where = EVERYWHERE
    force: bool = False
    n_ctx: int | None = None


@dataclass(slots=True)
class _Run:
    """One question's state, filled as the stages finish."""

    question: str
    method: Method
    tools: Tools
    language: str = "en"
    hits: tuple[Hit, ...] = ()
    selection: Selection = field(default_factory=Selection)
    prepared: Prepared | None = None
    asked: Question | None = None
    steps: list[Step] = field(default_factory=list)
    stop: str = ""
    warnings: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

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

    @property
    def sources(self) -> tuple[Source, ...]:
        return sources_of(self.prepared.contexts) if self.prepared else ()

    @property
    def documents(self) -> dict[int, Document]:
        return {hit.document.id: hit.document for hit in self.hits}


class Asker:
    """Answers questions over one index with one generator.

    Sessions and the verifier are kept between questions, so that a batch loads a model once.
    """

    def __init__(
        self,
        reader: Reader,
        generator: Generator,
        settings: Settings,
        options: AskOptions | None = None,
    ) -> None:
        self._reader = reader
        self._generator = generator
        self._settings = settings
        self._options = options or AskOptions()
        self._sessions: dict[int, Session] = {}
        self._verifiers: dict[str, Verifier] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Frees the sessions; the reader and the generator stay open."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def ask(self, question: str, method: Method, cancelled: Cancelled = never) -> Iterator[Event]:
        """Events of one question; the last is `Finished`.

        Raises UsageError, IndexUnusable, ModelError. When cancelled while it writes, the
        answer ends there with the stop reason "interrupted".
        """
        run = _Run(question, method, self._tools(method))
        yield from self._retrieve(run)
        reason = ""
        if method.retrieve is not None:
            evidence = self._weigh(run)
            reason = evidence.reason
        if reason and not self._options.force:
            yield Finished(self._answer(run, "", (), reason))
            return
        if reason:
            yield run.warn(f"the evidence is thin: {reason}")
        yield from self._select(run)
        yield from self._generate(run, cancelled)
        yield from self._cite(run)

    def _tools(self, method: Method) -> Tools:
        options = self._options

        def search(query: str, k: int) -> tuple[Hit, ...]:
            return self._reader.search(query, k=k, mode=options.mode, where=options.where)

        return Tools(
            search, self._generator, self._encode, self._settings, options.decode or method.decode
        )

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._reader.encode(texts)

    def _retrieve(self, run: _Run) -> Iterator[Event]:
        method = run.method
        if method.retrieve is None:
            return
        with run.timed("retrieve"):
            queries = [run.question]
            if method.expand is not None:
                queries = list(method.expand(run.question, run.tools))
            run.hits = method.retrieve(queries, run.tools)
            for _ in range(method.rounds if method.refine is not None else 0):
                refined = (
                    method.refine(run.question, run.hits, run.tools) if method.refine else None
                )
                if refined is None:
                    break
                queries.append(refined)
                run.hits = method.retrieve(queries, run.tools)
            stale = self._reader.stale(list(run.documents.values()))
        run.language = _language(run.question, run.hits)
        yield Retrieved(run.hits)
        for document in stale:
            yield run.warn(f"{document.relative} changed since it was indexed")

    def _weigh(self, run: _Run) -> Evidence:
        with run.timed("check"):
            shown = run.hits[: run.tools.number("retrieval.k")]
            passages = [view(hit) for hit in shown]
            asked = parse_question(run.question, run.language)
            run.asked = with_related(asked, passages, self._encode, run.language)
            limits = replace(Limits(), enough=float(self._settings.extra["evidence.enough"]))
            return weigh(run.asked, passages, run.language, limits)

    def _select(self, run: _Run) -> Iterator[Event]:
        method = run.method
        with run.timed("select"):
            if method.select is not None:
                run.selection = method.select(run.question, run.hits, run.tools)
            run.prepared = prepare(
                run.question, method, run.selection, "", run.tools, self._options.n_ctx
            )
        yield Selected(run.sources, run.selection.by)
        for warning in run.prepared.warnings:
            yield run.warn(warning)

    def _session(self, branches: int) -> Session:
        if branches not in self._sessions:
            self._sessions[branches] = self._generator.session(branches)
        return self._sessions[branches]

    def _generate(self, run: _Run, cancelled: Cancelled) -> Iterator[Event]:
        assert run.prepared is not None
        prepared = run.prepared
        start = time.perf_counter()
        steps = generate(
            self._session(prepared.count),
            self._generator.vocabulary,
            prepared.branches,
            prepared.options,
            self._settings.sampling,
            prepared.risk,
            cancelled=cancelled,
        )
        stop: Stop
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                stop = end.value
                break
            run.timings.setdefault("first_token", time.perf_counter() - start)
            run.steps.append(step)
            yield Token(step)
        run.timings["generate"] = time.perf_counter() - start
        run.stop = stop.reason
        for warning in stop.warnings:
            yield run.warn(warning)

    def _cite(self, run: _Run) -> Iterator[Event]:
        raw = "".join(step.text for step in run.steps)
        text = finished_text(raw, run.stop, run.language)
        if run.method.retrieve is None:
            yield Finished(self._answer(run, text, (), "" if text else "the model gave no answer"))
            return
        with run.timed("cite"):
            sentences = attribute(
                run.question,
                text,
                run.steps,
                run.sources,
                run.documents,
                self._similarity,
                self._verifier(run.language),
                language=run.language,
            )
            reason = self._objection(run, sentences)
        if reason and not self._options.force:
            yield Finished(self._answer(run, "", (), reason))
            return
        if reason:
            yield run.warn(f"the answer may be wrong: {reason}")
        for sentence in sentences:
            yield Cited(sentence)
        yield Finished(self._answer(run, text, sentences, ""))

    def _objection(self, run: _Run, sentences: Sequence[AnswerSentence]) -> str:
        assert run.prepared is not None
        assert run.asked is not None
        if run.stop == "interrupted":
            return ""
        known = [source.sentence.text for source in run.sources]
        known += [heading_of(context) for context in run.prepared.contexts]
        return support.objection(run.asked, sentences, known, run.language)

    def _similarity(self, claims: Sequence[str], sources: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._encode([*claims, *sources])
        return np.asarray(vectors[: len(claims)] @ vectors[len(claims) :].T)

    def _verifier(self, language: str) -> Verifier:
        if language not in self._verifiers:
            spec = self._options.verifier
            self._verifiers[language] = open_verifier(spec, self._generator, language)
        return self._verifiers[language]

    def _answer(
        self, run: _Run, text: str, sentences: tuple[AnswerSentence, ...], reason: str
    ) -> Answer:
        shown = {source.sentence.document_id for source in run.sources}
        return Answer(
            question=run.question,
            text=text,
            method=run.method.name,
            sentences=sentences,
            steps=tuple(run.steps),
            hits=run.hits,
            selected=run.sources,
            abstained=bool(reason),
            reason=reason,
            stop=run.stop,
            warnings=tuple(run.warnings),
            timings=dict(run.timings),
            provenance=self._provenance(run, [run.documents[i] for i in shown]),
        )

    def _provenance(self, run: _Run, documents: Sequence[Document]) -> dict[str, Any]:
        return provenance(
            model=self._generator.identity,
            index=self._reader.identity,
            documents=documents,
            settings=self._settings,
            method=run.method.name,
            decode=run.tools.decode,
            prompt=run.prepared.prompt if run.prepared else "",
            selected_by=run.selection.by,
            verifier=self._verifier(run.language).name,
        )


def _language(question: str, hits: Sequence[Hit]) -> str:
    """The question's language, else that of the best passage, else English."""
    found = detect(question) or next((hit.document.language for hit in hits), "")
    return found or "en"
