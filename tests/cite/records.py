"""Sources and documents for tests of attribution."""

from __future__ import annotations

from pathlib import Path

from ragcli.types import Document, Sentence, Source

ISLAND = Document(1, Path("/notes"), "island.md", "markdown", "Island", "0" * 64, "en")
DOCUMENTS = {1: ISLAND}


def sources(*texts: str) -> tuple[Source, ...]:
    """One source a text, all of one document, ids from 1."""
    made, at = [], 0
    for number, text in enumerate(texts, start=1):
        made.append(Source(0, Sentence(number, 1, 1, at, at + len(text), text, None, number)))
        at += len(text) + 1
    return tuple(made)
