"""When an answer ends: stop strings, endless repetition, and the record of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ragcli.types import Step

Reason = Literal["end", "length", "repetition", "interrupted"]


@dataclass(frozen=True, slots=True)
class Stats:
    """What the decoding of one answer took.

    calls: decodes asked of the session. fed_main, fed_second: answer tokens decoded by
    each branch, the rejected included. rounds: batches in which drafts were checked;
    drafted, accepted: tokens checked in them, and those that stood. calibrated: tokens
    of the answer. prefill_seconds: the part of the time that went into prompts.
    """

    tokens: int = 0
    calls: int = 0
    fed_main: int = 0
    fed_second: int = 0
    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    calibrated: int = 0
    prefill_seconds: float = 0.0

    @property
    def acceptance(self) -> float:
        """Share of drafted tokens that stood; 1 if none was drafted."""
        return self.accepted / self.drafted if self.drafted else 1.0

    @property
    def mean_draft(self) -> float:
        """Tokens checked at a time."""
        return self.drafted / self.rounds if self.rounds else 0.0


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an answer ended. repeated: how many of its last tokens only repeat earlier ones.

    "end": the model or a stop string ended it. "length": max_tokens, or the context is
    full (then a warning says so). "interrupted": cancelled. looked: see `Step`; of the row that
    chose the end token, empty for other reasons.
    """

    reason: Reason
    warnings: tuple[str, ...] = ()
    stats: Stats = field(default_factory=Stats)
    repeated: int = 0
    looked: tuple[float, ...] = ()


class Repetition:
    """Notices that the tokens run in a circle.

    A run counts when the same block of 1 to 64 tokens has come `repeats` times in a row
    and the whole is at least 30 tokens long, so that short lists and rules may repeat.
    """

    LONGEST = 64
    SHORTEST_RUN = 30

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._tokens: list[int] = []
        self._periods = np.arange(1, self.LONGEST + 1)
        # for each period: how many of the last tokens equal the one a period earlier
        self._equal = np.zeros(self.LONGEST, np.int64)

    def push(self, token: int) -> int:
        """Number of last tokens that only repeat earlier ones; 0 while all is well."""
        if not self._repeats:
            return 0
        recent = np.full(self.LONGEST, -1)
        last = self._tokens[: -self.LONGEST - 1 : -1]
        recent[: len(last)] = last
        self._equal = np.where(recent == token, self._equal + 1, 0)
        self._tokens.append(token)
        whole = self._equal + self._periods
        circling = whole >= np.maximum(self._periods * self._repeats, self.SHORTEST_RUN)
        return int(self._equal[circling.argmax()]) if circling.any() else 0


class StopStrings:
    """Holds back what may become a stop string; cuts the answer before it."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = tuple(text for text in strings if text)
        self._held: list[Step] = []
        self.hit = False

    def push(self, step: Step) -> list[Step]:
        """The steps that are certain now. After `hit` nothing more comes."""
        if not self._strings:
            return [step]
        self._held.append(step)
        text = "".join(one.text for one in self._held)
        found = [at for at in (text.find(one) for one in self._strings) if at >= 0]
        if found:
            self.hit = True
            return self._cut(min(found))
        return self._release(len(text) - self._unsure(text))

    def rest(self) -> list[Step]:
        """What was held back, when the answer ends otherwise."""
        held, self._held = self._held, []
        return [] if self.hit else held

    def _unsure(self, text: str) -> int:
        """Length of the longest end of `text` that a stop string starts with."""
        longest = max(len(one) for one in self._strings) - 1
        return next(
            (n for n in range(min(longest, len(text)), 0, -1) if self._starts(text[-n:])), 0
        )

    def _starts(self, end: str) -> bool:
        return any(one.startswith(end) for one in self._strings)

    def _release(self, length: int) -> list[Step]:
        """Takes the held steps that end within the first `length` characters."""
        count = end = 0
        for step in self._held:
            end += len(step.text)
            if end > length:
                break
            count += 1
        released, self._held = self._held[:count], self._held[count:]
        return released

    def _cut(self, length: int) -> list[Step]:
        whole = self._release(length)
        left = length - sum(len(step.text) for step in whole)
        return [*whole, replace(self._held[0], text=self._held[0].text[:left])] if left else whole
