"""Messages between the index process and its workers: length-prefixed JSON.

JSON, not pickle: a worker taken over by a hostile document must not be able to run
code in the process that reads its answers.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from ragcli.errors import SourceError
from ragcli.sources.read import Loaded, NotADocument
from ragcli.types import Block, Extracted, Span

PREFIX = 8  # bytes of the length, big endian
LARGEST = 1 << 30  # bytes in a message; more is a worker gone mad


def pack(message: dict[str, Any]) -> bytes:
    """The body of a message; `prefix(body)` goes before it."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def prefix(body: bytes) -> bytes:
    return len(body).to_bytes(PREFIX, "big")


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message, None at the end of the stream."""
    head = stream.read(PREFIX)
    if len(head) < PREFIX:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    if len(body) < size:
        return None
    message: dict[str, Any] = json.loads(body)
    return message


def unpack(received: bytearray) -> dict[str, Any]:
    """A whole message, prefix included. Raises ValueError if it is no JSON object."""
    message = json.loads(memoryview(received)[PREFIX:].tobytes())
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message


def loaded_message(loaded: Loaded) -> dict[str, Any]:
    extracted = loaded.extracted
    return {
        "sha256": loaded.sha256,
        "language": loaded.language,
        "sentences": [at for span in loaded.sentences for at in (span.start, span.end)],
        "text": extracted.text,
        "kind": extracted.kind,
        "blocks": [[b.start, b.end, b.kind, b.level, b.name] for b in extracted.blocks],
        "title": extracted.title,
        "page_starts": extracted.page_starts,
        "missing_pages": extracted.missing_pages,
        "notes": extracted.notes,
        "places": extracted.places,
        "missing": extracted.missing,
    }


def error_message(error: SourceError) -> dict[str, Any]:
    return {"error": error.message, "skipped": isinstance(error, NotADocument)}


def loaded_from(message: dict[str, Any]) -> Loaded:
    """Raises KeyError, TypeError or ValueError for what no worker of ours would send."""
    text = message["text"]
    if not isinstance(text, str):
        raise TypeError("text")
    ends = message["sentences"]
    extracted = Extracted(
        text=text,
        kind=str(message["kind"]),
        blocks=tuple(
            Block(int(a), int(b), k, int(n), str(name)) for a, b, k, n, name in message["blocks"]
        ),
        title=str(message["title"]),
        page_starts=tuple(map(int, message["page_starts"])),
        missing_pages=tuple(map(int, message["missing_pages"])),
        notes=tuple(map(str, message["notes"])),
        places=tuple((int(at), str(label)) for at, label in message["places"]),
        missing=tuple(map(str, message["missing"])),
    )
    spans = tuple(Span(int(a), int(b)) for a, b in zip(ends[::2], ends[1::2], strict=True))
    if spans and spans[-1].end > len(text):
        raise ValueError("sentence outside the text")
    return Loaded(str(message["sha256"]), extracted, str(message["language"]), spans)
