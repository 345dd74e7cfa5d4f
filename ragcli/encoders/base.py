"""What the index needs of a sentence encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from numpy import float32
from numpy.typing import NDArray

EXACT, INT8 = "exact", "int8"
PRECISIONS = (EXACT, INT8)  # of the encoder's arithmetic


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Which encoder made a vector; two encoders with equal `sha256` give equal vectors.

    sha256: hash of the weights, of every configuration file that changes a vector, and of
    the precision where it is not exact.
    dimension: components of a vector.
    max_tokens: word pieces read of one text, special tokens included; the rest is cut off.
    languages: ISO 639-1 codes joined by commas ("en"), "multilingual", or "" if unknown.
    special_tokens: word pieces that the encoder adds to every text, within `max_tokens`.
    precision: one of PRECISIONS.
    """

    name: str
    sha256: str
    dimension: int
    max_tokens: int
    languages: str = ""
    special_tokens: int = 2
    precision: str = EXACT

    @property
    def text_tokens(self) -> int:
        """Word pieces of a text that are read at most."""
        return self.max_tokens - self.special_tokens


class Encoder(Protocol):
    """Turns texts into unit vectors; their inner product is the cosine."""

    @property
    def identity(self) -> EncoderIdentity: ...

    def encode(self, texts: Sequence[str]) -> NDArray[float32]:
        """float32 (n, dimension), each row of length 1, in the order of `texts`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, uncut and without special tokens."""
        ...


EncoderFactory = Callable[[], Encoder]
