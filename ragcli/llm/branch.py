"""One branch's arrays. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Tokens


class Branch:
    """One sequence: growing arrays of tokens and, with a tap, of the cells they lie in."""

    __slots__ = ("_cells", "_tokens", "decoded", "length")

    def __init__(self, tokens: Tokens = ()) -> None:
        self._tokens = np.array(tokens, np.int32)
        self._cells = np.full(len(self._tokens), -1, np.int64)
        self.length = len(self._tokens)
        self.decoded = 0

    @property
    def tokens(self) -> NDArray[np.int32]:
        return self._tokens[: self.length]

    @property
    def cells(self) -> NDArray[np.int64]:
        return self._cells[: self.length]

    def append(self, tokens: Tokens) -> None:
        end = self.length + len(tokens)
        if end > len(self._tokens):
            room = max(end, 2 * len(self._tokens), 64) - self.length
            self._tokens = np.concatenate([self.tokens, np.zeros(room, np.int32)])
            self._cells = np.concatenate([self.cells, np.full(room, -1, np.int64)])
        self._tokens[self.length : end] = tokens
        self.length = end
