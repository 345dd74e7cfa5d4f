"""Which tokens the branches agree on: lock-step, drafted, or with a lazy second branch.

All three give the same tokens, near-ties of the engine's arithmetic apart: a token is
always chosen by the same rule from the same two rows; what differs is when a branch reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.decoding.blends import Blend
from ragcli.decoding.copying import Copier
from ragcli.decoding.distribution import Distribution, log_sum_exp
from ragcli.decoding.draft import Drafter
from ragcli.decoding.lanes import Lanes, Row
from ragcli.decoding.options import SamplingOptions
from ragcli.decoding.sampling import Choice, choose
from ragcli.decoding.watch import Seen, Watch
from ragcli.errors import ContextFull, Interrupted, ModelError


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A token as the main branch alone would have it. checked: the second branch decides."""

    step: int
    logits: NDArray[np.float32]
    alone: Distribution
    choice: Choice
    seen: Seen
    checked: bool


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """A token of the answer, the distribution it was taken from, and its draft."""

    token: int
    distribution: Distribution
    draft: Draft
    calibrated: bool


class Chooser:
    """Chooses token after token; `prompt` is the main branch's. `rounds`, `drafted`, `accepted`: see `Stats`."""

    def __init__(
        self,
        lanes: Lanes,
        prompt: NDArray[np.int32],
        blend: Blend,
        sampling: SamplingOptions,
        watch: Watch,
        is_end: Callable[[int], bool],
        cancelled: Callable[[], bool],
    ) -> None:
        self._lanes, self._blend, self._sampling, self._watch = lanes, blend, sampling, watch
        self._is_end, self._cancelled = is_end, cancelled
        self._drafter, self._copier = Drafter(), Copier(prompt)
        self.rounds = self.drafted = self.accepted = 0

    def tokens(self) -> Iterator[Decided]:
        """Endless: the consumer stops at an end token or after max_tokens.

        Raises ContextFull when the next token does not fit, Interrupted when cancelled.
        """
        lanes, pending = self._lanes, list[Draft]()
        self._check_cancelled()
        lanes.begin(both=self._blend.always)
        while True:
            self._check_cancelled()
            draft = self._draft(len(lanes.tokens), lanes.take())
            lanes.tokens.append(draft.choice.token)
            if pending or draft.checked:
                pending.append(draft)
                goes_on = self._goes_on(draft)
                copy = self._copy(draft)
                if goes_on and not copy and self._read_on():
                    continue
                yield from self._settle(pending, copy)
                pending.clear()
            else:
                yield Decided(draft.choice.token, draft.alone, draft, False)
            if lanes.main is None:
                lanes.step(both=self._blend.always and not self._sampling.draft)

    def _draft(self, step: int, row: Row) -> Draft:
        top = float(row.logits.max())
        if not math.isfinite(top):
            raise ModelError(
                "the model gives values that are no numbers",
                hint="the file may be damaged; with a GPU, try --gpu-layers 0",
            )
        alone = self._blend.alone(row.logits)
        whole = alone.ids is None
        log_top = float(alone.logp.max()) if whole else top - log_sum_exp(row.logits)
        seen = self._watch.see(row, log_top, step)
        choice = choose(alone, self._sampling, step)
        return Draft(step, row.logits, alone, choice, seen, self._blend.needs(seen.risk))

    def _goes_on(self, draft: Draft) -> bool:
        """Whether to draft past this token before it is checked.

        Not where only risky tokens are: the noise mostly decides otherwise on them.
        """
        if not self._sampling.draft:
            return False
        self._drafter.add(draft.choice.margin, draft.checked)
        return self._blend.always and self._drafter.worth_more and not self._is_last(draft)

    def _is_last(self, draft: Draft) -> bool:
        return self._is_end(draft.choice.token) or draft.step + 1 >= self._sampling.max_tokens

    def _copy(self, draft: Draft) -> list[int]:
        """What may follow the drafts, from the prompt; where the second branch always reads."""
        worth_it = self._sampling.draft and self._blend.always and self._drafter.likely
        if not worth_it or self._is_last(draft):
            return []
        left = self._sampling.max_tokens - draft.step - 2  # the row after the last is read too
        return self._copier.find(self._lanes.tokens, left)

    def _settle(self, pending: list[Draft], copy: list[int]) -> Iterator[Decided]:
        """The tokens on which the branches agree, and the one where they first do not."""
        rows, ahead = self._checked(pending, copy)
        self.rounds += 1
        self.drafted += len(pending) + len(copy)
        self._drafter.restart()
        for draft, row in zip(pending, rows, strict=False):
            decided = self._decide(draft, row)
            stood = decided.token == draft.choice.token
            if draft.checked:
                self._drafter.learn(draft.choice.margin, stood)
            self._keep(decided, stood)
            yield decided
            if not stood:
                return
        if copy:
            yield from self._settle_copy(copy, rows[len(pending) :], ahead)

    def _settle_copy(
        self, copy: list[int], rows: list[NDArray[np.float32]], ahead: list[Row]
    ) -> Iterator[Decided]:
        """As many copied tokens as are right, and the one after them."""
        first = len(self._lanes.tokens) - len(copy)
        for place, (row, main) in enumerate(zip(rows, ahead, strict=True)):
            draft = self._draft(first + place, main)
            decided = self._decide(draft, row)
            stood = place < len(copy) and decided.token == copy[place]
            if not stood:
                self._copier.learn(len(copy), place)
            self._keep(decided, stood)
            yield decided
            if not stood:
                return

    def _keep(self, decided: Decided, stood: bool) -> None:
        """Books a token; one that was not drafted takes the place of the rest of the draft."""
        self.accepted += stood
        if not stood:
            self._lanes.back(decided.draft.step)
            self._lanes.tokens.append(decided.token)

    def _decide(self, draft: Draft, second: NDArray[np.float32]) -> Decided:
        if not draft.checked:
            return Decided(draft.choice.token, draft.alone, draft, False)
        together = self._blend.together(draft.logits, second)
        choice = choose(together, self._sampling, draft.step)
        return Decided(choice.token, together, draft, self._blend.calibrates)

    def _checked(
        self, pending: list[Draft], copy: list[int]
    ) -> tuple[list[NDArray[np.float32]], list[Row]]:
        """Rows for the drafts and the copy; near the context's end for fewer of them."""
        lanes = self._lanes
        likely = self._sampling.draft and self._drafter.likely
        ahead = likely and not self._is_last(pending[-1])
        lanes.tokens.extend(copy)
        while True:
            try:
                return lanes.check(pending[0].step, len(copy), ahead)
            except ContextFull:
                if len(pending) == 1 and not (copy or ahead):
                    raise
                if not (copy or ahead):
                    del pending[len(pending) // 2 :]
                lanes.back(pending[-1].step)  # the last one unread, as if drafted just now
                lanes.tokens.append(pending[-1].choice.token)
                copy.clear()
                ahead = False

    def _read_on(self) -> bool:
        """Whether the main branch could read its last token; not when the context is full."""
        try:
            self._lanes.step()
        except ContextFull:
            return False
        return True

    def _check_cancelled(self) -> None:
        if self._cancelled():
            raise Interrupted("interrupted while answering")
