"""How arrays and texts are packed into the catalog's blobs. Pure."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import IndexUnusable
from ragcli.index.schema import CHUNK

FIELDS = 5  # of a packed sentence
MOST_BYTES = 64 << 20  # a blob that unpacks to more is not ours


def pack_sentences(rows: Sequence[tuple[int, int, int, int, int]]) -> bytes:
    """(start, end, line, page or 0, 1 for a heading) of each sentence."""
    return np.array(rows, "<i4").reshape(-1, FIELDS).tobytes()


def unpack_sentences(data: bytes) -> NDArray[np.int32]:
    """int32 (n, 5)."""
    if len(data) % (4 * FIELDS):
        raise IndexUnusable("the catalog's sentences are damaged")
    return np.frombuffer(data, "<i4").reshape(-1, FIELDS)


def pack_places(labels: Sequence[str]) -> str:
    """The place of each sentence as JSON, "" where none has one."""
    return json.dumps(labels, separators=(",", ":")) if any(labels) else ""


def unpack_places(data: str, count: int) -> list[str]:
    """`count` labels. Raises IndexUnusable for anything else."""
    if not data:
        return [""] * count
    try:
        labels = json.loads(data)
    except ValueError as error:
        raise IndexUnusable("the catalog's places are damaged") from error
    if not isinstance(labels, list) or len(labels) != count:
        raise IndexUnusable("the catalog's places are damaged")
    return [str(label) for label in labels]


def pack_terms(title: str, heading: str, body: str) -> bytes:
    return zlib.compress(f"{title}\n{heading}\n{body}".encode("utf-8", "replace"), 1)


def unpack_terms(data: bytes) -> tuple[str, str, str]:
    fields = _inflate(data).decode("utf-8", "replace").split("\n")
    if len(fields) != 3:
        raise IndexUnusable("the catalog's terms are damaged")
    return fields[0], fields[1], fields[2]


def pack_text(text: str) -> Iterator[tuple[int, bytes]]:
    """(offset, compressed piece) of CHUNK code points each."""
    for start in range(0, len(text), CHUNK):
        piece = text[start : start + CHUNK].encode("utf-8", "surrogatepass")
        yield start, zlib.compress(piece, 3)


def unpack_text(data: bytes) -> str:
    return _inflate(data).decode("utf-8", "surrogatepass")


def _inflate(data: bytes) -> bytes:
    """Raises IndexUnusable for what is not a whole stream of bearable size."""
    stream = zlib.decompressobj()
    try:
        out = stream.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise IndexUnusable(f"the catalog is damaged ({error})") from error
    if not stream.eof:
        raise IndexUnusable("the catalog is damaged (a compressed text is cut or too long)")
    return out
