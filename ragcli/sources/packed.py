"""Gzip, of which manual pages alone are unpacked: as they are installed, they are packed."""

from __future__ import annotations

import zlib

from ragcli.errors import SourceError

MAGIC = b"\x1f\x8b"
MOST = 16 << 20  # bytes unpacked; the longest manual pages have one million
_WITH_HEADER = 31  # zlib: a gzip header, the largest window


def start_of(head: bytes, most: int) -> bytes:
    """The first bytes of what is packed, as far as they can be had; b"" for none."""
    try:
        return zlib.decompressobj(_WITH_HEADER).decompress(head, most)
    except zlib.error:
        return b""


def unpacked(data: bytes) -> bytes:
    """What is packed. Raises SourceError: damaged, cut off, more than `MOST`."""
    packed = zlib.decompressobj(_WITH_HEADER)
    try:
        out = packed.decompress(data, MOST)
    except zlib.error as error:
        raise SourceError("damaged gzip file") from error
    if packed.unconsumed_tail:
        raise SourceError("uncompressed size is out of bounds (a bomb?)")
    if not packed.eof:
        raise SourceError("damaged gzip file (cut off)")
    return out
