"""Encoding in the background gives the same vectors, the same errors, and ends when told to."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.encoders import EncoderIdentity
from ragcli.errors import ModelError
from ragcli.index.embedding import PIECE, Embedder

from .conftest import Bench, WordsEncoder


@pytest.mark.parametrize("count", [0, 1, PIECE, PIECE + 1, 3 * PIECE + 5])
def test_vectors_are_in_the_order_of_the_texts(count: int) -> None:
    encoder = WordsEncoder()
    texts = [f"note {n} " + "word " * (n * 7 % 13) for n in range(count)]
    embedder = Embedder(encoder)
    vectors = embedder.start(texts).result()
    embedder.close()
    assert vectors.shape == (count, encoder.identity.dimension)
    assert np.array_equal(vectors, encoder.encode(texts))


def test_texts_of_similar_length_are_encoded_together() -> None:
    encoder = WordsEncoder()
    embedder = Embedder(encoder)
    embedder.start(["a " * (n * 37 % 101) for n in range(2 * PIECE)]).result()
    embedder.close()
    lengths = [len(text) for text in encoder.encoded]
    assert min(lengths[:PIECE]) >= max(lengths[PIECE:])


class Slow:
    """Waits in its first piece until it is let go."""

    identity = EncoderIdentity("slow", "0" * 64, 4, 64)

    def __init__(self) -> None:
        self.begun, self.go, self.pieces = threading.Event(), threading.Event(), 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.pieces += 1
        self.begun.set()
        assert self.go.wait(20)
        return np.zeros((len(texts), 4), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1] * len(texts)


def test_closing_gives_up_what_has_not_begun() -> None:
    slow = Slow()
    embedder = Embedder(slow)
    running, waiting = (embedder.start(["text"] * 10 * PIECE) for _ in range(2))
    assert slow.begun.wait(20)
    threading.Timer(0.05, slow.go.set).start()
    embedder.close()
    assert waiting.cancelled()
    assert running.done()
    assert slow.pieces == 1


class Failing(WordsEncoder):
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelError("the graph is gone")


def test_an_error_of_the_encoder_ends_the_run_and_changes_nothing(bench: Bench) -> None:
    bench.write("a.txt", "The copper key opens the cellar.")
    bench.update()
    bench.write("b.txt", "The silver key opens the attic.")
    good = bench.encoder
    bench.encoder = Failing()
    with pytest.raises(ModelError, match="the graph is gone"):
        bench.update()
    bench.encoder = good
    assert bench.names() == ["a.txt"]
    assert bench.update().indexed == 1
    assert not [t for t in threading.enumerate() if t.name.startswith("embedder")]


def test_duplicates_in_neighbouring_batches_are_encoded_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcli.index.run.BATCH_PASSAGES", 2)
    for n in range(12):
        bench.write(f"{n:02}.txt", f"The copper key {n % 2} opens the cellar.")
    assert bench.update().indexed == 12
    assert len(bench.encoder.encoded) == 2
    (bench.docs / "00.txt").rename(bench.docs / "moved.txt")
    bench.write("copy.txt", "The copper key 1 opens the cellar.")
    summary = bench.update()
    assert (summary.moved, summary.indexed) == (1, 2)
    assert len(bench.encoder.encoded) == 2
