"""KO-RAG's selection: sentences as a trained organiser orders them, cut at its placeholder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.decoding.options import DECODERS, Setting
from ragcli.encoders.organiser import open_organiser
from ragcli.methods.selectors import candidates_of, contexts_of
from ragcli.methods.stages import Context, Method, Selection, Tools
from ragcli.paths import shown
from ragcli.selection.organiser import (
    Organised,
    Organiser,
    Scored,
    complete,
    long_enough,
    organise,
    runs,
)
from ragcli.types import Hit, Sentence

KO_RAG_SETTINGS: dict[str, Setting] = {
    "ko-rag.margin": Setting(
        float, 0.0, "how far above the placeholder a sentence must score; less than 0 keeps more",
        "KO-RAG section 3.3: 0", low=-1000, high=1000,
    ),
    "ko-rag.least": Setting(
        int, 3, "best sentences that stay where fewer beat the placeholder", "KO-RAG section 3.3:"
        " 0; default ours, by measurement: a small organizer cuts too early", low=0, high=100,
    ),
    "ko-rag.most": Setting(
        int, 1000, "most sentences in the prompt", "KO-RAG: no limit", low=1, high=1000
    ),
    "ko-rag.clean": Setting(
        str, "long", "which sentences are scored: of five words and more, or complete ones of them"
        " only; table rows and list items are not complete",
        "KO-RAG appendix B.3: complete", choices=("long", "complete"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Organise:
    """The sentences of all passages that beat the placeholder, best first, in that order.

    Neighbours of one passage stand under one heading. For a decoder with a sentence branch they
    are that branch, and the first `retrieval.k` passages are read whole. The noise reference is
    the last passage of which nothing is kept.
    """

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        organiser = tools.organiser() if tools.organiser else open_organiser(None)
        places = places_to_score(contexts, tools.choice("ko-rag.clean"))
        texts = _texts(contexts, places, organiser)
        scores, placeholder = organiser.scores(question, texts)
        order = organise(
            scores,
            placeholder,
            least=tools.number("ko-rag.least"),
            most=tools.number("ko-rag.most"),
            margin=float(tools.settings.extra["ko-rag.margin"]),
        )
        documents, chosen, noise = laid_out(contexts, [places[at] for at in order.kept], tools)
        kept = set(order.kept)
        scored = [
            Scored(contexts[slot].sentences[at], score, number in kept)
            for number, ((slot, at), score) in enumerate(zip(places, scores, strict=True))
        ]
        organised = Organised(organiser.name, organiser.sha256, placeholder, tuple(scored))
        return Selection(documents, chosen, noise, told(organised), organised=organised)


def laid_out(
    contexts: tuple[Context, ...], places: Sequence[tuple[int, int]], tools: Tools
) -> tuple[tuple[Context, ...], tuple[Context, ...], Context | None]:
    """Documents, sentences and noise reference of sentences in an order, as `Organise` says."""
    chosen = in_order(contexts, places)
    fine = DECODERS[tools.decode].second == "fine"
    documents = contexts[: tools.number("retrieval.k")] if fine else chosen
    held = {sentence.id for one in documents for sentence in one.sentences}
    noise = (c for c in reversed(contexts) if held.isdisjoint(s.id for s in c.sentences))
    return documents, chosen, next(noise, None)


def told(organised: Organised) -> str:
    """Which organiser ran and what came of it, for people."""
    kept = sum(one.kept for one in organised.sentences)
    above = sum(one.score > organised.placeholder for one in organised.sentences)
    return (
        f"organizer {shown(organised.name)} ({organised.sha256[:12]}): {kept} of"
        f" {len(organised.sentences)} sentences, {above} above the placeholder"
    )


def organises(method: Method) -> bool:
    """Whether a stage of the method asks for an organiser."""
    stage = method.select
    return isinstance(getattr(stage, "inner", stage), Organise)


def places_to_score(contexts: Sequence[Context], clean: str) -> list[tuple[int, int]]:
    """(context, sentence) of those that are scored: no headings, none too short.

    Where nothing is left, all that are no headings.
    """
    every = [
        (slot, at)
        for slot, context in enumerate(contexts)
        for at, sentence in enumerate(context.sentences)
        if not sentence.is_heading
    ]
    kept = [
        (slot, at)
        for slot, at in every
        if _clean(contexts[slot].sentences[at], contexts[slot].document.language or "en", clean)
    ]
    return kept or every


def _clean(sentence: Sentence, language: str, clean: str) -> bool:
    return long_enough(sentence.text, language) and (clean == "long" or complete(sentence.text))


def _texts(
    contexts: Sequence[Context], places: Sequence[tuple[int, int]], organiser: Organiser
) -> list[str]:
    """The sentences as the organiser reads them."""
    candidates = iter(candidates_of(contexts))
    rows = [[next(candidates) for _ in context.sentences] for context in contexts]
    found = [rows[slot][at] for slot, at in places]
    return [one.titled if organiser.titled else one.text for one in found]


def in_order(contexts: Sequence[Context], places: Sequence[tuple[int, int]]) -> tuple[Context, ...]:
    """The sentences in the order given, as contexts: one a run of neighbours of one passage."""
    return tuple(
        Context(
            contexts[places[first][0]].document,
            contexts[places[first][0]].heading,
            tuple(contexts[slot].sentences[at] for slot, at in places[first:last]),
            contexts[places[first][0]].score,
        )
        for first, last in runs([slot for slot, _ in places])
    )
