"""Encoding in the background, while the next files are read and cut."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ragcli.encoders.base import Encoder

PIECE = 64  # texts that a run which is given up may still encode


class Embedder:
    """Encodes batches one after the other in a thread of its own.

    What encodes (onnxruntime, the tokenizer) works without Python's lock, so the caller goes on
    meanwhile. Closing gives up what has not begun.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._stopped = threading.Event()
        self._thread = ThreadPoolExecutor(1, "embedder")

    def start(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """The vectors, float32 (n, dimension), in the order of `texts`, when they are there."""
        return self._thread.submit(self._encode, texts)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Piece by piece; texts of similar length are in one, so little is spent on padding."""
        out = np.empty((len(texts), self._encoder.identity.dimension), np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
        for start in range(0, len(order), PIECE):
            if self._stopped.is_set():
                break  # nobody asks for the result
            rows = order[start : start + PIECE]
            out[rows] = self._encoder.encode([texts[row] for row in rows])
        return out

    def close(self) -> None:
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)
