"""Sentences of all passages in the order of one score, and of them the best ones.

What a trained organiser is to be compared with (the rerankers beside paper 002's): it reads the
same sentences, and the prompt has the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcli.decoding.options import Setting
from ragcli.methods.ko_rag import laid_out, places_to_score
from ragcli.methods.selectors import candidates_of, contexts_of
from ragcli.methods.stages import Selection, Tools
from ragcli.selection.extraction import Candidate
from ragcli.selection.organiser import organise
from ragcli.selection.scorers import EncoderScorer, GeneratorScorer
from ragcli.selection.signals import Scores, bm25
from ragcli.text.normalise import readable
from ragcli.types import Hit

_NAMES = {
    "hybrid": "BM25 and encoder",
    "bm25": "BM25",
    "encoder": "similarity",
    "likelihood": "likelihood of the question",
}
ORDERED_SETTINGS: dict[str, Setting] = {
    "ordered.by": Setting(
        str, "hybrid", "what scores the sentences: BM25 and encoder fused, one of them, or how"
        " likely the generator finds the question after a sentence", "ours",
        choices=tuple(_NAMES),
    ),
    "ordered.most": Setting(
        int, 8, "best sentences in the prompt, in their order", "ours", low=1, high=1000
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ordered:
    """The `ordered.most` best sentences of all passages, best first, in that order.

    Documents, sentences and the noise reference are laid out as `Organise` does it.
    """

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        places = places_to_score(contexts, "long")
        rows = iter(candidates_of(contexts))
        by_context = [[next(rows) for _ in context.sentences] for context in contexts]
        candidates = [by_context[slot][at] for slot, at in places]
        by = tools.choice("ordered.by")
        scores = _scores(question, candidates, by, tools)
        order = organise(scores.tolist(), -np.inf, most=tools.number("ordered.most"))
        documents, chosen, noise = laid_out(contexts, [places[at] for at in order.kept], tools)
        told = f"{len(order.kept)} of {len(places)} sentences by {_NAMES[by]}"
        return Selection(documents, chosen, noise, told)


def _scores(question: str, candidates: Sequence[Candidate], by: str, tools: Tools) -> Scores:
    """(n,), the higher the better."""
    texts = [readable(one.titled) for one in candidates]
    query = readable(question)
    if not texts:
        return np.zeros(0)
    match by:
        case "bm25":
            return bm25(query, texts, [one.language for one in candidates])
        case "encoder":
            target, *vectors = tools.encode([query, *texts])
            return np.asarray(np.stack(vectors) @ target, np.float64)
        case "likelihood":
            tools.at("scoring sentences")
            return GeneratorScorer(candidates, tools.generator, "question").sentences(question, ())
        case _:
            return EncoderScorer(candidates, tools.encode).sentences(question, ())
