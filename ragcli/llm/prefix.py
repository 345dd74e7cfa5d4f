"""The beginning that prompts share whatever is asked: decoded by itself, or taken from disk.

It is always decoded in batches of its own, kept or not: logits depend on the shape of a batch,
so this way a score is the same with a saved state and without one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Backend, Status
from ragcli.llm.base import EncodedPrompt
from ragcli.llm.schedule import Task, chunks, common_prefix
from ragcli.llm.states import PrefixStates

SHORTEST = 16  # tokens; fewer are decoded faster than they are looked for


def fixed_prefix(prompts: Sequence[EncodedPrompt]) -> NDArray[np.int32]:
    """(n,) the tokens that all prompts start with and that no question changes; often none.

    Each prompt keeps a token of its own beyond it.
    """
    if not prompts:
        return np.empty(0, np.int32)
    length = min(min(one.fixed, len(one) - 1) for one in prompts)
    first = prompts[0].tokens[: max(length, 0)]
    for one in prompts[1:]:
        first = first[: common_prefix(first, one.tokens)]
    return first if len(first) >= SHORTEST else first[:0]


def settle(
    backend: Backend,
    sequence: int,
    tokens: NDArray[np.int32],
    states: PrefixStates | None,
    cells: NDArray[np.int64],
) -> bool:
    """Empties the context and puts the tokens into a sequence. False: it stays empty.

    cells: (n,) takes the places of tokens that are decoded, where the backend knows them.
    """
    backend.clear()
    state = states.load(tokens) if states else None
    if state is not None and backend.restore(sequence, state, len(tokens)):
        return True
    for chunk in chunks([Task(sequence, tokens, 0, len(tokens))], backend.n_batch):
        if backend.decode(chunk.batch) is not Status.OK:
            backend.clear()
            return False
        if (places := backend.cells()) is not None:
            cells[chunk.batch.positions] = places[: len(chunk.batch.positions)]
    if states:
        states.save(tokens, backend.state(sequence))
    return True
