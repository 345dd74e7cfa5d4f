"""CRAG's stages: judge what was retrieved, look further where it falls short, refine what is read.

Paper 000, appendix A.3. A wider local retrieval with rewritten queries stands in for its web
search; the output says so.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from ragcli.decoding.options import DECODERS, Setting
from ragcli.decoding.settings import Settings
from ragcli.errors import UsageError
from ragcli.events import Event, Progress
from ragcli.methods.extracting import Extract
from ragcli.methods.frames import heading_of
from ragcli.methods.ko_rag import Organise
from ragcli.methods.retrieval import merge, rescored
from ragcli.methods.selectors import TopPassages, contexts_of, only
from ragcli.methods.stages import Context, Gathered, Select, Selection, Tools
from ragcli.selection.evaluator import (
    THRESHOLDS,
    Confidence,
    EncoderEvaluator,
    Evaluator,
    GeneratorEvaluator,
    Judged,
    Thresholds,
    confidence,
    rewritten,
)
from ragcli.selection.strips import cut, keep
from ragcli.text.language import detect
from ragcli.text.normalise import readable
from ragcli.types import Hit

OWN = -1.0  # a threshold that is the evaluator's own


def _threshold(name: str, doc: str) -> Setting:
    own = ", ".join(f"{key} {getattr(one, name)}" for key, one in THRESHOLDS.items())
    return Setting(
        float, OWN, f"{doc}; -1 takes the evaluator's own ({own})",
        "FKE A.3: per evaluator; values ours", low=OWN, high=1,
    )  # fmt: skip


CRAG_SETTINGS: dict[str, Setting] = {
    "crag.evaluator": Setting(
        str, "encoder", "what judges relevance: sentences and words, or the likelihood of the question",
        "FKE A.3: a fine-tuned T5-large; ours", choices=tuple(THRESHOLDS),
    ),
    "crag.upper": _threshold("upper", "best score above which the retrieval is correct"),
    "crag.lower": _threshold("lower", "best score below which it is incorrect"),
    "crag.relevant": _threshold("relevant", "score from which a passage or strip is relevant"),
    "crag.wider": Setting(
        int, 30, "passages of each query of the wider retrieval", "ours", low=1, high=1000
    ),
    "crag.strip": Setting(int, 3, "sentences of a strip, about", "FKE A.3", low=1, high=100),
    "crag.strips": Setting(int, 6, "strips in the prompt", "CRAG", low=1, high=100),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Corrective:
    """Retrieve and judge. Correct: go on; incorrect: a wider retrieval instead; ambiguous: both.

    The relevant passages come first, by score.
    """

    def __call__(self, question: str, tools: Tools) -> Generator[Event, None, Gathered]:
        evaluator, limits = evaluator_of(question, tools), thresholds(tools.settings)
        wanted = max(tools.number("retrieval.candidates"), tools.number("retrieval.k"))
        first = rescored(question, tools.search(question, wanted), tools, every=False)
        scores = evaluator.score(question, judged(first))
        verdict = confidence(scores.tolist(), limits)
        best = f"best {max(scores):.2f}" if len(scores) else "nothing found"
        by = f"retrieval judged {verdict} ({best}; {evaluator.name})"
        pool = list(zip(first, scores.tolist(), strict=True))
        notes: tuple[str, ...] = ()
        if verdict is not Confidence.CORRECT:
            yield Progress("wider retrieval", 0, 1)
            queries = rewritten(question, detect(question) or "en")
            wider = _wider(question, queries, tools)
            known = {hit.passage.id for hit in first}
            fresh = [hit for hit in wider if hit.passage.id not in known]
            more = evaluator.score(question, judged(fresh)).tolist()
            found = list(zip(fresh, more, strict=True))
            pool = found if verdict is Confidence.INCORRECT and found else pool + found
            notes = (_note(verdict, queries, len(fresh)),)
            by += ", wider local retrieval in place of web search"
        hits, relevant = _ordered(pool, limits.relevant)
        kept = min(max(relevant, 1), tools.number("retrieval.k"), len(hits))
        return Gathered(hits, kept, by=by, notes=notes)


def _wider(question: str, queries: Sequence[str], tools: Tools) -> tuple[Hit, ...]:
    """What the rewritten queries find, and the question itself further down."""
    depth = tools.number("crag.wider")
    search = tools.passages or tools.search
    found = merge([search(query, depth) for query in (question, *queries)])
    return rescored(question, found, tools)


def _note(verdict: Confidence, queries: Sequence[str], found: int) -> str:
    how = "added to" if verdict is Confidence.AMBIGUOUS else "took the place of"
    asked = " and ".join(f"“{readable(query)}”" for query in queries) or "the question itself"
    return (
        f"the passages found were judged {verdict}: a wider local retrieval for {asked}"
        f" ({found} further) {how} them; it stands in for a web search"
    )


def _ordered(pool: Sequence[tuple[Hit, float]], floor: float) -> tuple[tuple[Hit, ...], int]:
    """The hits by relevance, ranked anew, and how many are relevant; ties keep their order."""
    ranked = sorted(pool, key=lambda one: -one[1])
    hits = tuple(
        replace(hit, rank=rank, score=max(score, 0.0))
        for rank, (hit, score) in enumerate(ranked, start=1)
    )
    return hits, sum(score >= floor for _, score in ranked)


@dataclass(frozen=True, slots=True)
class Refined:
    """The best strips of what `inner` selects for the main branch; the rest is as `inner` says.

    A selector that takes passages by rank alone gives way: strips then come from the first
    `retrieval.candidates` passages. Text of the main branch is never the noise reference.
    """

    inner: Select

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        selection = self.inner(question, hits, tools)
        shown = selection.hits or hits
        contexts = contexts_of(shown)
        wanted = max(tools.number("retrieval.candidates"), tools.number("retrieval.k"))
        pool = contexts[:wanted] if self._by_rank(tools) else selection.documents
        evaluator = evaluator_of(question, tools)
        documents = refined(question, pool, shown, evaluator, tools)
        noise = _noise(selection.noise, documents, contexts)
        by = f"{selection.by}, refined to strips ({evaluator.name})"
        return replace(selection, documents=documents, noise=noise, by=by)

    def _by_rank(self, tools: Tools) -> bool:
        if isinstance(self.inner, Extract | Organise):
            return DECODERS[tools.decode].second == "fine"
        return isinstance(self.inner, TopPassages)


def refined(
    question: str,
    contexts: Sequence[Context],
    hits: Sequence[Hit],
    evaluator: Evaluator,
    tools: Tools,
) -> tuple[Context, ...]:
    """The contexts with the sentences of their best strips alone, in document order."""
    cosines = {
        sentence.id: score
        for hit in rescored(question, hits, tools, every=False)
        for sentence, score in zip(hit.passage.sentences, hit.sentence_scores, strict=True)
    }
    strips: list[Judged] = []
    ids: list[list[int]] = []
    for context in contexts:
        whole = Judged(
            heading_of(context),
            tuple(readable(s.text) for s in context.sentences),
            tuple(cosines.get(s.id, 0.0) for s in context.sentences),
        )
        for first, last in cut(len(context.sentences), tools.number("crag.strip")):
            strips.append(whole.part(first, last))
            ids.append([s.id for s in context.sentences[first:last]])
    scores = evaluator.score(question, strips).tolist()
    floor = thresholds(tools.settings).relevant
    chosen = keep(scores, floor, tools.number("crag.strips"))
    return only(contexts, (id for at in chosen for id in ids[at]))


def _noise(
    noise: Context | None, documents: Sequence[Context], contexts: Sequence[Context]
) -> Context | None:
    """The noise reference, or where the documents hold text of it, the last passage of which none."""
    held = {s.id for context in documents for s in context.sentences}
    candidates = [] if noise is None else [noise, *reversed(contexts)]
    return next((one for one in candidates if held.isdisjoint(s.id for s in one.sentences)), None)


def judged(hits: Sequence[Hit]) -> list[Judged]:
    """The hits' passages as the evaluator reads them."""
    return [
        Judged(
            hit.passage.heading or hit.document.title,
            tuple(readable(s.text) for s in hit.passage.sentences),
            hit.sentence_scores,
        )
        for hit in hits
    ]


def thresholds(settings: Settings) -> Thresholds:
    """The evaluator's own, where the user sets no others. Raises UsageError for crossed ones."""
    own = THRESHOLDS[str(settings.extra["crag.evaluator"])]
    given = {name: float(settings.extra[f"crag.{name}"]) for name in ("upper", "lower", "relevant")}
    limits = replace(own, **{name: value for name, value in given.items() if value != OWN})
    if limits.lower > limits.upper:
        raise UsageError(
            f"crag.lower {limits.lower:g} is above crag.upper {limits.upper:g}",
            hint="nothing would be ambiguous: set both, or neither",
        )
    return limits


def evaluator_of(question: str, tools: Tools) -> Evaluator:
    """The evaluator that the settings ask for; the generator is opened only where it judges."""
    if tools.choice("crag.evaluator") == "generator":
        tools.at("judging passages")
        return GeneratorEvaluator(tools.generator)
    return EncoderEvaluator(detect(question) or "en")
