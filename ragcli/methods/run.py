"""The engine: runs any method on a question and yields events, `Finished` last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.cite import support
from ragcli.cite.attribute import attribute
from ragcli.cite.evidence import Evidence, Limits, nearness, view, weigh
from ragcli.cite.question import parse_question
from ragcli.cite.related import with_related
from ragcli.cite.verify import Verifier, open_verifier
from ragcli.closing import Closing
from ragcli.decoding.settings import Settings
from ragcli.errors import UsageError
from ragcli.events import Cited, Event, Finished, Progress, Retrieved, Selected
from ragcli.index.reader import Reader
from ragcli.llm.base import Generator, Session
from ragcli.llm.ondemand import identity_of
from ragcli.methods import quoting, verbatim
from ragcli.methods.analysing import for_method
from ragcli.methods.branches import prepare
from ragcli.methods.finish import finished_text
from ragcli.methods.frames import heading_of
from ragcli.methods.generating import Writer, check_attention
from ragcli.methods.provenance import organised_document, provenance
from ragcli.methods.retrieval import retrieved
from ragcli.methods.stages import Method, Tools, unsaid
from ragcli.methods.state import AskOptions, Run, Watched
from ragcli.text.language import detect
from ragcli.text.normalise import readable
from ragcli.types import (
    Answer,
    AnswerSentence,
    Document,
    Hit,
)

__all__ = ["DOUBTED", "THIN", "AskOptions", "Asker", "never"]

# How the warnings begin that stand, under `force`, where an abstention would.
THIN = "the evidence is thin: "
DOUBTED = "the answer may be wrong: "

Cancelled = Callable[[], bool]


def never() -> bool:
    """Not cancelled."""
    return False


class Asker(Closing):
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
        self._verifiers: dict[tuple[str, str], Verifier] = {}

    def variant(self, settings: Settings, options: AskOptions) -> Asker:
        """Another one over the same index, model and sessions; only the first is to be closed."""
        other = Asker(self._reader, self._generator, settings, options)
        other._sessions, other._verifiers = self._sessions, self._verifiers
        return other

    def close(self) -> None:
        """Frees the sessions; the reader and the generator stay open."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def ask(
        self,
        question: str,
        method: Method,
        cancelled: Cancelled = never,
        report: Callable[[Progress], None] | None = None,
    ) -> Iterator[Event]:
        """Events of one question; the last is `Finished`.

        report: told what the generator does inside a stage and how far it is, between events.
        Raises UsageError, IndexUnusable, ModelError. When cancelled while it writes, the
        answer ends there with the stop reason "interrupted".
        """
        if report is None:
            yield from self._ask(question, method, cancelled, unsaid)
            return
        watched = Watched(report)
        self._generator.progress = watched.count
        try:
            yield from self._ask(question, method, cancelled, watched.begin)
        finally:
            self._generator.progress = None

    def _ask(
        self, question: str, method: Method, cancelled: Cancelled, at: Callable[[str], None]
    ) -> Iterator[Event]:
        if self._options.verbatim and not method.reads:
            raise UsageError(f"{method.name} has no documents to quote", hint="use another method")
        if not self._options.verbatim:
            check_attention(method, self._generator)
        run = Run(question, method, self._tools(method, at))
        yield from self._retrieve(run)
        reason = ""
        if method.reads:
            evidence = self._weigh(run)
            reason = (run.gathered.reason if run.gathered else "") or evidence.reason
        if reason and not self._options.force:
            yield Finished(self._answer(run, "", (), reason))
            return
        if reason:
            yield run.warn(THIN + reason)
        yield from self._select(run)
        if self._options.verbatim:
            yield from self._quote(run)
            return
        yield from self._generate(run, cancelled)
        yield from self._cite(run)

    def _tools(self, method: Method, at: Callable[[str], None]) -> Tools:
        options = self._options

        def search(query: str, k: int, scored: bool = True) -> tuple[Hit, ...]:
            return self._reader.search(
                query, k=k, mode=options.mode, where=options.where, score_sentences=scored
            )

        return Tools(
            search,
            self._generator,
            self._encode,
            for_method(self._settings, method),
            options.decode or method.decode,
            partial(search, scored=False),
            at,
            options.adapter,
            options.organiser,
        )

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._reader.encode(texts)

    def _retrieve(self, run: Run) -> Iterator[Event]:
        method = run.method
        if not method.reads:
            return
        with run.timed("retrieve"):
            if method.gather is not None:
                run.gathered = yield from method.gather(run.question, run.tools)
                run.hits = run.gathered.hits
            else:
                run.hits = retrieved(run.question, method, run.tools)
            stale = run.stale(self._reader.stale)
        run.language = _language(run.question, run.hits)
        yield Retrieved(run.hits)
        for note in run.gathered.notes if run.gathered else ():
            yield run.warn(note)
        yield from map(run.warn, stale)

    def _weigh(self, run: Run) -> Evidence:
        with run.timed("check"):
            kept = run.gathered.kept if run.gathered else run.tools.number("retrieval.k")
            shown = run.hits[:kept]
            passages = [view(hit) for hit in shown]
            asked = parse_question(run.question, run.language)
            run.asked = with_related(asked, passages, self._encode, run.language)
            limits = replace(Limits(), enough=float(self._settings.extra["evidence.enough"]))
            run.evidence = weigh(run.asked, passages, run.language, limits)
            return run.evidence

    def _select(self, run: Run) -> Iterator[Event]:
        method = run.method
        with run.timed("select"):
            if method.select is not None:
                run.selection = method.select(run.question, run.hits, run.tools)
                run.hits = run.selection.hits or run.hits
            if run.gathered is not None and run.gathered.by:
                by = f"{run.gathered.by}; {run.selection.by}"
                run.selection = replace(run.selection, by=by)
            if self._options.verbatim:
                run.shown = verbatim.chosen(run.question, run.selection, run.hits, run.tools)
            else:
                run.prepared = prepare(
                    run.question, method, run.selection, "", run.tools, self._options.n_ctx
                )
                run.shown = run.prepared.contexts + run.prepared.beside
        yield Selected(run.sources, run.selection.by)
        for warning in run.prepared.warnings if run.prepared else ():
            yield run.warn(warning)

    def _session(self, branches: int) -> Session:
        if branches not in self._sessions:
            self._sessions[branches] = self._generator.session(branches)
        return self._sessions[branches]

    def _generate(self, run: Run, cancelled: Cancelled) -> Iterator[Event]:
        writer = Writer(self._generator, self._session, self._options.n_ctx, cancelled)
        yield from writer.write(run)

    def _quote(self, run: Run) -> Iterator[Event]:
        """The chosen source sentences as they stand."""
        text, sentences = verbatim.compose(run.shown)
        yield from self._finish(run, text, sentences)

    def _cite(self, run: Run) -> Iterator[Event]:
        raw = "".join(step.text for step in run.steps)
        text = finished_text(raw, run.stop, run.language)
        if not run.method.reads:
            yield Finished(self._answer(run, text, (), "" if text else "the model gave no answer"))
            return
        run.tools.at("checking citations")
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
        yield from self._finish(run, text, sentences)

    def _finish(
        self, run: Run, text: str, sentences: tuple[AnswerSentence, ...]
    ) -> Iterator[Event]:
        yield from map(run.warn, run.stale(self._reader.stale))  # found while it was written
        reason = self._objection(run, sentences)
        quoted = self._quotation(run) if reason and not self._options.force else None
        if quoted is not None:
            yield run.warn(f"a source sentence is quoted instead of the model's answer: {reason}")
            text, sentences, reason = *quoted, ""
            run.steps.clear()
        if reason and not self._options.force:
            yield Finished(self._answer(run, "", (), reason))
            return
        if reason:
            yield run.warn(DOUBTED + reason)
        for sentence in sentences:
            yield Cited(sentence)
        yield Finished(self._answer(run, text, sentences, ""))

    def _quotation(self, run: Run) -> tuple[str, tuple[AnswerSentence, ...]] | None:
        """The best source sentence, where the evidence is strong enough for it to answer."""
        if run.asked is None or run.evidence is None or run.evidence.score < quoting.STRONG:
            return None
        chosen = quoting.best_quotation(run.asked, run.shown, run.hits, run.language)
        return verbatim.compose(chosen) if chosen and not self._options.verbatim else None

    def _objection(self, run: Run, sentences: Sequence[AnswerSentence]) -> str:
        if run.stop == "interrupted" or run.asked is None or run.evidence is None:
            return ""
        known = [readable(source.sentence.text) for source in run.sources]
        known += [heading_of(context) for context in run.shown]
        cited = {s.citations[0].sentence.id for s in sentences if s.citations}
        near = nearness(run.asked, run.evidence, run.hits, cited, run.language)
        shown = support.Shown(known, run.evidence.score, near)
        return support.objection(run.asked, sentences, shown, run.language)

    def _similarity(self, claims: Sequence[str], sources: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._encode([*claims, *sources])
        return np.asarray(vectors[: len(claims)] @ vectors[len(claims) :].T)

    def _verifier(self, language: str) -> Verifier:
        key = (self._options.verifier, language)
        if key not in self._verifiers:
            self._verifiers[key] = open_verifier(key[0], self._generator, language)
        return self._verifiers[key]

    def _answer(
        self, run: Run, text: str, sentences: tuple[AnswerSentence, ...], reason: str
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
            trace=run.gathered.trace if run.gathered else None,
        )

    def _provenance(self, run: Run, documents: Sequence[Document]) -> dict[str, Any]:
        return provenance(
            model=identity_of(self._generator),
            index=self._reader.identity,
            documents=documents,
            settings=run.tools.settings,
            method=run.method.name,
            base=run.method.base,
            decode="" if self._options.verbatim else run.tools.decode,
            prompt=run.prepared.prompt if run.prepared else "",
            selected_by=run.selection.by,
            retrievals=run.retrievals,
            organized=organised_document(run.selection.organised, run.documents),
            language=run.language,
            request=self._options.recorded(),
            verifier=verbatim.VERIFIER
            if self._options.verbatim
            else self._verifier(run.language).name,
        )


def _language(question: str, hits: Sequence[Hit]) -> str:
    """The question's language, else that of the best passage, else English."""
    found = detect(question) or next((hit.document.language for hit in hits), "")
    return found or "en"
