"""A toy model behind the session protocol: exact logits, every call counted and checked.

The logits after a text depend on its last three tokens and on the branch's prompt; the
prompt's influence is `apart` times the rest, so `apart` sets how often branches disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import ContextFull
from ragcli.llm.base import EncodedPrompt, Feed, Output, Tokens
from ragcli.types import Sentence, Source

SIZE = 60
END = 1
DOCUMENTS, SENTENCES, NOISE = 50, 51, 52  # first token of each prompt


class ToyVocabulary:
    """Token t is the letter of that number, 0-25 lower case; 26 and up are bytes of "é" or empty."""

    pieces: Mapping[int, bytes] = {26: b"\xc3", 27: b"\xa9", 28: b"\xff", 29: b"\xe2\x82"}

    @property
    def size(self) -> int:
        return SIZE

    def tokenize(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") for letter in text]

    def piece(self, token: int) -> bytes:
        return self.pieces.get(token, bytes([ord("a") + token]) if token < 26 else b"")

    def is_end(self, token: int) -> bool:
        return token == END


@lru_cache(maxsize=100_000)
def _row(*key: int) -> NDArray[np.float64]:
    row = np.random.default_rng(list(key)).normal(0, 2, SIZE)
    row.flags.writeable = False
    return row


def logits_after(tokens: Sequence[int], apart: float, end_bias: float) -> NDArray[np.float32]:
    recent = [*tokens[-3:], len(tokens) % 7]
    row = _row(7, *recent) + apart * _row(tokens[0], *recent)
    row[END] += end_bias
    return row.astype(np.float32)


class ToySession:
    """`script`: what the model tends to say whatever came before, by answer position.

    loud: how much that adds to the logits; 300 leaves no other choice.
    """

    branches = 2

    def __init__(
        self,
        *,
        apart: float = 0.3,
        end_bias: float = -99.0,
        attention: bool = True,
        n_ctx: int = 10_000,
        script: Sequence[int] | None = None,
        loud: float = 300.0,
    ) -> None:
        self.n_ctx = n_ctx
        self._apart, self._end_bias, self._attention = apart, end_bias, attention
        self._script, self._loud = script, loud
        self._tokens: dict[int, list[int]] = {}
        self._decoded: dict[int, int] = {}
        self._prompt: dict[int, int] = {}
        self.log: list[dict[int, int]] = []  # a call: tokens decoded by branch

    def start(self, prompts: Mapping[int, Tokens]) -> None:
        self._tokens = {branch: list(map(int, tokens)) for branch, tokens in prompts.items()}
        self._decoded = dict.fromkeys(prompts, 0)
        self._prompt = {branch: len(tokens) for branch, tokens in self._tokens.items()}

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        assert feeds
        assert len({feed.branch for feed in feeds}) == len(feeds)
        if sum(map(len, self._tokens.values())) + sum(len(f.tokens) for f in feeds) > self.n_ctx:
            raise ContextFull(f"the context of {self.n_ctx} tokens is full")
        self.log.append({})
        return [self._feed(feed) for feed in feeds]

    def _feed(self, feed: Feed) -> Output:
        tokens = self._tokens[feed.branch]
        waiting = self._decoded[feed.branch] < len(tokens)
        assert len(feed.tokens) or waiting, "nothing to decode"
        before = len(tokens)
        tokens.extend(map(int, feed.tokens))
        self.log[-1][feed.branch] = len(tokens) - self._decoded[feed.branch]
        self._decoded[feed.branch] = len(tokens)
        first = before if waiting else before + 1
        positions = range(first, len(tokens) + 1) if feed.logits == "all" else [len(tokens)]
        logits = np.array([self._logits(feed.branch, tokens[:p]) for p in positions])
        attention = np.zeros((len(positions), len(tokens)), np.float32)
        for row, p in enumerate(positions):
            weights = np.exp(_row(9, p, tokens[p - 1])[np.arange(p) % SIZE])
            attention[row, :p] = weights / weights.sum()
        return Output(logits, positions[0], attention if self._attention else None)

    def _logits(self, branch: int, tokens: Sequence[int]) -> NDArray[np.float32]:
        row = logits_after(tokens, self._apart, self._end_bias)
        if self._script is not None:
            row[self._script[(len(tokens) - self._prompt[branch]) % len(self._script)]] += (
                self._loud
            )
        return row

    def length(self, branch: int) -> int:
        return len(self._tokens[branch])

    def decoded(self, branch: int) -> int:
        return self._decoded[branch]

    def tokens(self, branch: int) -> NDArray[np.int32]:
        return np.array(self._tokens[branch], np.int32)

    def truncate(self, branch: int, length: int) -> None:
        assert self._prompt[branch] <= length <= len(self._tokens[branch])
        del self._tokens[branch][length:]
        self._decoded[branch] = min(self._decoded[branch], length)

    def close(self) -> None:
        self._tokens.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def calls(self) -> int:
        return len(self.log)

    def calls_of(self, branch: int) -> list[int]:
        """Tokens decoded by a branch, call by call, where there were any."""
        return [call[branch] for call in self.log if branch in call]


def prompt(first: int, seed: int = 0, length: int = 12, slots: Sequence[int] = ()) -> EncodedPrompt:
    """A prompt of `length` tokens; source i (in document slots[i]) owns tokens 2+2i, 3+2i."""
    rest = np.random.default_rng(seed).integers(2, 50, length - 1)
    owner = np.full(length, -1, np.int32)
    for index in range(len(slots)):
        owner[2 + 2 * index : 4 + 2 * index] = index
    sources = tuple(
        Source(slot, Sentence(i, slot, slot, 0, 1, "x", None, 1)) for i, slot in enumerate(slots)
    )
    return EncodedPrompt(np.array([first, *rest], np.int32), sources, owner)
