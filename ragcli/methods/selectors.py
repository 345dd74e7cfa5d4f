"""Selection stages that need no trained model: passages by rank, sentences by similarity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcli.decoding.options import DECODERS
from ragcli.methods.frames import heading_of
from ragcli.methods.retrieval import scaled
from ragcli.methods.stages import Context, Selection, Tools
from ragcli.selection.extraction import Candidate
from ragcli.text.labels import other_one
from ragcli.text.normalise import readable
from ragcli.text.words import keys_of
from ragcli.types import Hit, Sentence

_NUMBERED = re.compile(r"^(?:\d+\.)*\d+\.?\s+")
_ENDS = tuple(".!?…。！？।")
BY_RANK = "passages by rank"
BY_SIMILARITY = "passages by rank, sentences by encoder similarity"


@dataclass(frozen=True, slots=True)
class TopPassages:
    """The first `retrieval.k` passages whole; the last one below them is the noise reference.

    With sentences, and for a decoder with a sentence branch, the `fke.m` sentences of those
    passages that are most similar to the question.
    """

    sentences: bool = False

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        k = tools.number("retrieval.k")
        used = contexts[:k]
        fine: tuple[Context, ...] = ()
        extracts = self.sentences or DECODERS[tools.decode].second == "fine"
        if extracts:
            ranked = rank_sentences(question, hits[:k], tools)
            fine = only(used, (sentence.id for sentence in ranked[: tools.settings.fke.m]))
        noise = contexts[-1] if len(contexts) > k else None
        return Selection(used, fine, noise, BY_SIMILARITY if extracts else BY_RANK)


def contexts_of(hits: Sequence[Hit]) -> tuple[Context, ...]:
    """The hits' passages whole, by rank, with their retrieval scores scaled to [0, 1]."""
    return tuple(
        Context(hit.document, hit.passage.heading, hit.passage.sentences, score)
        for hit, score in zip(hits, scaled(hits), strict=True)
    )


def candidates_of(contexts: Sequence[Context]) -> list[Candidate]:
    """The contexts' sentences in order, each under its document's title."""
    return [
        Candidate(readable(sentence.text), heading_of(context), context.document.language or "en")
        for context in contexts
        for sentence in context.sentences
    ]


def rank_sentences(question: str, hits: Sequence[Hit], tools: Tools) -> list[Sentence]:
    """Sentences of the hits, the most similar to the question first, headings after all others.

    So are fragments that only repeat words of the question, headings in all but name, and what
    speaks of another one than was asked of ("Pump B", not "Pump A"). Ties: by rank and text order.
    """
    sentences = [sentence for hit in hits for sentence in hit.passage.sentences]
    last = [
        sentence.is_heading or _beside(sentence.text, question, hit.document.language or "en")
        for hit in hits
        for sentence in hit.passage.sentences
    ]
    if not sentences:
        return []
    if all(len(hit.sentence_scores) == len(hit.passage.sentences) for hit in hits):
        scores = [score for hit in hits for score in hit.sentence_scores]
    else:
        vectors = tools.encode([question, *(sentence.text for sentence in sentences)])
        scores = (vectors[1:] @ vectors[0]).tolist()
    order = sorted(range(len(sentences)), key=lambda i: (last[i], -scores[i], i))
    return [sentences[i] for i in order]


def _beside(text: str, question: str, language: str) -> bool:
    return _echoes(text, question, language) or bool(other_one(question, readable(text), language))


def _echoes(text: str, question: str, language: str) -> bool:
    """Whether it is no whole sentence and, its number aside, holds no word beside the question's."""
    bare = _NUMBERED.sub("", text.strip())
    if bare.endswith(_ENDS):
        return False
    return keys_of(bare, language) <= keys_of(question, language)


def only(contexts: Sequence[Context], sentence_ids: Iterable[int]) -> tuple[Context, ...]:
    """The contexts with only the given sentences; contexts without any go."""
    wanted = set(sentence_ids)
    kept = []
    for context in contexts:
        sentences = tuple(s for s in context.sentences if s.id in wanted)
        if sentences:
            kept.append(Context(context.document, context.heading, sentences, context.score))
    return tuple(kept)
