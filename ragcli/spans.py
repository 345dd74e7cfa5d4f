"""A range of characters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, ``0 <= start <= end``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}:{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The characters the span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)
