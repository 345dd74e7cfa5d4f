"""Scores of candidate sentences, and how several are put together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.index.fusion import RRF_K
from ragcli.text.analysis import analyse, analyse_query

Scores = NDArray[np.float64]
_K1, _B = 1.2, 0.75


def bm25(query: str, texts: Sequence[str], languages: Sequence[str]) -> Scores:
    """(n,) BM25 of each text, document frequencies over the texts themselves.

    languages: of each text. A query is analysed once a language; the best reading counts.
    """
    if not texts:
        return np.zeros(0)
    counts = [
        Counter(analyse(text, language)) for text, language in zip(texts, languages, strict=True)
    ]
    lengths = np.array([max(1, sum(count.values())) for count in counts], np.float64)
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    readings = [_reading(terms, counts, norm) for terms in analyse_query(query, set(languages))]
    return np.max(readings, axis=0) if readings else np.zeros(len(texts))


def _reading(terms: Sequence[str], counts: Sequence[Counter[str]], norm: Scores) -> Scores:
    """(n,) BM25 for one analysis of the query; each of its terms counts once."""
    total = np.zeros(len(counts))
    for term in dict.fromkeys(terms):
        tf = np.array([count[term] for count in counts], np.float64)
        df = np.count_nonzero(tf)
        idf = np.log1p((len(counts) - df + 0.5) / (df + 0.5))
        total += idf * tf * (_K1 + 1) / (tf + norm)
    return total


def ranks(scores: Scores) -> Scores:
    """(n,) 1-based ranks by descending score; ties by position."""
    out = np.empty(len(scores), np.float64)
    out[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return out


def fused(*signals: Scores) -> Scores:
    """(n,) reciprocal rank fusion (k = 60) of score arrays, each (n,)."""
    return np.asarray(np.sum([1.0 / (RRF_K + ranks(scores)) for scores in signals], axis=0))


def best(scores: Scores, most: int) -> tuple[int, ...]:
    """Indices of the `most` highest scores, best first; ties by position."""
    return tuple(int(at) for at in np.argsort(-scores, kind="stable")[:most])
