"""The rows a feed collects, and attention rows mapped from cells to positions. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Attention
from ragcli.llm.base import Output
from ragcli.llm.schedule import Task

_ROUNDING = 1e-2  # how far an attention row's sum may be from 1


def by_position(row: Attention, cells: NDArray[np.int64]) -> NDArray[np.float32]:
    """(n,) a row over cells as a row over positions. cells: (n,) the cell of each position.

    The engine's own mask is the judge: it must show exactly these cells.
    Raises ValueError, one line, when it does not or the row is no distribution.
    """
    if len(cells) == 0 or cells.min() < 0 or int(row.visible.sum()) != len(cells):
        raise ValueError("the engine's cells are not the ones ragcli counted")
    if not row.visible[cells].all():
        raise ValueError("the engine's cells are not where ragcli expects them")
    weights = row.weights[cells]
    if abs(float(weights.sum()) - 1) > _ROUNDING:
        raise ValueError("the model's attention rows do not sum to 1")
    return weights


class Rows:
    """Collects the rows of one feed."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._logits: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._attention: NDArray[np.float32] | None = None

    def put(
        self, position: int, logits: NDArray[np.float32], attention: NDArray[np.float32] | None
    ) -> None:
        """Copies the row of the token at `position`; earlier tokens are not wanted."""
        row, n = position - self._task.first_row, len(self._task.tokens)
        if row < 0:
            return
        if not len(self._logits):
            self._logits = np.empty((n - self._task.first_row, len(logits)), np.float32)
        self._logits[row] = logits
        if attention is not None:
            if self._attention is None:
                self._attention = np.zeros((len(self._logits), n), np.float32)
            self._attention[row, : position + 1] = attention

    def output(self) -> Output:
        return Output(self._logits, self._task.first_row + 1, self._attention)
