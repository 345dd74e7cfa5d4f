"""Writes the answer: one pass of the generation loop, or, under a watch stage, several."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Generating
from dataclasses import dataclass, replace

from ragcli.decoding.loop import generate
from ragcli.decoding.stop import Stop
from ragcli.errors import ModelError
from ragcli.events import Event, Progress, Retrieved, Selected, Token, Warned
from ragcli.llm.base import Generator, Session
from ragcli.methods.branches import Prepared, prepare
from ragcli.methods.passes import Pass, Retrieval, joined, realigned, standing, together
from ragcli.methods.sentences import Piece, by_sentence
from ragcli.methods.stages import Again, Method, Written, sources_of
from ragcli.methods.state import Run
from ragcli.types import Step

STAGE = "retrieve again"  # of Progress events


def check_attention(method: Method, generator: Generator) -> None:
    """Raises ModelError where a watch stage would have no attention rows to read."""
    if method.watch is not None and not generator.tap_available:
        raise ModelError(
            f"{method.name} decides by attention, and that of this model cannot be read:"
            f" {generator.tap_reason}",
            hint="use another method, another --base, or another model",
        )


@dataclass(slots=True)
class Writer:
    """Writes one answer after another. n_ctx: most tokens of a prompt and its answer."""

    generator: Generator
    session: Callable[[int], Session]
    n_ctx: int | None
    cancelled: Callable[[], bool]

    def write(self, run: Run) -> Iterator[Event]:
        """Tokens as they come; under a watch stage, a sentence at a time, once it stands.

        Fills the run's steps, stop, timings, and what it rests on. Raises ModelError.
        """
        assert run.prepared is not None
        start = time.perf_counter()
        run.passes.append(Pass(run.prepared))
        for event in self._straight(run) if run.method.watch is None else self._watched(run):
            if isinstance(event, Token):
                run.timings.setdefault("first_token", time.perf_counter() - start)
            yield event
        run.timings["generate"] = time.perf_counter() - start
        _gather(run)

    def _straight(self, run: Run) -> Iterator[Event]:
        steps = self._steps(run, rows=False)
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                yield from _ended(run, end.value)
                return
            run.steps.append(step)
            yield Token(step)

    def _watched(self, run: Run) -> Iterator[Event]:
        """Passes until one is not cut; the last further retrieval is followed by a straight one."""
        assert run.method.watch is not None
        left = most = run.method.watch.rounds(run.tools)
        while left:
            spent = yield from self._until_cut(run, left, most)
            if not spent:
                return
            left -= spent
        yield from self._straight(run)

    def _until_cut(self, run: Run, left: int, most: int) -> Generating[Event, None, int]:
        """One pass; how many retrievals it took if the answer goes on after it, 0 if it is over.

        The first sentence after a retrieval stands: what it asked for has just been looked up.
        """
        begun, spent = len(run.steps), 0
        pieces = by_sentence(self._steps(run, rows=True), run.language)
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                yield from _ended(run, end.value)
                return 0
            judged = spent < left and not (run.retrievals and len(run.steps) == begun)
            again = self._judge(run, piece, begun) if judged else None
            if again is not None:
                yield Progress(STAGE, most - left + spent, most)
                spent += 1
                if (yield from self._retrieve(run, again)):
                    pieces.close()
                    return spent
            for step in piece.steps[piece.first : piece.last]:
                run.steps.append(replace(step, looked=()))
                yield Token(run.steps[-1])

    def _judge(self, run: Run, piece: Piece, begun: int) -> Again | None:
        assert run.method.watch is not None
        if piece.stop is not None and piece.stop.reason == "interrupted":
            return None
        following = piece.steps[piece.last : piece.last + 1]
        after = following[0].looked if following else piece.stop.looked if piece.stop else ()
        so_far = _prefix(run.steps[:begun])
        prompt = run.passes[-1].prepared.branches.main
        steps = piece.steps[: piece.last]
        written = Written(
            run.question, prompt, so_far, steps, piece.first, after, run.language
        )  # fmt: skip
        return run.method.watch(written, run.tools)

    def _retrieve(self, run: Run, again: Again) -> Generating[Event, None, bool]:
        """Retrieves, selects and frames for the query; False when the prompt shows nothing new."""
        method, before = run.method, run.passes[-1].prepared
        assert method.retrieve is not None
        assert method.select is not None
        with run.timed(STAGE):
            hits = method.retrieve([again.query], run.tools)
            selection = method.select(again.query, hits, run.tools)
            so_far = _prefix(run.steps)
            prepared = prepare(run.question, method, selection, so_far, run.tools, self.n_ctx)
        anew = bool(prepared.contexts) and _shown(prepared) != _shown(before)
        run.retrievals.append(Retrieval(again.query, again.word, again.score, len(run.steps), anew))
        if not anew:
            return False
        run.hits = joined(run.hits, selection.hits or hits)
        run.selection, run.prepared = selection, prepared
        run.passes.append(Pass(prepared, len(run.steps)))
        yield Retrieved(hits)
        yield Selected(sources_of(prepared.contexts + prepared.beside), selection.by)
        for warning in prepared.warnings:
            if warning not in run.warnings:
                yield run.warn(warning)
        return True

    def _steps(self, run: Run, *, rows: bool) -> Generating[Step, None, Stop]:
        """The loop over the last pass's prompts, for what is left of the answer's length."""
        prepared, sampling = run.passes[-1].prepared, run.tools.settings.sampling
        left = max(1, sampling.max_tokens - len(run.steps))
        return generate(
            self.session(prepared.count),
            self.generator.vocabulary,
            prepared.branches,
            prepared.options,
            replace(sampling, max_tokens=left),
            prepared.risk,
            cancelled=self.cancelled,
            rows=rows,
        )


def _prefix(steps: list[Step]) -> str:
    """The text that stands, as the next pass goes on from it: blanks belong to the next word."""
    return "".join(step.text for step in steps).rstrip(" \t")


def _shown(prepared: Prepared) -> tuple[list[int], list[int]]:
    """Ids of the sentences that the branches show."""
    return tuple(  # type: ignore[return-value]
        [s.id for one in contexts for s in one.sentences]
        for contexts in (prepared.contexts, prepared.beside)
    )


def _ended(run: Run, stop: Stop) -> Iterator[Warned]:
    run.stop = stop.reason
    for warning in stop.warnings:
        if warning not in run.warnings:
            yield run.warn(warning)


def _gather(run: Run) -> None:
    """After several passes: the answer rests on the sentences of all that left a step."""
    if len(run.passes) == 1:
        return
    passes = standing(run.passes, len(run.steps))
    prepared = [one.prepared for one in passes]
    run.shown = together([*(p.contexts for p in prepared), *(p.beside for p in prepared)])
    run.steps = realigned(run.steps, passes, run.sources)
