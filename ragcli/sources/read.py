"""One file in, its text, sentences and hash out. Runs inside worker processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ragcli.errors import SourceError
from ragcli.sources.formats import FORMATS, HEAD, MIB, SIZE_LIMITS, TAIL, inspect
from ragcli.sources.nodes import special
from ragcli.types import Extracted, FileEntry, Span

_NOTHING = "no text in it"
_UNSAID = "no readable text"
_BLANK = b" \t\r\n\f\v\0\xef\xbb\xbf\xff\xfe"  # white space and marks of encodings
# Kinds that people write, in which nothing to read is no fault of the file or of ours.
_MAY_BE_EMPTY = frozenset(
    ("text", "code", "markdown", "csv", "rst", "org", "latex", "man", "notebook", "json", "jsonl")
)


class NotADocument(SourceError):
    """The file is none that ragcli reads: binary, too large, nothing in it (status skipped)."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file read. `sha256` is of the file's bytes, hex; `language` ISO 639-1 or ""."""

    entry: FileEntry
    sha256: str
    extracted: Extracted
    language: str
    sentences: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """`Parsed` without the entry: what a worker sends back."""

    sha256: str
    extracted: Extracted
    language: str
    sentences: tuple[Span, ...]


_FLAGS = ("O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file. It may have become something else since the walk: a FIFO, a device, a link."""
    flags = os.O_RDONLY
    for name in _FLAGS:
        flags |= getattr(os, name, 0)
    try:
        node = special(path.lstat().st_mode)
        descriptor = -1 if node else os.open(path, flags)
    except OSError as error:
        raise SourceError((error.strerror or "cannot be opened").lower()) from error
    if node:  # opening a device may do something
        raise NotADocument(f"{node}, not a file")
    with os.fdopen(descriptor, "rb") as file:
        if node := special(os.fstat(descriptor).st_mode):
            raise NotADocument(f"{node}, not a file")
        yield file


def _tail(file: BinaryIO, size: int) -> bytes:
    """The last `TAIL` bytes; the file stays where it is."""
    at = file.tell()
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    file.seek(at)
    return tail


def _read(path: Path, limit: int | None) -> tuple[bytes, str]:
    """(bytes, kind). The size is checked before anything but the head is read."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise NotADocument("empty")
        try:
            head = file.read(HEAD)
            found = inspect(path, head, _tail(file, size) if head.startswith(b"PK") else b"")
            most = SIZE_LIMITS.get(found.kind or "text", 0) if limit is None else limit
            if size > most and (found.kind or found.reason == "binary"):
                raise NotADocument(f"larger than {most / MIB:.4g} MiB")
            if found.kind is None:
                raise NotADocument(found.reason)
            data = head + file.read(most + 1 - len(head))
        except OSError as error:
            raise SourceError((error.strerror or "cannot be read").lower()) from error
    if len(data) > most:
        raise NotADocument(f"larger than {most / MIB:.4g} MiB")
    return data, found.kind


def _extract(path: Path, data: bytes, kind: str) -> Extracted:
    extracted = FORMATS[kind](data, path.suffix.lower())
    if not extracted.text.strip():
        if kind not in _MAY_BE_EMPTY:
            raise SourceError(_NOTHING)
        raise NotADocument(_UNSAID if data.strip(_BLANK) else "empty")
    return extracted


def load(path: Path, *, limit: int | None = None) -> Extracted:
    """The text and structure of one file.

    limit: bytes; by default 64 MiB for text, 256 MiB for PDF and DOCX.
    Raises SourceError (NotADocument for what is binary, empty or too large).
    """
    data, kind = _read(path, limit)
    return _extract(path, data, kind)


def load_whole(path: Path, *, limit: int | None = None) -> Loaded:
    """`load`, with the hash of the same bytes, the language and the sentence spans."""
    from ragcli.text.language import detect
    from ragcli.text.sentences import split_sentences

    data, kind = _read(path, limit)
    sha256 = hashlib.sha256(data).hexdigest()
    extracted = _extract(path, data, kind)
    del data
    language = detect(extracted.text)
    sentences = tuple(split_sentences(extracted.text, extracted.blocks, language))
    return Loaded(sha256, extracted, language, sentences)
