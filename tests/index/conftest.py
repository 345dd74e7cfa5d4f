"""A stand-in encoder for tests of the index, and small folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.encoders import EncoderIdentity
from ragcli.errors import SourceError
from ragcli.events import Event, FileDone, Indexed
from ragcli.index.reader import Reader
from ragcli.index.update import update
from ragcli.sources.read import NotADocument, Parsed, load_whole
from ragcli.types import FileEntry, FileStatus

pytest.register_assert_rewrite(f"{__package__}.scene")  # explained as in a file of tests

DIMENSION = 64


class WordsEncoder:
    """A vector is the normalised sum of one fixed random vector a word: quick and exact.

    `calls` counts how often it was asked for, `encoded` holds every text it encoded.
    """

    def __init__(self, name: str = "words", dimension: int = DIMENSION) -> None:
        sha256 = hashlib.sha256(name.encode()).hexdigest()
        self.identity = EncoderIdentity(name, sha256, dimension, 64, "en")
        self.calls = 0
        self.encoded: list[str] = []

    def __call__(self) -> WordsEncoder:
        self.calls += 1
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        if not texts:
            return np.empty((0, self.identity.dimension), np.float32)
        rows = np.stack([self._vector(text) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        total = np.full(self.identity.dimension, 1e-3)
        for word in re.findall(r"\w+", text.lower()):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            total += np.random.default_rng(seed).normal(size=self.identity.dimension)
        return total

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


class Bench:
    """A folder of documents with its index."""

    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.index_dir = folder / ".ragcli"
        self.encoder = WordsEncoder()
        self.docs.mkdir()

    def write(self, name: str, text: str) -> Path:
        file = self.docs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def events(self, *paths: Path, **options: object) -> list[Event]:
        return list(
            update(
                self.index_dir,
                paths or [self.docs],
                encoder=self.encoder,
                identity=self.encoder.identity,
                **options,  # type: ignore[arg-type]
            )
        )

    def update(self, *paths: Path, **options: object) -> Indexed:
        """Runs an update and checks that every file is accounted for."""
        summary = self.events(*paths, **options)[-1]
        assert isinstance(summary, Indexed)
        done = summary.indexed + summary.unchanged + summary.skipped + summary.failed
        assert summary.found == done
        return summary

    def open(self) -> Reader:
        return Reader.open(self.index_dir, self.encoder, identity=self.encoder.identity)

    def found(self, query: str, **options: object) -> list[str]:
        """Relative paths of the hits, best first."""
        with self.open() as reader:
            hits = reader.search(query, k=10, **options)  # type: ignore[arg-type]
            return [hit.document.relative for hit in hits]

    def generation(self) -> int:
        with self.open() as reader:
            return int(reader.identity["generation"])

    def names(self) -> list[str]:
        """Relative paths of all documents, sorted."""
        with self.open() as reader:
            return sorted(document.relative for document in reader.documents())

    def everything(self) -> list[tuple[object, ...]]:
        """The index's content without anything that depends on its history."""
        with self.open() as reader:
            return [
                (d.relative, d.sha256, d.title, p.start, p.end, p.text, p.page, p.line, p.heading)
                for d in sorted(reader.documents(), key=lambda d: d.relative)
                for p in reader.passages(d.id)
            ]


class InlineExtractor:
    """Reads files in this process: quicker than starting workers for three notes."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def __enter__(self) -> InlineExtractor:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, entries: Iterable[FileEntry]) -> Iterator[Parsed | FileDone]:
        for entry in entries:
            try:
                loaded = load_whole(entry.path)
            except SourceError as error:
                skipped = isinstance(error, NotADocument)
                status = FileStatus.SKIPPED if skipped else FileStatus.FAILED
                yield FileDone(entry.path, status, error.message, entry.size)
            else:
                yield Parsed(
                    entry, loaded.sha256, loaded.extracted, loaded.language, loaded.sentences
                )


@pytest.fixture(autouse=True)
def _inline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes only where a test asks for them (the fixture `real_workers`)."""
    if "real_workers" not in request.fixturenames:
        monkeypatch.setattr("ragcli.index.run.Extractor", InlineExtractor)


@pytest.fixture
def real_workers() -> None:
    """Files are read by worker processes, as in earnest."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
