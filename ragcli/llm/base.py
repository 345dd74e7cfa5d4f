"""What the rest of ragcli knows of a generator: protocols and frozen records, no heavy import.

A *branch* is one sequence of a session. Branches advance together, one batched decode
for all feeds of a call; a branch that is declared but never fed costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ragcli.types import Source

Tokens = Sequence[int] | NDArray[np.int32]
Rows = Literal["last", "all", "none"]
NOWHERE = -1  # owner of a token that belongs to no source


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """A run of prompt text.

    control: tokenised with special tokens parsed (the template's own text only).
    source: the source sentence this text is; None for everything else.
    fixed: wording that is the same whatever is asked (instructions, worked examples).
    """

    text: str
    control: bool = False
    source: Source | None = None
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A whole prompt, control text included, in order."""

    pieces: tuple[PromptPiece, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPrompt:
    """A prompt as tokens, and whose text each token is.

    tokens: (n,) int32. owner: (n,) int32, index into `sources`, or NOWHERE (-1).
    A token that straddles a border belongs to the piece that holds its first byte which is
    no blank: most vocabularies put the blank before a word into the word's token.
    notes: one line each, for people (a template that had to be worked around).
    fixed: leading tokens that are the same whatever is asked; 0 where none are known to be.
    """

    tokens: NDArray[np.int32]
    sources: tuple[Source, ...]
    owner: NDArray[np.int32]
    notes: tuple[str, ...] = ()
    fixed: int = 0

    def __len__(self) -> int:
        return len(self.tokens)


class Vocabulary(Protocol):
    """Tokens of a model."""

    @property
    def size(self) -> int: ...

    def tokenize(self, text: str) -> list[int]:
        """Tokens of plain text: names of special tokens in it are inert, no BOS is added."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; may be part of a UTF-8 sequence; empty for control tokens."""
        ...

    @property
    def end(self) -> int | None:
        """The token that ends an answer, as a trained model should write it; None: there is none."""
        ...

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation (end of text, end of turn)."""
        ...


@dataclass(frozen=True, slots=True)
class Feed:
    """Tokens to append to a branch, and of which of them logits are wanted.

    tokens may be empty: the call then gives the logits after what the branch holds (its
    prompt; or, where nothing waits, its last token, which is decoded again). With "all" there is one row a fed token and, when the
    prompt is decoded by the same call, one more before them: the row after the prompt, so
    that row i always predicts the token at position `start + i` where `start` is
    `Output.start`.
    """

    branch: int
    tokens: Tokens = ()
    logits: Rows = "last"


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What a feed gave.

    logits: (rows, vocabulary) float32, a copy. rows is 0 for "none", 1 for "last".
    start: position that row 0 predicts; row i predicts position start + i.
    attention: (rows, length) float32, or None without a tap. Row i is the attention of the
    predicting position (start + i - 1) over positions 0..length of its own branch, mean over
    heads and the chosen layers; 0 beyond the predicting position; each row sums to 1.
    """

    logits: NDArray[np.float32]
    start: int
    attention: NDArray[np.float32] | None = None


class Session(Protocol):
    """Branches over one context. Not for use by two threads at once."""

    @property
    def n_ctx(self) -> int:
        """Cells shared by all branches, in tokens."""
        ...

    @property
    def branches(self) -> int: ...

    def start(self, prompts: Mapping[int, Tokens]) -> None:
        """Forgets every branch and declares new prompts. Decodes nothing.

        Raises ModelError when the prompts alone cannot fit, UsageError never.
        """
        ...

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        """Appends tokens to branches (each at most once a call) and returns one output a feed.

        All feeds go through one decode when they fit the batch. A branch whose prompt is not
        decoded yet catches up in the same call; what it shares with another branch is copied.
        Raises ModelError when the context is full, Interrupted when `cancel` fired; the
        session then stands as it did before the call.
        """
        ...

    def length(self, branch: int) -> int:
        """Tokens of the branch: its prompt (decoded or not) and everything fed since."""
        ...

    def decoded(self, branch: int) -> int:
        """Tokens of the branch that are in the context; 0 for a branch that still waits."""
        ...

    def tokens(self, branch: int) -> NDArray[np.int32]:
        """(length,) int32: the branch's tokens, a copy."""
        ...

    def truncate(self, branch: int, length: int) -> None:
        """Rolls a branch back to its first `length` tokens and frees the cells."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What must be equal for the same answer: recorded with each answer.

    sha256 of the file; size in bytes; parameters: n_layer, n_head, n_embd, n_vocab,
    n_ctx_train, n_params, quantisation.
    """

    name: str
    path: Path
    sha256: str
    size: int
    architecture: str
    parameters: dict[str, Any] = field(default_factory=dict)


class Generator(Protocol):
    """A loaded model."""

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def n_ctx_train(self) -> int: ...

    @property
    def tap_available(self) -> bool:
        """Whether sessions can give attention rows."""
        ...

    @property
    def tap_reason(self) -> str:
        """Why not, one line; empty when it is available."""
        ...

    @property
    def cancel(self) -> Callable[[], bool] | None:
        """Asked during a decode; True interrupts it (the call raises Interrupted)."""
        ...

    @cancel.setter
    def cancel(self, value: Callable[[], bool] | None) -> None: ...

    @property
    def progress(self) -> Callable[[int, int], None] | None:
        """Told (done, total) prompts while `score_next` and `loglikelihood` work."""
        ...

    @progress.setter
    def progress(self, value: Callable[[int, int], None] | None) -> None: ...

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        """A system and a user message in the model's own chat template, ready for the answer.

        Only the template's own text may become special tokens; pieces marked `control` in
        `user` are treated as plain text.
        """
        ...

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """A prompt without a template; a BOS token is added where the model wants one."""
        ...

    def session(self, branches: int, *, tap: bool = True, n_ctx: int | None = None) -> Session:
        """A session of its own context.

        n_ctx None: the context grows to what `start` needs. tap is ignored (attention None)
        where `tap_available` is False. Raises ModelError when the memory is not there.
        """
        ...

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        """(n_prompts, n_tokens): log-probability of each given token as the next one."""
        ...

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        """(n,): sum of log-probabilities of continuation i after prompt i."""
        ...

    def adapted(self, adapter: Path) -> Generator:
        """The same model under a LoRA adapter, a GGUF file. It is closed with this one.

        `cancel` and `progress` are those that this one has now. Raises ModelError when the file
        is no adapter of this model.
        """
        ...

    def close(self) -> None: ...
