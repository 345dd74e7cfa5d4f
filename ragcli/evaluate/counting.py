"""A generator that counts what it reads and writes, whoever asks it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.evaluate.passing import PassingSession
from ragcli.llm.base import (
    EncodedPrompt,
    Feed,
    Generator,
    ModelIdentity,
    Output,
    Prompt,
    PromptPiece,
    Session,
    Tokens,
    Vocabulary,
)
from ragcli.llm.schedule import unique_tokens
from ragcli.llm.session import BranchSession

_SHARED = 2  # branches of an answer at most


@dataclass(slots=True)
class Count:
    """Tokens read: prompts of all branches in use, what they share once. Calls: decodes.

    saved: seconds that reading a kept prompt took when it was read, for another arm.
    """

    read: int = 0
    saved: float = 0.0
    fed: int = 0
    calls: int = 0


class Keeping(Protocol):
    """Starts with a prefix that stays decoded until another takes its place."""

    def start(self, prompts: Mapping[int, Tokens], *, prefix: NDArray[np.int32]) -> None: ...

    def holds(self, prefix: NDArray[np.int32]) -> bool: ...


@dataclass(slots=True)
class Held:
    """How long the prefix that is kept took to read, seconds."""

    seconds: float = 0.0


class CountingSession(PassingSession[Session]):
    """See `Session`. A prompt counts when its branch is first fed.

    keeping: the inner session, where it can keep the first branch's prompt for the next start:
    the arms of a question often read the same documents.
    """

    def __init__(
        self,
        inner: Session,
        count: Count,
        keeping: Keeping | None = None,
        held: Held | None = None,
    ) -> None:
        super().__init__(inner)
        self._count = count
        self._keeping, self._held = keeping, held or Held()
        self._read: list[NDArray[np.int32]] = []
        self._waiting: dict[int, NDArray[np.int32]] = {}

    def start(self, prompts: Mapping[int, Tokens]) -> None:
        if self._keeping is not None and len(prompts.get(0, ())) > 1:
            self._start_kept(self._keeping, prompts)
        else:
            self._inner.start(prompts)
        self._read = []
        self._waiting = {at: np.asarray(one, np.int32) for at, one in prompts.items()}

    def _start_kept(self, keeping: Keeping, prompts: Mapping[int, Tokens]) -> None:
        prefix = np.asarray(prompts[0], np.int32)[:-1]
        there, began = keeping.holds(prefix), time.perf_counter()
        keeping.start(prompts, prefix=prefix)
        spent = time.perf_counter() - began
        if there:
            self._count.saved += max(0.0, self._held.seconds - spent)
        else:
            self._held.seconds = spent

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        before = unique_tokens(self._read)
        for feed in feeds:
            if feed.branch in self._waiting:
                self._read.append(self._waiting.pop(feed.branch))
            self._count.fed += len(feed.tokens)
        self._count.read += unique_tokens(self._read) - before
        self._count.calls += 1
        return self._inner.advance(feeds)


class _Shared(CountingSession):
    """One of several over the same session, used one after another; its owner closes it."""

    def close(self) -> None:
        self._waiting = {}


class CountingGenerator:
    """See `Generator`. `count` grows until `reset`.

    Sessions of one and of two branches, with a tap, are the same session, so that a prompt
    read for one arm is there for the next; each begins with `start`, as all users of one do.
    """

    def __init__(self, inner: Generator) -> None:
        self._inner = inner
        self._shared: BranchSession | None = None
        self._held = Held()
        self.count = Count()

    def reset(self) -> Count:
        """Starts from zero; what was counted so far is returned, sessions go on counting."""
        old = replace(self.count)
        self.count.read = self.count.fed = self.count.calls = 0
        self.count.saved = 0.0
        return old

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    @property
    def vocabulary(self) -> Vocabulary:
        return self._inner.vocabulary

    @property
    def n_ctx_train(self) -> int:
        return self._inner.n_ctx_train

    @property
    def tap_available(self) -> bool:
        return self._inner.tap_available

    @property
    def tap_reason(self) -> str:
        return self._inner.tap_reason

    @property
    def cancel(self) -> Callable[[], bool] | None:
        return self._inner.cancel

    @cancel.setter
    def cancel(self, value: Callable[[], bool] | None) -> None:
        self._inner.cancel = value

    @property
    def progress(self) -> Any:
        """Told how far a long call is."""
        return getattr(self._inner, "progress", None)

    @progress.setter
    def progress(self, value: Any) -> None:
        self._inner.progress = value  # type: ignore[attr-defined,unused-ignore]

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        return self._inner.chat(system, user, assistant_prefix)

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        return self._inner.encode(prompt)

    def session(self, branches: int, *, tap: bool = True, n_ctx: int | None = None) -> Session:
        if not tap or n_ctx is not None or branches > _SHARED:
            return CountingSession(self._inner.session(branches, tap=tap, n_ctx=n_ctx), self.count)
        if self._shared is None:
            opened = self._inner.session(_SHARED)
            if not isinstance(opened, BranchSession):
                return CountingSession(opened, self.count)
            self._shared = opened
        return _Shared(self._shared, self.count, self._shared, self._held)

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        self.count.read += unique_tokens([prompt.tokens for prompt in prompts])
        return self._inner.score_next(prompts, tokens)

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        whole = [
            np.concatenate([prompt.tokens, np.asarray(rest, np.int32)])
            for prompt, rest in zip(prompts, continuations, strict=True)
        ]
        self.count.read += unique_tokens(whole)
        return self._inner.loglikelihood(prompts, continuations)

    def adapted(self, adapter: Path) -> CountingGenerator:
        other = CountingGenerator(self._inner.adapted(adapter))
        other.count = self.count
        return other

    def close_shared(self) -> None:
        """Frees the shared session; the generator stays open."""
        if self._shared is not None:
            self._shared.close()
        self._shared = None

    def close(self) -> None:
        self.close_shared()
        self._inner.close()
