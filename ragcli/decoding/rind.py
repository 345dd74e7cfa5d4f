"""DRAGIN: when to retrieve again (RIND) and for what (QFS). Pure.

Paper 000, appendix A.2, eq. 11-15. Eq. 13 prints A_{i,j} with j > i, which a causal mask
makes 0; meant is the attention that later tokens pay to token i. So a sentence is judged
once it is written. Attention rows are means over the heads: the maximum over later positions
is one of the mean, where the original takes the mean over heads of their maxima.

A *row* is what `Step.looked` holds: row k of a pass (its k-th token's) is the attention of the
position that predicts token k over the prompt and tokens 0..k-1; its last entry is what the
position pays to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.text.words import Word, words
from ragcli.types import Span

Floats = NDArray[np.float64]
Row = Sequence[float]
NO_WORD = -1


@dataclass(frozen=True, slots=True)
class Scored:
    """A word of a sentence with its RIND score. token: index of its first token in the sentence."""

    text: str
    score: float
    token: int


def impacts(rows: Sequence[Row], prompt: int, first: int, last: int) -> Floats:
    """a_max of tokens first..last-1 of a pass, (last - first,): eq. 13, within the sentence.

    rows: of the pass, one a token, with one more where the end token's is known. prompt:
    tokens before the pass. A token that no later token of the sentence looks back at has 0.
    """
    out = np.zeros(last - first)
    for token in range(first, last):
        later = rows[
            token + 2 : last + 1
        ]  # row k is of position k - 1, so later means k > token + 1
        out[token - first] = max((row[prompt + token] for row in later), default=0.0)
    return out


def ranges(texts: Sequence[str]) -> list[Span]:
    """Where each token's text stands in the whole; a token may be empty (part of a character)."""
    out, at = [], 0
    for text in texts:
        out.append(Span(at, at + len(text)))
        at += len(text)
    return out


def owners(spans: Sequence[Span], found: Sequence[Word]) -> list[int]:
    """For each token the first word it overlaps, or NO_WORD.

    An empty token belongs to the same word as the token that completes its character.
    """
    out: list[int] = []
    at = 0
    for span in spans:
        while at < len(found) and found[at].end <= span.start:
            at += 1
        inside = at < len(found) and span.start < found[at].end and found[at].start < span.end
        waits = not len(span) and at < len(found) and found[at].start <= span.start
        out.append(at if inside or waits else NO_WORD)
    return out


def rind(
    texts: Sequence[str], entropies: Sequence[float], impact: Sequence[float], language: str = "en"
) -> tuple[Scored, ...]:
    """Eq. 15 for the words of a sentence, in order: entropy x impact x (no stop word).

    texts, entropies (nats, eq. 11), impact (`impacts`): one a token. Sub-words are merged:
    impacts add up, entropies are averaged. Impacts are normalised over the sentence's words,
    stop words included, and multiplied by their number, so that the average word weighs 1.
    """
    found = words("".join(texts), language)
    owner = np.asarray(owners(ranges(texts), found), np.intp)
    held = [at for at in range(len(found)) if (owner == at).any()]
    mass = np.asarray([np.asarray(impact, np.float64)[owner == at].sum() for at in held])
    surprise = np.asarray([np.asarray(entropies, np.float64)[owner == at].mean() for at in held])
    total = float(mass.sum())
    weight = mass * len(held) / total if total > 0 else np.zeros(len(held))
    return tuple(
        Scored(
            found[at].text,
            0.0 if found[at].kind == "stop" else float(weight[n] * surprise[n]),
            int(np.flatnonzero(owner == at)[0]),
        )
        for n, at in enumerate(held)
    )


def first_above(scored: Sequence[Scored], theta: float) -> Scored | None:
    """The first word whose score exceeds theta, None if no word's does."""
    return next((one for one in scored if one.score > theta), None)


def query(texts: Sequence[str], weights: Row, top_n: int, language: str = "en") -> str:
    """QFS: the `top_n` content words that are attended to most, in the order of the text.

    texts, weights: one a token of the text looked back on. Sub-words are merged and their
    attention added up, as is that of a word that comes again; it stands where it came first.
    """
    found = words("".join(texts), language)
    mass: dict[str, float] = {}
    place: dict[str, Word] = {}
    for at, weight in zip(owners(ranges(texts), found), weights, strict=True):
        if at != NO_WORD and found[at].kind != "stop":
            key = found[at].key
            mass[key] = mass.get(key, 0.0) + weight
            place.setdefault(key, found[at])
    best = sorted(mass, key=lambda key: (-mass[key], place[key].start))[:top_n]
    return " ".join(place[key].text for key in sorted(best, key=lambda key: place[key].start))
