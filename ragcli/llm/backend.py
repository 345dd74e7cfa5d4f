"""What a session needs of an inference context; small enough to fake in a test."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import ContextFull, Interrupted, ModelError


class Status(Enum):
    """How a decode ended. Anything but OK leaves cells of the batch undefined: remove them."""

    OK = "ok"
    FULL = "full"  # no cells left for the batch
    ABORTED = "aborted"  # the abort callback said so
    FAILED = "failed"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Tokens of one decode. All arrays have n rows.

    sequences: the sequences each token belongs to; a token of several is computed once and
    its cell is shared. wanted: tokens whose logits (and attention) will be read.
    """

    tokens: NDArray[np.int32]
    positions: NDArray[np.int32]
    sequences: tuple[tuple[int, ...], ...]
    wanted: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """One row over the context's cells.

    weights: (n_kv,) float32, mean over heads and layers. visible: (n_kv,) bool, the cells
    that the engine's own mask lets the token see.
    """

    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]


class Backend(Protocol):
    """A context with a unified cache: every sequence's cells are in one pool."""

    @property
    def n_ctx(self) -> int: ...

    @property
    def n_batch(self) -> int: ...

    @property
    def cuttable(self) -> bool:
        """Whether sequences can be cut and copied at any token."""
        ...

    def decode(self, batch: Batch) -> Status: ...

    def logits(self, index: int) -> NDArray[np.float32]:
        """(vocabulary,) a copy, for a wanted token of the last batch."""
        ...

    def cells(self) -> NDArray[np.int64] | None:
        """(n,) cell of each token of the last batch; None without a tap."""
        ...

    def attention(self, index: int) -> Attention | None:
        """The row of a wanted token of the last batch; None without a tap.

        Raises ValueError, one line, when the tap cannot read it.
        """
        ...

    def copy(self, source: int, target: int, start: int, stop: int) -> None:
        """Shares the cells at positions start..stop of one sequence with another."""
        ...

    def remove(self, sequence: int, start: int) -> None:
        """Frees a sequence's cells from position start on (all of them if not cuttable)."""
        ...

    def clear(self) -> None:
        """Empties the context: as fresh."""
        ...

    def state(self, sequence: int) -> bytes:
        """What the context holds of a sequence, to be restored in another process."""
        ...

    def restore(self, sequence: int, state: bytes, length: int) -> bool:
        """Fills an empty context's sequence from a state of `length` tokens.

        False when the engine refuses it; the context is empty then.
        """
        ...

    def guarded(self) -> AbstractContextManager[None]:
        """Holds Ctrl-C back until bookkeeping and engine agree again."""
        ...

    def reason(self) -> str:
        """Text of the last failure, one line, may be empty."""
        ...

    def close(self) -> None: ...


def failure(status: Status, n_ctx: int, reason: str) -> Exception:
    """What to raise for a decode that did not succeed. reason: the engine's own words."""
    if status is Status.ABORTED:
        return Interrupted("interrupted while the model was reading")
    if status is Status.FULL:
        return ContextFull(
            f"the context of {n_ctx} tokens is full",
            hint="a larger --ctx, fewer documents, or a smaller --max-tokens",
        )
    return ModelError(
        f"llama.cpp could not decode: {reason or 'no reason given'}",
        hint="try a smaller --ctx, or --gpu-layers 0",
    )
