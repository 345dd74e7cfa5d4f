"""Messages between the index process and its workers.

length of the rest (8 bytes) · length of the JSON (8 bytes) · JSON · the text in UTF-8.
The text stands by itself so that a long one is neither escaped nor copied once more.
JSON, not pickle: a worker taken over by a hostile document must not be able to run
code in the process that reads its answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO, get_args

from ragcli.errors import SourceError
from ragcli.sources.read import Loaded, NotADocument
from ragcli.types import Block, BlockKind, Extracted, Span

PREFIX = 8  # bytes of the length, big endian
LARGEST = 1 << 29  # bytes in a message; more is a worker gone mad
_KINDS = frozenset(get_args(BlockKind))


def pack(message: dict[str, Any]) -> bytes:
    """The body of a message; `prefix(body)` goes before it."""
    text: bytes = message.get("text", "").encode("utf-8", "surrogatepass")
    rest = {key: value for key, value in message.items() if key != "text"}
    head = json.dumps(rest, separators=(",", ":")).encode("ascii")
    return prefix(head) + head + text


def prefix(body: bytes) -> bytes:
    return len(body).to_bytes(PREFIX, "big")


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message, None at the end of the stream."""
    head = stream.read(PREFIX)
    if len(head) < PREFIX:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    return None if len(body) < size else _parse(memoryview(body))


def unpack(received: bytearray) -> dict[str, Any]:
    """A whole message, prefix included. Raises ValueError or RecursionError if it is none."""
    with memoryview(received) as view:
        return _parse(view[PREFIX:])


def _parse(body: memoryview) -> dict[str, Any]:
    end = PREFIX + int.from_bytes(body[:PREFIX], "big")
    if end > len(body):
        raise ValueError("cut")
    message = json.loads(bytes(body[PREFIX:end]))
    if not isinstance(message, dict):
        raise ValueError("not an object")
    message["text"] = str(body[end:], "utf-8", "surrogatepass")
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
    """Raises KeyError, TypeError, ValueError or OverflowError for what no worker of ours sends."""
    text: str = message["text"]
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
    _check_within(spans, len(text))
    _check_within(extracted.blocks, len(text))
    if not _KINDS.issuperset(block.kind for block in extracted.blocks):
        raise ValueError("no kind of block")
    return Loaded(str(message["sha256"]), extracted, str(message["language"]), spans)


def _check_within(spans: Sequence[Span | Block], length: int) -> None:
    """Raises ValueError unless they ascend within a text of that length."""
    at = 0
    for span in spans:
        if not at <= span.start <= span.end <= length:
            raise ValueError("outside the text")
        at = span.start
