"""The two branches of an answer and the answer's tokens in each: main ahead, second behind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, Feed, Output, Session

MAIN, SECOND = 0, 1
clock = time.perf_counter  # replaced where processor time is measured


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """What predicts one token: logits (V,), attention (length,) or None."""

    logits: NDArray[np.float32]
    attention: NDArray[np.float32] | None


class Lanes:
    """Feeds the branches of a session and knows which rows are at hand.

    tokens: the answer so far, drafts included. main: row that predicts the next token.
    second: the second branch's row for the first token it has not seen, if it is known.
    fed: answer tokens each branch holds. decoded: answer tokens decoded, rejected included.
    """

    def __init__(self, session: Session, main: EncodedPrompt, second: EncodedPrompt | None) -> None:
        self._session = session
        prompts = [main.tokens] if second is None else [main.tokens, second.tokens]
        self._prompts = [len(prompt) for prompt in prompts]
        session.start(dict(enumerate(prompts)))
        self.tokens: list[int] = []
        self.fed, self.decoded = [0, 0], [0, 0]
        self.main: Row | None = None
        self.second: Row | None = None
        self.calls = 0
        self.prefill_seconds = 0.0

    def begin(self, both: bool) -> None:
        """Reads the main prompt, and the second one where it will be needed at once."""
        outputs = self._advance([Feed(MAIN), Feed(SECOND)] if both else [Feed(MAIN)])
        self.main = _row(outputs[0], 0)
        self.second = _row(outputs[1], 0) if both else None

    def step(self, both: bool = False) -> None:
        """Gives the main branch (both: either branch) the tokens it has not seen."""
        lanes = [MAIN, SECOND] if both else [MAIN]
        outputs = self._advance([self._feed(lane) for lane in lanes])
        self.main = _row(outputs[0], 0)
        if both:
            self.second = _row(outputs[1], 0)

    def check(
        self, first: int, copied: int, ahead: bool
    ) -> tuple[list[NDArray[np.float32]], list[Row]]:
        """Rows of the second branch for the answer's tokens from `first` on.

        It reads what it has not seen in one batch. copied: the last so many tokens are
        guesses that the main branch has not read either: it reads them in the same batch
        and its rows are given too, for each and for what follows. ahead: the main branch
        reads the last token in the same batch, in the hope that it stands.
        """
        rows = [] if self.second is None else [self.second.logits]
        end = len(self.tokens) if copied else len(self.tokens) - 1
        wanted = end + 1 - first - len(rows)
        feeds = [self._feed(SECOND, end, "last" if wanted == 1 else "all")] if wanted else []
        if ahead or copied:
            feeds.append(self._feed(MAIN, None, "all" if copied else "last"))
        outputs = self._advance(feeds) if feeds else []
        if wanted:
            rows += list(outputs[0].logits[-wanted:])
        self.second = None
        if not (ahead or copied):
            return rows, []
        main = [_row(outputs[-1], index) for index in range(len(outputs[-1].logits))]
        self.main = None if copied else main[0]
        return rows, main

    def take(self) -> Row:
        """The main branch's row for the next token; it is no longer at hand afterwards."""
        row, self.main = self.main, None
        assert row is not None, "the main branch has not read its last token"
        return row

    def back(self, length: int) -> None:
        """Forgets the answer's tokens from `length` on, in both branches."""
        for lane, prompt in enumerate(self._prompts):
            if self.fed[lane] > length:
                self._session.truncate(lane, prompt + length)
                self.fed[lane] = length
                if lane == SECOND:
                    self.second = None
        del self.tokens[length:]
        self.main = None

    def _feed(self, lane: int, end: int | None = None, rows: str = "last") -> Feed:
        tokens = self.tokens[self.fed[lane] : end]
        return Feed(lane, tokens, "all" if rows == "all" else "last")

    def _advance(self, feeds: Sequence[Feed]) -> list[Output]:
        prompts = sum(self._unread(feed.branch) for feed in feeds)
        started = clock()
        outputs = self._session.advance(feeds)
        self.calls += 1
        fed = sum(len(feed.tokens) for feed in feeds)
        if prompts:
            share = prompts / (prompts + fed)
            self.prefill_seconds += share * (clock() - started)
        for feed in feeds:
            self.fed[feed.branch] += len(feed.tokens)
            self.decoded[feed.branch] += len(feed.tokens)
        return outputs

    def _unread(self, lane: int) -> int:
        return max(0, self._prompts[lane] - self._session.decoded(lane))


def _row(output: Output, index: int) -> Row:
    attention = None if output.attention is None else output.attention[index]
    return Row(output.logits[index], attention)
