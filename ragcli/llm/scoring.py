"""Scores by logits instead of generating: the next token, or a whole continuation.

Prompts are sorted, so that neighbours share the longest beginnings; a group of prompts
whose unshared tokens fit one batch is decoded at once, its cells are freed after it, and
the next group starts from what it shares with the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Feed, Output, Tokens
from ragcli.llm.schedule import common_prefix
from ragcli.llm.session import BranchSession

GROUP = 16  # prompts decoded together at most
_ROWS = 128  # logit rows at once: each is the whole vocabulary
_BUDGET = 512  # unshared tokens decoded together


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """(rows, vocabulary) log-probabilities of logits, in float64."""
    z = logits.astype(np.float64)
    z -= z.max(axis=-1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))


def groups(prompts: Sequence[NDArray[np.int32]]) -> Iterator[list[int]]:
    """Indices of prompts that are decoded together, in an order in which neighbours share."""
    order = sorted(range(len(prompts)), key=lambda index: prompts[index].tolist())
    group: list[int] = []
    used = 0
    for index in order:
        own = len(prompts[index])
        if group:
            own -= common_prefix(prompts[group[-1]], prompts[index])
        if group and (len(group) == GROUP or used + own > _BUDGET):
            yield group
            group, used = [], 0
            own = len(prompts[index])
        group.append(index)
        used += own
    if group:
        yield group


Progress = Callable[[int, int], None]


def silent(_done: int, _total: int) -> None:
    """Tells nobody."""


def score_next(
    session: BranchSession,
    prompts: Sequence[Tokens],
    tokens: Sequence[int],
    *,
    prefix: NDArray[np.int32] | None = None,
    progress: Progress = silent,
) -> NDArray[np.float32]:
    """(n_prompts, n_tokens) log-probability of each token right after each prompt.

    prefix: see `BranchSession.start`. progress: told of prompts done and in all.
    """
    arrays = [np.asarray(prompt, np.int32) for prompt in prompts]
    scores = np.empty((len(arrays), len(tokens)), np.float32)
    done = 0
    for group in groups(arrays):
        progress(done, len(arrays))
        done += len(group)
        session.start(
            {slot: arrays[index] for slot, index in enumerate(group)},
            keep=True,
            reserve=0,
            prefix=prefix,
        )
        outputs = session.advance([Feed(slot) for slot in range(len(group))])
        for index, output in zip(group, outputs, strict=True):
            scores[index] = log_softmax(output.logits)[0, list(tokens)]
    return scores


def loglikelihood(
    session: BranchSession,
    prompts: Sequence[Tokens],
    continuations: Sequence[Tokens],
    *,
    prefix: NDArray[np.int32] | None = None,
    progress: Progress = silent,
) -> NDArray[np.float64]:
    """(n,) log P(continuation i | prompt i), summed over its tokens; 0 for an empty one.

    prefix, progress: as for `score_next`.
    """
    arrays = [np.asarray(prompt, np.int32) for prompt in prompts]
    rest = [np.asarray(tokens, np.int32) for tokens in continuations]
    totals = np.zeros(len(arrays), np.float64)
    wholes = [np.concatenate(pair) for pair in zip(arrays, rest, strict=True)]
    done = 0
    for group in groups(wholes):
        progress(done, len(wholes))
        done += len(group)
        longest = max(len(rest[index]) for index in group)
        session.start(
            {s: arrays[i] for s, i in enumerate(group)}, keep=True, reserve=longest, prefix=prefix
        )
        step = max(1, _ROWS // len(group))
        for start in range(0, longest, step):
            # the last token is scored by the row before it and need not be fed
            feeds = [
                Feed(slot, rest[index][start : min(start + step, len(rest[index]) - 1)], "all")
                for slot, index in enumerate(group)
                if start < max(len(rest[index]) - 1, 1) and len(rest[index])
            ]
            for feed, output in zip(feeds, session.advance(feeds), strict=True):
                index = group[feed.branch]
                totals[index] += _sum_of_rows(output, wholes[index])
    return totals


def _sum_of_rows(output: Output, whole: NDArray[np.int32]) -> float:
    """Log-probability of the tokens that the output's rows predict."""
    predicted = whole[output.start : output.start + len(output.logits)]
    rows = np.arange(len(predicted))
    return float(log_softmax(output.logits)[rows, predicted].sum())
