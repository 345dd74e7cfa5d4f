"""Small invented passages as hits, and a lexicon."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.selection.matching import Lexicon
from ragcli.text.words import alike, words
from ragcli.types import Document, Expected, Hit, Passage, Sentence

OFFSET = 40  # where each passage begins in its document


def holds(expects: Expected, text: str, known: frozenset[str]) -> bool:
    """A name or figure that is not known already."""
    kinds = ("name",) if expects == "name" else ("number",)
    return any(word.kind in kinds and word.key not in known for word in words(text))


LEXICON = Lexicon(partial(words, language="en"), alike, holds)


def hit(rank: int, *texts: str, title: str = "", score: float | None = None) -> Hit:
    """Passage `rank`, one sentence a text, OFFSET characters into its document."""
    sentences, at = [], OFFSET
    for number, text in enumerate(texts):
        sentences.append(
            Sentence(100 * rank + number, rank, rank, at, at + len(text), text, None, 1)
        )
        at += len(text) + 1
    passage = Passage(rank, rank, OFFSET, at - 1, " ".join(texts), None, 1, "", tuple(sentences))
    document = Document(rank, Path("/notes"), f"{rank}.txt", "text", title, "0" * 64, "en")
    return Hit(rank, 1.0 / rank if score is None else score, document, passage)


class Meanings:
    """An encoder by hand: texts of one group are alike (0.9), all others are at right angles."""

    def __init__(self, *groups: Sequence[str]) -> None:
        self._groups = groups
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        rows = np.zeros((len(texts), 4096), np.float32)
        for row, text in enumerate(texts):
            own = 64 + zlib.crc32(text.encode("utf-8", "replace")) % 4032
            group = next((n for n, g in enumerate(self._groups) if text in g), None)
            if group is None:
                rows[row, own] = 1.0
            else:
                rows[row, group], rows[row, own] = 0.95, np.sqrt(1 - 0.95**2)
        return rows
