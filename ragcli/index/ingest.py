"""From a parsed file to rows of the catalog: passages, terms, vectors."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.encoders.base import Encoder
from ragcli.index.embedding import Embedder
from ragcli.index.packing import pack_places, pack_sentences, pack_terms
from ragcli.index.scan import Work
from ragcli.index.writer import FileRow, PassageRow, Writer, storable
from ragcli.sources.load import Parsed
from ragcli.text.analysis import analyse
from ragcli.text.lines import LineIndex
from ragcli.text.passages import PassageCut, context_length, cut_passages, embedded_text
from ragcli.types import Extracted, FileStatus

NO_TEXT = "no readable text"
MISSING_NAMED = 3  # parts without text that a reason lists
ENCODE_AT_ONCE = 2048  # one file may have far more passages than a batch of small ones


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that waits for its vectors. `texts` are what the encoder reads, one a passage."""

    work: Work
    row: FileRow
    passages: tuple[PassageRow, ...]
    texts: tuple[str, ...]


def prepare(work: Work, root: int, parsed: Parsed, encoder: Encoder) -> Prepared:
    """Cuts a file into passages and analyses their terms."""
    extracted = parsed.extracted
    limit = encoder.identity.text_tokens
    cuts = cut_passages(
        extracted.text, extracted.blocks, parsed.sentences, encoder.count_tokens, limit,
        extracted.title,
    )  # fmt: skip
    longest = context_length(limit)
    texts = tuple(
        embedded_text(extracted.title, cut.heading, cut.span.of(extracted.text), longest)
        for cut in cuts
    )
    places = _Places(extracted)
    title = " ".join(analyse(extracted.title, parsed.language))
    passages = tuple(
        _passage(cut, extracted, places, parsed.language, title, _key(encoder, text))
        for cut, text in zip(cuts, texts, strict=True)
    )
    return Prepared(work, _file_row(work, root, parsed, bool(cuts)), passages, texts)


@dataclass(frozen=True, slots=True)
class Pending:
    """Files whose new texts are being encoded: `parts` are their keys and vectors to come."""

    batch: tuple[Prepared, ...]
    parts: tuple[tuple[tuple[bytes, ...], Future[NDArray[np.float32]]], ...]

    @property
    def coming(self) -> frozenset[bytes]:
        return frozenset(key for keys, _ in self.parts for key in keys)


Known = Callable[[Mapping[bytes, str]], Collection[bytes]]


def start(
    batch: Sequence[Prepared], embedder: Embedder, known: Known, coming: Collection[bytes]
) -> Pending:
    """Begins to encode what is new in a batch of files.

    known: of texts by key, the keys of those whose vectors are there. coming: keys that the
    batch before, which is not finished yet, brings.
    """
    texts = {
        passage.key: text
        for prepared in batch
        for passage, text in zip(prepared.passages, prepared.texts, strict=True)
    }
    texts = {key: text for key, text in texts.items() if key not in coming}
    there = known(texts)
    new = [key for key in texts if key not in there]
    parts = [new[at : at + ENCODE_AT_ONCE] for at in range(0, len(new), ENCODE_AT_ONCE)]
    return Pending(
        tuple(batch),
        tuple((tuple(part), embedder.start([texts[key] for key in part])) for part in parts),
    )


def finish(writer: Writer, pending: Pending) -> None:
    """Enters the files of a batch, once their vectors are there."""
    for keys, vectors in pending.parts:
        for key, vector in zip(keys, vectors.result().astype("<f4"), strict=True):
            writer.add_vector(key, vector.tobytes())
    every = {passage.key for prepared in pending.batch for passage in prepared.passages}
    ids = writer.known_vectors(list(every))
    for prepared in pending.batch:
        if prepared.work.known is not None:
            writer.drop([prepared.work.known.id])
        writer.add(prepared.row, prepared.passages, ids)


def bad_row(work: Work, root: int, status: FileStatus, reason: str) -> FileRow:
    """A file that was skipped or failed, so that it stays accounted for."""
    return FileRow(root, work.relative, work.stored, status, reason, work.sha256)


def missing_reason(extracted: Extracted) -> str:
    """ "no text on pages 2, 4-6 of 9", what other parts are missing, or "" if none is."""
    reasons = [_missing_pages(extracted)] if extracted.missing_pages else []
    reasons += extracted.missing[:MISSING_NAMED]
    if (rest := len(extracted.missing) - MISSING_NAMED) > 0:
        reasons.append(f"{rest} more")
    return "; ".join(reasons)


def _missing_pages(extracted: Extracted) -> str:
    runs: list[list[int]] = []
    for page in sorted(extracted.missing_pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    listed = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    word = "page" if len(extracted.missing_pages) == 1 else "pages"
    return f"no text on {word} {listed} of {len(extracted.page_starts)}"


class _Places:
    """Page and line of an offset, and whether it lies in a heading."""

    def __init__(self, extracted: Extracted) -> None:
        self._lines = LineIndex(extracted.text)
        self._pages = extracted.page_starts
        self._places = extracted.places
        headings = [block for block in extracted.blocks if block.kind == "heading"]
        self._headings = [block.start for block in headings]
        self._ends = [block.end for block in headings]

    def line(self, offset: int) -> int:
        return self._lines.line(offset)

    def page(self, offset: int) -> int:
        """1-based; 0 for formats without pages."""
        return max(1, bisect_right(self._pages, offset)) if self._pages else 0

    def label(self, offset: int) -> str:
        """The place in the file, "" for formats that need none."""
        at = bisect_right(self._places, offset, key=lambda place: place[0]) - 1
        return self._places[at][1] if at >= 0 else ""

    def in_heading(self, offset: int) -> int:
        """1 or 0."""
        at = bisect_right(self._headings, offset) - 1
        return int(at >= 0 and offset < self._ends[at])


def _passage(
    cut: PassageCut, extracted: Extracted, places: _Places, language: str, title: str, key: bytes
) -> PassageRow:
    sentences = [
        (s.start, s.end, places.line(s.start), places.page(s.start), places.in_heading(s.start))
        for s in cut.sentences
    ]
    heading = " ".join(analyse(cut.heading, language))
    body = " ".join(analyse(cut.span.of(extracted.text), language))
    return PassageRow(
        start=cut.span.start,
        end=cut.span.end,
        page=places.page(cut.span.start),
        line=places.line(cut.span.start),
        heading=storable(cut.heading),
        sentences=pack_sentences(sentences),
        terms=pack_terms(title, heading, body),
        key=key,
        places=pack_places([places.label(s.start) for s in cut.sentences]),
    )


def _file_row(work: Work, root: int, parsed: Parsed, has_passages: bool) -> FileRow:
    extracted = parsed.extracted
    status, reason = FileStatus.INDEXED, ""
    if not has_passages:
        status, reason = FileStatus.SKIPPED, NO_TEXT
    elif extracted.missing_pages or extracted.missing:
        status, reason = FileStatus.PARTIAL, missing_reason(extracted)
    return FileRow(
        root=root,
        relative=work.relative,
        stamp=work.stored,
        status=status,
        reason=reason,
        sha256=parsed.sha256,
        kind=extracted.kind,
        language=parsed.language,
        title=extracted.title,
        text=extracted.text if has_passages else "",
        page_starts=extracted.page_starts if has_passages else (),
        missing_pages=extracted.missing_pages,
        notes=extracted.notes,
    )


def _key(encoder: Encoder, text: str) -> bytes:
    """Content address of a vector: which encoder read which text."""
    digest = hashlib.sha256(encoder.identity.sha256.encode("ascii"))
    digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()
