"""A session in front of another: what it does not change, it passes on."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragcli.closing import Closing
from ragcli.llm.base import Session

Inner = TypeVar("Inner", bound=Session)


class PassingSession(Closing, Generic[Inner]):
    """See `Session`, but for start and advance, which are the heirs' own. Closes the inner one."""

    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    @property
    def n_ctx(self) -> int:
        return self._inner.n_ctx

    @property
    def branches(self) -> int:
        return self._inner.branches

    def length(self, branch: int) -> int:
        return self._inner.length(branch)

    def decoded(self, branch: int) -> int:
        return self._inner.decoded(branch)

    def tokens(self, branch: int) -> NDArray[np.int32]:
        return self._inner.tokens(branch)

    def truncate(self, branch: int, length: int) -> None:
        self._inner.truncate(branch, length)

    def close(self) -> None:
        self._inner.close()
