"""Saved answers for tests, as `ask --json` prints them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

QUESTION = "What is the code of the door?"


def citation(path: Path, text: str, /, number: int = 1, **changes: Any) -> dict[str, Any]:
    """A citation of `text` where it stands in a text file."""
    data = path.read_bytes()
    whole = data.decode("utf-8", "surrogateescape")
    start = whole.index(text)
    return {
        "number": number,
        "path": str(path),
        "relative": path.name,
        "type": "text",
        "title": "",
        "sha256": hashlib.sha256(data).hexdigest(),
        "page": None,
        "line": whole.count("\n", 0, start) + 1,
        "place": None,
        "start": start,
        "end": start + len(text),
        "heading": "",
        "text": text,
        "score": 0.9,
        "verdict": "supported",
    } | changes


def sentence(
    text: str, *citations: dict[str, Any], start: int = 0, verdict: str = "supported"
) -> dict[str, Any]:
    return {
        "start": start,
        "end": start + len(text),
        "text": text,
        "verdict": verdict,
        "citations": list(citations),
        "false_quotations": [],
    }


def answer(*sentences: dict[str, Any], text: str | None = None, **changes: Any) -> dict[str, Any]:
    """An answer of these sentences, at the places that they name."""
    if text is None:
        text = ""
        for one in sentences:
            text = text.ljust(one["start"]) + one["text"]
    return {
        "schema": "ragcli/answer@1",
        "question": QUESTION,
        "answer": text,
        "abstained": not text,
        "reason": "" if text else "nothing fits",
        "searched": None,
        "stop": "end",
        "method": "plain",
        "model": None,
        "seed": 0,
        "parameters": {},
        "sentences": list(sentences),
        "tokens": [],
        "hits": [],
        "selected": [],
        "timings": {},
        "trace": None,
        "warnings": [],
        "provenance": {"verifier": "lexical", "language": "en"},
    } | changes
