"""How well each sentence of a hit answers the query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.text.analysis import analyse
from ragcli.types import Passage, Sentence

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def by_similarity(
    passages: Sequence[Passage], query: NDArray[np.float32], encode: Encode
) -> list[tuple[float, ...]]:
    """Cosine of the query (dimension,) with every sentence; all are encoded in one batch."""
    texts = [sentence.text for passage in passages for sentence in passage.sentences]
    if not texts:
        return [() for _ in passages]
    scores = (encode(texts) @ query).tolist()
    out, at = [], 0
    for passage in passages:
        out.append(tuple(scores[at : at + len(passage.sentences)]))
        at += len(passage.sentences)
    return out


def by_overlap(
    passages: Sequence[Passage], languages: Sequence[str], variants: Sequence[Sequence[str]]
) -> list[tuple[float, ...]]:
    """Share of the query's terms that a sentence holds, of the variant that fits it best."""
    wanted = [frozenset(terms) for terms in variants if terms]
    return [
        tuple(_overlap(frozenset(analyse(s.text, language)), wanted) for s in passage.sentences)
        for passage, language in zip(passages, languages, strict=True)
    ]


def best_of(sentences: Sequence[Sentence], scores: Sequence[float]) -> int | None:
    """Index of the best sentence, a heading only where there is nothing else; ties: the first."""
    if not scores:
        return None
    stating = [at for at, sentence in enumerate(sentences) if not sentence.is_heading]
    return max(stating or range(len(sentences)), key=lambda at: scores[at])


def _overlap(terms: frozenset[str], wanted: Sequence[frozenset[str]]) -> float:
    return max((len(terms & variant) / len(variant) for variant in wanted), default=0.0)
