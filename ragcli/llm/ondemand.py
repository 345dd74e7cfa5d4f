"""A generator that is loaded when something first asks it for anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import (
    EncodedPrompt,
    Generator,
    ModelIdentity,
    Prompt,
    PromptPiece,
    Session,
    Tokens,
    Vocabulary,
)


class OnDemand:
    """See `Generator`. `open` is called at most once; what it raises comes from the first use."""

    def __init__(self, open: Callable[[], Generator]) -> None:
        self._open = open
        self._opened: Generator | None = None
        self._cancel: Callable[[], bool] | None = None
        self._progress: Callable[[int, int], None] | None = None

    @property
    def loaded(self) -> bool:
        """Whether anything has asked for the model."""
        return self._opened is not None

    def _get(self) -> Generator:
        if self._opened is None:
            self._opened = self._open()
            self._opened.cancel = self._cancel
            self._opened.progress = self._progress
        return self._opened

    @property
    def identity(self) -> ModelIdentity:
        return self._get().identity

    @property
    def vocabulary(self) -> Vocabulary:
        return self._get().vocabulary

    @property
    def n_ctx_train(self) -> int:
        return self._get().n_ctx_train

    @property
    def tap_available(self) -> bool:
        return self._get().tap_available

    @property
    def tap_reason(self) -> str:
        return self._get().tap_reason

    @property
    def cancel(self) -> Callable[[], bool] | None:
        return self._cancel

    @cancel.setter
    def cancel(self, value: Callable[[], bool] | None) -> None:
        self._cancel = value
        if self._opened is not None:
            self._opened.cancel = value

    @property
    def progress(self) -> Callable[[int, int], None] | None:
        return self._progress

    @progress.setter
    def progress(self, value: Callable[[int, int], None] | None) -> None:
        self._progress = value
        if self._opened is not None:
            self._opened.progress = value

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        return self._get().chat(system, user, assistant_prefix)

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        return self._get().encode(prompt)

    def session(self, branches: int, *, tap: bool = True, n_ctx: int | None = None) -> Session:
        return self._get().session(branches, tap=tap, n_ctx=n_ctx)

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        return self._get().score_next(prompts, tokens)

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        return self._get().loglikelihood(prompts, continuations)

    def adapted(self, adapter: Path) -> Generator:
        return self._get().adapted(adapter)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()


def identity_of(generator: Generator) -> ModelIdentity | None:
    """Which model ran, None where none was loaded."""
    if isinstance(generator, OnDemand) and not generator.loaded:
        return None
    return generator.identity
