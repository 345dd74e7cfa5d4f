"""Questions with their own passages and labels, as hits: what selection is measured on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.selection.signals import best, bm25, fused
from ragcli.types import Document, Hit, Passage, Sentence

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data" / "qa"

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Item:
    """A question and its retrieved passages, best first.

    gold: ids of the needed sentences; gold_passages: of the passages that hold one. Those that
    were not among the retrieved ones count as missed.
    """

    question: str
    hits: tuple[Hit, ...]
    gold: frozenset[int]
    gold_passages: frozenset[int]


def rows(name: str, count: int, skip: int = 0) -> list[dict[str, object]]:
    """The first `count` rows of a set, after `skip`."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file][skip : skip + count]


def item(row: dict[str, object], encode: Encode, candidates: int = 10) -> Item:
    """The row's passages by BM25 and encoder, the first `candidates` of them."""
    passages = [_hit(number, one) for number, one in enumerate(row["passages"], 1)]  # type: ignore[arg-type]
    question = str(row["question"])
    texts = [f"{hit.document.title}\n{hit.passage.text}" for hit in passages]
    vectors = encode([question, *texts])
    similar = np.asarray(vectors[1:] @ vectors[0], np.float64)
    scores = fused(bm25(question, texts, ["en"] * len(texts)), similar)
    order = best(scores, candidates)
    gold = {
        100 * number + at
        for number, one in enumerate(row["passages"], 1)  # type: ignore[arg-type]
        for at, needed in enumerate(one["gold"])
        if needed
    }
    return Item(
        question,
        tuple(_ranked(passages[at], rank, scores[at]) for rank, at in enumerate(order, 1)),
        frozenset(gold),
        frozenset(one // 100 for one in gold),
    )


def _hit(number: int, row: dict[str, list[str]]) -> Hit:
    title = str(row["title"])
    document = Document(number, DATA, f"{number}.txt", "text", title, "", "en")
    sentences: list[Sentence] = []
    start = 0
    for at, text in enumerate(row["sentences"]):
        kept = text.strip()
        end = start + len(kept)
        sentences.append(Sentence(100 * number + at, number, number, start, end, kept, None, 1))
        start = end + 1
    whole = " ".join(sentence.text for sentence in sentences)
    passage = Passage(number, number, 0, len(whole), whole, None, 1, "", tuple(sentences))
    return Hit(number, 0.0, document, passage)


def _ranked(hit: Hit, rank: int, score: float) -> Hit:
    return Hit(rank, float(score), hit.document, hit.passage)


def prf(chosen: frozenset[int], gold: frozenset[int]) -> tuple[float, float, float]:
    """Knowledge precision, recall and F1 of one question."""
    right = len(chosen & gold)
    precision = right / len(chosen) if chosen else 0.0
    recall = right / len(gold) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1
