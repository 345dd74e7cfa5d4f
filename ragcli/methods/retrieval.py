"""Retrieval stages, and how relevance is scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcli.index.scoring import best_of
from ragcli.methods.stages import Method, Tools
from ragcli.types import Hit


@dataclass(frozen=True, slots=True)
class Hybrid:
    """The index's own fused search for each query, `retrieval.candidates` passages in all.

    Several queries are merged by reciprocal rank (k = 60).
    """

    def __call__(self, queries: Sequence[str], tools: Tools) -> tuple[Hit, ...]:
        wanted = max(tools.number("retrieval.candidates"), tools.number("retrieval.k"))
        lists = [tools.search(query, wanted) for query in queries]
        return lists[0] if len(lists) == 1 else merge(lists)[:wanted]


def merge(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Hit lists fused by reciprocal rank; the first list's view of a passage is kept."""
    fused: dict[int, float] = {}
    seen: dict[int, Hit] = {}
    for hits in lists:
        for hit in hits:
            fused[hit.passage.id] = fused.get(hit.passage.id, 0.0) + 1.0 / (60 + hit.rank)
            seen.setdefault(hit.passage.id, hit)
    order = sorted(fused, key=lambda passage: (-fused[passage], passage))
    return tuple(
        replace(seen[passage], rank=rank, score=fused[passage])
        for rank, passage in enumerate(order, start=1)
    )


def rescored(
    question: str, hits: Sequence[Hit], tools: Tools, *, every: bool = True
) -> tuple[Hit, ...]:
    """Sentence scores as cosines with the question: another query's own mean another thing.

    every False: only hits that have none. Sentences are encoded in one batch.
    """
    open_ = [hit for hit in hits if every or len(hit.sentence_scores) != len(hit.passage.sentences)]
    texts = [sentence.text for hit in open_ for sentence in hit.passage.sentences]
    if not texts:
        return tuple(hits)
    vectors = tools.encode([question, *texts])
    scores = iter((vectors[1:] @ vectors[0]).tolist())
    done = {hit.passage.id: _scored(hit, [next(scores) for _ in hit.passage.sentences])
            for hit in open_}  # fmt: skip
    return tuple(done.get(hit.passage.id, hit) for hit in hits)


def _scored(hit: Hit, scores: Sequence[float]) -> Hit:
    best = best_of(hit.passage.sentences, scores)
    return replace(
        hit,
        sentence_scores=tuple(scores),
        best_sentence=None if best is None else hit.passage.sentences[best],
        best_sentence_score=0.0 if best is None else scores[best],
    )


def scaled(hits: Sequence[Hit]) -> list[float]:
    """Fused scores scaled to [0, 1]: the best is 1, no score is 0."""
    top = max((hit.score for hit in hits), default=0.0)
    return [min(1.0, max(0.0, hit.score / top)) if top > 0 else 0.0 for hit in hits]


def retrieved(question: str, method: Method, tools: Tools) -> tuple[Hit, ...]:
    """Expand, retrieve, and as long as `refine` has a further query retrieve again."""
    assert method.retrieve is not None
    queries = [question]
    if method.expand is not None:
        queries = list(method.expand(question, tools))
    hits = method.retrieve(queries, tools)
    for _ in range(method.rounds if method.refine is not None else 0):
        refined = method.refine(question, hits, tools) if method.refine else None
        if refined is None:
            break
        queries.append(refined)
        hits = method.retrieve(queries, tools)
    return hits
