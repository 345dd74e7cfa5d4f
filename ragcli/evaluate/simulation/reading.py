"""A session that reads prompts in equal blocks and keeps those that the next prompt has too.

Sets of sentences of one question share beginnings. Logits depend on how tokens are batched, so
a beginning is cut into the same blocks whether it is there already or not: an answer is the same
after any other, and in a run that was stopped and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragcli.evaluate.passing import PassingSession
from ragcli.llm.base import Feed, Output, Tokens
from ragcli.llm.schedule import common_prefix
from ragcli.llm.session import BranchSession

BLOCK = 64  # tokens; a prompt keeps a token at least beyond its blocks


class BlockSession(PassingSession[BranchSession]):
    """See `Session`. inner: of one branch and a fixed size, owned from here on.

    read, kept: tokens of prompts that were decoded, and that were there already.
    """

    def __init__(self, inner: BranchSession, block: int = BLOCK) -> None:
        if inner.branches != 1:
            raise ValueError("blocks are kept for one branch")
        super().__init__(inner)
        self._block = block
        self._rest: list[int] = []
        self.read = self.kept = 0

    def start(self, prompts: Mapping[int, Tokens]) -> None:
        """Decodes the prompt's whole blocks at once; the rest with the first `advance`."""
        tokens = np.asarray(prompts[0], np.int32)
        blocks = max(len(tokens) - 1, 0) // self._block * self._block
        there = self._inner.tokens(0)[: self._inner.decoded(0)]
        same = min(common_prefix(there, tokens) // self._block * self._block, blocks)
        self._inner.truncate(0, min(same, self._inner.length(0)))
        self._inner.start({0: tokens[:same]}, keep=True)
        if not self._inner.holds(tokens[:same]):  # an engine that cannot cut
            same = 0
            self._inner.start({0: ()})
        for at in range(same, blocks, self._block):
            self._inner.advance([Feed(0, tokens[at : at + self._block].tolist(), "none")])
        self._rest = tokens[blocks:].tolist()
        self.read += len(tokens) - same
        self.kept += same

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        whole = [replace(feed, tokens=[*self._rest, *feed.tokens]) for feed in feeds]
        outputs = self._inner.advance(whole)
        self._rest = []
        return outputs

    def length(self, branch: int) -> int:
        return self._inner.length(branch) + len(self._rest)

    def tokens(self, branch: int) -> NDArray[np.int32]:
        return np.append(self._inner.tokens(branch), np.asarray(self._rest, np.int32))

    def truncate(self, branch: int, length: int) -> None:
        read = self._inner.length(branch)
        if not 0 <= length <= self.length(branch):
            raise ValueError(f"branch {branch} has {self.length(branch)} tokens, not {length}")
        self._rest = self._rest[: max(length - read, 0)]
        self._inner.truncate(branch, min(length, read))
