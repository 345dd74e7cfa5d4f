"""Branches over one context: who holds which tokens, what is decoded, what is shared.

All of it is bookkeeping over the `Backend` protocol; the engine is in `context`.

A branch has tokens (its prompt and what was fed) of which the first `decoded` are in the
context. A hidden sequence, the keeper, holds a prefix from one `start` to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.closing import Closing
from ragcli.errors import ContextFull
from ragcli.llm.backend import Backend, Status, failure
from ragcli.llm.base import Feed, Output, Tokens
from ragcli.llm.branch import Branch
from ragcli.llm.prefix import settle
from ragcli.llm.rows import Rows, by_position
from ragcli.llm.schedule import Chunk, Task, chunks, common_prefix, unique_tokens
from ragcli.llm.states import PrefixStates

RESERVE = 512  # cells kept for the tokens each branch will be fed, when the size is ours to choose
_GRAIN = 512  # contexts are a multiple of this


class BranchSession(Closing):
    """The `Session` protocol over a backend.

    make(n_ctx) creates a backend of that many cells. n_ctx None: the size follows the
    prompts, and a context that proves too small is replaced by one twice as large.
    limit: most tokens of one branch. states: where beginnings are kept. no_tap(reason) is told when attention turns out
    unreadable; from then on outputs carry none.
    """

    def __init__(
        self,
        make: Callable[[int], Backend],
        branches: int,
        *,
        limit: int,
        n_ctx: int | None = None,
        no_tap: Callable[[str], None] = lambda _reason: None,
        states: PrefixStates | None = None,
    ) -> None:
        if branches < 1:
            raise ValueError("a session needs a branch")
        self._make, self._fixed, self._limit, self._no_tap = make, n_ctx, limit, no_tap
        self._branches = branches
        self._state = [Branch() for _ in range(branches + 1)]  # the last is the keeper
        self._open: Backend | None = make(n_ctx) if n_ctx is not None else None
        self._tap_works = True
        self._states = states

    @property
    def branches(self) -> int:
        return self._branches

    @property
    def limit(self) -> int:
        return self._limit if self._fixed is None else min(self._limit, self._fixed)

    @property
    def n_ctx(self) -> int:
        return self._open.n_ctx if self._open else self._fixed or 0

    def start(
        self,
        prompts: Mapping[int, Tokens],
        *,
        keep: bool = False,
        reserve: int = RESERVE,
        prefix: NDArray[np.int32] | None = None,
    ) -> None:
        """See `Session.start`. keep: what all prompts start with stays decoded.

        prefix: what the first of them starts with, or all do, and the next `start` may too;
        decoded at once and by itself, or taken from `states`, or still there. So a row after it
        does not depend on what was there. Restored cells have no place: no `states` under a tap.
        """
        unknown = [branch for branch in prompts if not 0 <= branch < self._branches]
        if unknown:
            raise ValueError(f"no such branch: {unknown}")
        new = {branch: Branch(tokens) for branch, tokens in prompts.items()}
        longest = max((branch.length for branch in new.values()), default=0)
        self._check_length(longest)
        wanted = unique_tokens([branch.tokens for branch in new.values()]) + reserve * len(new)
        if prefix is not None and self.holds(prefix) and not keep:
            self._drop_branches()
        else:
            self._forget([branch.tokens for branch in new.values()] if keep else [])
        if self._open is None or (self._fixed is None and wanted > self._open.n_ctx):
            self._replace(wanted)
        if prefix is not None and len(prefix):
            self._settle(prefix)
        for index, branch in new.items():
            self._state[index] = branch

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        self._check_feeds(feeds)
        with self._backend.guarded():
            before = {feed.branch: self._state[feed.branch].length for feed in feeds}
            try:
                tasks = [self._task(feed) for feed in feeds]
                decoded = {task.sequence: task.decoded for task in tasks}
                return self._run(tasks, decoded)
            except BaseException:
                for branch, length in before.items():
                    self._state[branch].length = length
                raise

    def length(self, branch: int) -> int:
        return self._state[branch].length

    def decoded(self, branch: int) -> int:
        return self._state[branch].decoded

    def tokens(self, branch: int) -> NDArray[np.int32]:
        return self._state[branch].tokens.copy()

    def truncate(self, branch: int, length: int) -> None:
        state = self._state[branch]
        if not 0 <= length <= state.length:
            raise ValueError(f"branch {branch} has {state.length} tokens, not {length}")
        self._cut(branch, length)
        state.length = length

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None
        self._state = [Branch() for _ in self._state]

    @property
    def _backend(self) -> Backend:
        if self._open is None:
            raise ValueError("the session is closed, or was never started")
        return self._open

    def _check_length(self, length: int) -> None:
        if length > self.limit:
            raise ContextFull(
                f"the prompt and answer take {length} tokens; the context holds {self.limit}",
                hint="a larger --ctx, fewer documents, or a smaller --max-tokens",
            )

    def _check_feeds(self, feeds: Sequence[Feed]) -> None:
        fed = {feed.branch for feed in feeds}
        if len(fed) != len(feeds):
            raise ValueError("a branch can be fed once a call")
        if not fed <= set(range(self._branches)):
            raise ValueError(f"branches are 0 to {self._branches - 1}")

    def _forget(self, prompts: list[NDArray[np.int32]]) -> None:
        """Drops every branch; what the new prompts all start with stays with the keeper."""
        keeper, best, shared = self._branches, 0, 0
        prefix = prompts[0] if prompts else np.empty(0, np.int32)
        for tokens in prompts[1:]:
            prefix = prefix[: common_prefix(prefix, tokens)]
        for index, state in enumerate(self._state):
            common = min(common_prefix(prefix, state.tokens), state.decoded)
            if common > shared:
                best, shared = index, common
        if self._open is not None and (not shared or not self._open.cuttable):
            self._open.clear()
            shared = 0
        kept = Branch(prefix[:shared])
        if self._open is not None and shared:
            if best != keeper:
                self._open.remove(keeper, 0)
                self._open.copy(best, keeper, 0, shared)
            self._open.remove(keeper, shared)
            for index in range(self._branches):
                self._open.remove(index, 0)
            kept.cells[:] = self._state[best].cells[:shared]
            kept.decoded = shared
        self._state = [Branch() for _ in range(self._branches)] + [kept]

    def holds(self, prefix: NDArray[np.int32]) -> bool:
        """Whether exactly that is still decoded from an earlier `start` with it."""
        held = self._state[-1]
        same = held.decoded == len(prefix) == common_prefix(held.tokens, prefix)
        return self._open is not None and self._open.cuttable and same

    def _drop_branches(self) -> None:
        """Drops every branch but the keeper."""
        for index in range(self._branches):
            self._backend.remove(index, 0)
            self._state[index] = Branch()

    def _settle(self, prefix: NDArray[np.int32]) -> None:
        """Has the keeper hold the prefix; every other branch is empty already."""
        held = self._state[-1]
        if not self._backend.cuttable or (
            held.decoded >= len(prefix) == common_prefix(held.tokens, prefix)
        ):
            return
        kept = Branch(prefix)
        with self._backend.guarded():
            there = settle(self._backend, self._branches, prefix, self._states, kept.cells)
        self._state[-1] = kept if there else Branch()
        self._state[-1].decoded = len(prefix) if there else 0

    def _replace(self, wanted: int) -> None:
        """A new, empty context for `wanted` cells; branches keep their tokens."""
        if self._open is not None:
            self._open.close()
        self._open = None
        for state in self._state:
            state.decoded = 0
        self._state[-1] = Branch()
        self._open = self._make(-(-wanted // _GRAIN) * _GRAIN)

    def _cut(self, index: int, length: int) -> None:
        """Frees a branch's cells from position `length` on."""
        state = self._state[index]
        if state.decoded > length:
            self._backend.remove(index, length)
            state.decoded = length if self._backend.cuttable else 0

    def _task(self, feed: Feed) -> Task:
        state = self._state[feed.branch]
        length, waiting = state.length, state.decoded < state.length
        self._check_length(length + len(feed.tokens))
        state.append(feed.tokens)
        if not state.length:
            raise ValueError(f"branch {feed.branch} is empty")
        if state.decoded == state.length:  # nothing new: the last token is decoded again
            self._cut(feed.branch, length - 1)
            waiting = True
        first_row = {
            "none": state.length,
            "last": state.length - 1,
            "all": max(length - 1, 0) if waiting else length,
        }[feed.logits]
        return Task(feed.branch, state.tokens, state.decoded, first_row)

    def _run(self, tasks: list[Task], decoded: dict[int, int]) -> list[Output]:
        """Decodes the tasks; on failure the branches' cells are as `decoded` says."""
        while True:
            rows = [Rows(task) for task in tasks]
            try:
                status = self._decode(tasks, rows)
            except BaseException:
                self._roll_back(decoded)
                raise
            if status is Status.OK:
                return [row.output() for row in rows]
            self._roll_back(decoded)
            most = (self._branches + 1) * self._limit  # more cells cannot be what is missing
            if status is not Status.FULL or self._fixed is not None or self.n_ctx > most:
                raise failure(status, self.n_ctx, self._backend.reason())
            living = [state.tokens for state in self._state if state.length]
            self._replace(max(2 * self.n_ctx, unique_tokens(living) + RESERVE * len(tasks)))
            decoded = dict.fromkeys(decoded, 0)
            tasks = [Task(t.sequence, t.tokens, 0, t.first_row) for t in tasks]

    def _decode(self, tasks: list[Task], rows: list[Rows]) -> Status:
        cuttable = self._backend.cuttable
        for group in [list(range(len(tasks)))] if cuttable else [[i] for i in range(len(tasks))]:
            part = [self._shared(tasks[i]) if cuttable else tasks[i] for i in group]
            for chunk in chunks(part, self._backend.n_batch):
                status = self._backend.decode(chunk.batch)
                if status is not Status.OK:
                    return status
                self._book(chunk, part)
                self._collect(chunk, part, [rows[i] for i in group])
        return Status.OK

    def _shared(self, task: Task) -> Task:
        """Takes over the longest prefix that another sequence has in the context."""
        best, shared = -1, task.decoded
        limit = min(task.first_row, len(task.tokens))
        if shared >= limit:
            return task
        for index, state in enumerate(self._state):
            if index != task.sequence and min(state.decoded, limit) > shared:
                stop = min(state.decoded, limit)
                common = common_prefix(task.tokens[:stop], state.tokens[:stop])
                if common > shared:
                    best, shared = index, common
        if best < 0:
            return task
        mine, other = self._state[task.sequence], self._state[best]
        self._backend.copy(best, task.sequence, task.decoded, shared)
        mine.cells[task.decoded : shared] = other.cells[task.decoded : shared]
        mine.decoded = shared
        return Task(task.sequence, task.tokens, shared, task.first_row)

    def _book(self, chunk: Chunk, tasks: list[Task]) -> None:
        """Notes that the chunk's tokens are in the context, and where."""
        cells = self._backend.cells()
        for first, last, group in chunk.stretches():
            start = int(chunk.batch.positions[first])
            stop = start + last - first
            for index in group:
                state = self._state[tasks[index].sequence]
                state.decoded = stop
                if cells is not None:
                    state.cells[start:stop] = cells[first:last]

    def _collect(self, chunk: Chunk, tasks: list[Task], rows: list[Rows]) -> None:
        for token in np.flatnonzero(chunk.batch.wanted).tolist():
            position = int(chunk.batch.positions[token])
            logits = self._backend.logits(token)
            group = chunk.tasks[token]
            cells = self._state[tasks[group[0]].sequence].cells[: position + 1]
            attention = self._attention(token, cells)
            for index in group:
                rows[index].put(position, logits, attention)

    def _attention(self, token: int, cells: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """The row of a token of the last batch over its positions; None without a tap."""
        if not self._tap_works:
            return None
        try:
            row = self._backend.attention(token)
            return None if row is None else by_position(row, cells)
        except ValueError as error:
            self._tap_works = False
            self._no_tap(str(error))
            return None

    def _roll_back(self, decoded: Mapping[int, int]) -> None:
        for index, length in decoded.items():
            self._backend.remove(index, length)
            self._state[index].decoded = length if self._backend.cuttable else 0
