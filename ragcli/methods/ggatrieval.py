"""GGatrieval (paper 004): rounds of retrieval until what is kept matches the whole question.

    parse → (retrieve → align → rerank → select progressively → verify → augment)*

Algorithm 1 as printed never assigns D, so that its query augmentation would never run: here
D is what the round before kept.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragcli.events import Event, Progress
from ragcli.methods.grounding import BACKENDS, Backend
from ragcli.methods.grounding_options import Options
from ragcli.methods.retrieval import merge, rescored, scaled
from ragcli.methods.stages import Context, Encode, Gathered, Selection, Tools
from ragcli.selection.alignment import aligned_sentences, labels, renumbered, rerank, uncovered
from ragcli.selection.augmentation import augmented
from ragcli.selection.progressive import progressive
from ragcli.text.language import detect
from ragcli.types import AlignmentLabel, AugmentedQuery, Constituent, Hit, Iteration, Trace

ALL_FULL = "every passage kept matches the whole question"
NOTHING_NEW = "the augmented queries found nothing new"
LAST_ROUND = "the last round"
SUFFICIENT = "the passages kept suffice"


@dataclass(frozen=True, slots=True)
class GroundedRounds:
    """Retrieve, align, keep, verify; else augment the queries and go on.

    The first round retrieves `ggatrieval.candidates` passages for the question, each later one
    `ggatrieval.fetch` for each augmented query.
    """

    steps: tuple[str, ...] = (
        "parse", "retrieve", "align", "reflect", "rerank", "select progressively", "verify",
        "augment",
    )  # fmt: skip

    def __call__(self, question: str, tools: Tools) -> Generator[Event, None, Gathered]:
        options = Options.of(tools.settings)
        tools = replace(tools, encode=remembered(tools.encode))
        backend = BACKENDS[options.backend](question, detect(question) or "en", tools, options)
        rounds = _Rounds(question, tools, options, backend)
        for number in range(options.iterations):
            yield Progress("round", number, options.iterations)
            if rounds.ended_before(number) or rounds.run_one():
                break
        return rounds.gathered()


def remembered(encode: Encode) -> Encode:
    """Encodes each text once: scoring sentences and aligning them take the same vectors."""
    known: dict[str, NDArray[np.float32]] = {}

    def once(texts: Sequence[str]) -> NDArray[np.float32]:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known.update(zip(fresh, encode(fresh), strict=True))
        return np.asarray([known[text] for text in texts], dtype=np.float32)

    return once


class _Rounds:
    """The state of the loop: what is known of each passage, what is kept, what was asked."""

    def __init__(self, question: str, tools: Tools, options: Options, backend: Backend) -> None:
        self._question, self._tools = question, tools
        self._options, self._backend = options, backend
        self._parts: tuple[Constituent, ...] = backend.parse()
        self._known: dict[int, Hit] = {}
        self._kept: tuple[Hit, ...] = ()  # D of Algorithm 1
        self._queries: tuple[AugmentedQuery, ...] = (AugmentedQuery(question, "question"),)
        self._iterations: list[Iteration] = []
        self._ended = LAST_ROUND

    def ended_before(self, number: int) -> bool:
        """Prepares the queries of a later round; True when there is nothing to ask."""
        if number == 0:
            return False
        self._queries = augmented(
            self._question,
            self._kept,
            tau=self._options.tau,
            reword=self._backend.reword,
            imagine=self._backend.imagine,
        )
        if not self._queries:
            self._ended = ALL_FULL
        return not self._queries

    def run_one(self) -> bool:
        """One round; True when it was the last."""
        before = {hit.passage.id for hit in self._kept}
        known = set(self._known)
        candidates = self._candidates()
        self._keep(candidates)
        kept = {hit.passage.id for hit in self._kept}
        score = self._backend.verify(self._kept)
        sufficient = bool(self._kept) and score >= self._backend.enough
        self._iterations.append(self._record(candidates, score, sufficient))
        if sufficient:
            self._ended = SUFFICIENT
            return True
        if kept == before and set(self._known) == known:
            self._ended = NOTHING_NEW
            return True
        return False

    def _candidates(self) -> tuple[Hit, ...]:
        """What the queries find, aligned and reranked (Algorithm 1, lines 9 to 13)."""
        first = not self._iterations
        depth = self._options.candidates if first else self._options.fetch
        search = self._tools.passages or self._tools.search
        lists = [search(query.text, depth) for query in self._queries]
        self._queries = tuple(
            replace(query, found=len(hits))
            for query, hits in zip(self._queries, lists, strict=True)
        )
        found = (merge(lists) if len(lists) > 1 else tuple(lists[0]))[: self._options.candidates]
        fresh = [hit for hit in found if hit.passage.id not in self._known]
        fresh = list(rescored(self._question, fresh, self._tools, every=not first))
        for hit in self._backend.align(fresh):
            self._known[hit.passage.id] = hit
        return self._ordered(self._known[hit.passage.id] for hit in found)

    def _ordered(self, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """Best first, without those of the label that is left out."""
        left = [
            h for h in hits if h.alignment is None or h.alignment.label != self._options.without
        ]
        return tuple(left) if self._options.order == "retrieval" else rerank(left)

    def _order(self, hits: Sequence[Hit]) -> Sequence[tuple[float, ...]]:
        """Keys for progressive selection; by retrieval: its fused score."""
        if self._options.order == "retrieval":
            return [(-hit.score, hit.rank) for hit in hits]
        return self._backend.order(hits)

    def _keep(self, candidates: Sequence[Hit]) -> None:
        self._kept = progressive(
            self._kept,
            candidates,
            self._order,
            identity=lambda hit: hit.passage.id,
            keep=self._options.keep,
            window=self._options.window,
        )

    def _record(self, candidates: Sequence[Hit], score: float, sufficient: bool) -> Iteration:
        count = labels(candidates)
        return Iteration(
            queries=self._queries,
            candidates=len(candidates),
            full=count[AlignmentLabel.FULL],
            partial=count[AlignmentLabel.PARTIAL],
            none=count[AlignmentLabel.NONE],
            kept=tuple(hit.passage.id for hit in self._kept),
            missing=tuple(one.text for one in uncovered(self._parts, self._kept)),
            score=score,
            sufficient=sufficient,
        )

    def gathered(self) -> Gathered:
        """The kept passages first, then the other candidates by alignment."""
        kept = {hit.passage.id for hit in self._kept}
        others = self._ordered(hit for id, hit in self._known.items() if id not in kept)
        hits = renumbered((*self._kept, *others))
        trace = Trace(self._parts, tuple(self._iterations), self._backend.name, self._ended)
        return Gathered(hits, len(self._kept), self._reason(), trace)

    def _reason(self) -> str:
        """Why the kept passages cannot hold the answer, for people; empty when they may.

        Coverage asks for more before it stops searching than before it gives up: of 39 XQuAD
        questions whose source was there, 7 matched less than three quarters of their parts.
        """
        if not self._kept:
            return "nothing was found"
        if self._parts and not any(hit.alignment and hit.alignment.matched for hit in self._kept):
            return "no passage matches any part of the question"
        last = self._iterations[-1]
        if last.sufficient or last.score >= self._backend.least:
            return ""
        missing = [f"“{text}”" for text in last.missing[:3]]
        if missing:
            return f"the passages found do not match {' or '.join(missing)}"
        return "the passages found do not answer the question"


@dataclass(frozen=True, slots=True)
class AlignedPassages:
    """The passages best aligned with the question, and of them the sentences that match it.

    Passages that come aligned stand in their order; others are aligned, reranked and selected
    progressively here. The worst of what is left is the noise reference.
    """

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        options = Options.of(tools.settings)
        by = f"aligned passages ({options.backend})"
        if any(hit.alignment is None for hit in hits):
            hits = _aligned(question, hits, tools, options)
        contexts = _contexts(hits)
        kept = tuple(contexts[: options.keep])
        fine = tuple(
            replace(context, sentences=sentences)
            for context, hit in zip(kept, hits, strict=False)
            if hit.alignment is not None
            and (sentences := aligned_sentences(hit.passage, hit.alignment))
        )
        noise = contexts[-1] if len(contexts) > len(kept) else None
        return Selection(kept, fine, noise, by, hits=tuple(hits))


def _aligned(question: str, hits: Sequence[Hit], tools: Tools, options: Options) -> tuple[Hit, ...]:
    backend = BACKENDS[options.backend](question, detect(question) or "en", tools, options)
    backend.parse()
    ordered = rerank(backend.align(hits))
    kept = progressive(
        (),
        ordered,
        backend.order,
        identity=lambda hit: hit.passage.id,
        keep=options.keep,
        window=options.window,
    )
    chosen = {hit.passage.id for hit in kept}
    return renumbered((*kept, *(hit for hit in ordered if hit.passage.id not in chosen)))


def _contexts(hits: Iterable[Hit]) -> list[Context]:
    ordered = list(hits)
    return [
        Context(hit.document, hit.passage.heading, hit.passage.sentences, score)
        for hit, score in zip(ordered, scaled(ordered), strict=True)
    ]
