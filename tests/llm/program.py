"""A random user of a session, who keeps an account of what each row must have seen."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Feed
from ragcli.llm.session import BranchSession


@dataclass(frozen=True, eq=False)
class Seen:
    """A row and the tokens it must be a function of.

    logits (vocabulary,); attention (len(tokens),) or None.
    """

    tokens: tuple[int, ...]
    logits: NDArray[np.float32]
    attention: NDArray[np.float32] | None


class Program:
    """starts, lazy starts, single steps, drafts, cuts and re-starts, from a seed."""

    def __init__(self, session: BranchSession, words: Sequence[int], seed: int) -> None:
        self.session, self.words, self.random = session, list(words), random.Random(seed)
        self.tokens: dict[int, list[int]] = {}
        self.seen: list[Seen] = []

    def run(self, steps: int) -> list[Seen]:
        self.start()
        for _ in range(steps):
            (act,) = self.random.choices(
                [self.start, self.step, self.draft, self.cut], [1, 12, 4, 5]
            )
            act()
            for branch, tokens in self.tokens.items():
                assert self.session.tokens(branch).tolist() == tokens
        return self.seen

    def start(self) -> None:
        """New prompts with a common beginning; nothing is decoded yet."""
        shared = self._some(3, 20)
        self.tokens = {
            branch: shared[: self.random.randint(1, len(shared))] + self._some(1, 10)
            for branch in range(self.session.branches)
        }
        self.session.start(self.tokens, keep=self.random.random() < 0.5)

    def step(self) -> None:
        """Some branches by one token; those that wait catch up."""
        branches = range(self.session.branches)
        for_step = self.random.sample(branches, self.random.randint(1, len(branches)))
        self._feed([Feed(branch, self._some(1, 1)) for branch in for_step])

    def draft(self) -> None:
        """One branch runs ahead, another checks as much at once."""
        first, second = self.random.sample(range(self.session.branches), 2)
        self._feed([Feed(first, self._some(2, 6), "all"), Feed(second, self._some(2, 6), "none")])

    def cut(self) -> None:
        """A branch is rolled back, sometimes into its prompt."""
        branch = self.random.randrange(self.session.branches)
        length = self.session.length(branch)
        keep = self.random.randint(max(1, length - 8), length)
        del self.tokens[branch][keep:]
        self.session.truncate(branch, keep)

    def _some(self, least: int, most: int) -> list[int]:
        n = self.random.randint(least, most)
        at = self.random.randrange(len(self.words) - n)
        return self.words[at : at + n]

    def _feed(self, feeds: list[Feed]) -> None:
        for feed in feeds:
            self.tokens[feed.branch] += list(feed.tokens)
        for feed, output in zip(feeds, self.session.advance(feeds), strict=True):
            tokens = self.tokens[feed.branch]
            if feed.logits != "none":
                assert output.start + len(output.logits) == len(tokens) + 1
            for row, logits in enumerate(output.logits):
                n = output.start + row
                attention = None if output.attention is None else output.attention[row]
                if attention is not None:
                    assert not attention[n:].any()
                    attention = attention[:n]
                self.seen.append(Seen(tuple(tokens[:n]), logits, attention))


class Reference:
    """Rows of a fresh session of one branch, which is told all tokens at once."""

    def __init__(self, session: BranchSession) -> None:
        self._session = session
        self._rows: dict[tuple[int, ...], Seen] = {}

    def row(self, tokens: tuple[int, ...]) -> Seen:
        if tokens not in self._rows:
            self._session.start({0: tokens[:1]})
            (output,) = self._session.advance([Feed(0, tokens[1:], "all")])
            for row, logits in enumerate(output.logits):
                attention = None if output.attention is None else output.attention[row][: row + 1]
                self._rows[tokens[: row + 1]] = Seen(tokens[: row + 1], logits, attention)
        return self._rows[tokens]


def differences(seen: Sequence[Seen], reference: Reference) -> NDArray[np.float64]:
    """(rows, 2): largest difference of a logit and of an attention weight, row by row."""
    found = []
    for row in sorted(seen, key=lambda row: -len(row.tokens)):
        expected = reference.row(row.tokens)
        logits = np.abs(row.logits - expected.logits).max()
        pair = row.attention, expected.attention
        attention = 0.0 if pair[0] is None or pair[1] is None else np.abs(pair[0] - pair[1]).max()
        found.append((float(logits), float(attention)))
    return np.array(found)
