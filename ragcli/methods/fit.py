"""Prompts cut to the context: by whole sentences, the lowest-ranked document first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragcli.errors import ModelError
from ragcli.llm.base import EncodedPrompt, Generator
from ragcli.methods.stages import Context, Draft

DEFAULT_CONTEXT = 4096  # tokens of a prompt and its answer, unless the user or the model says less


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits. contexts: what is left of them; dropped: sentences cut."""

    prompt: EncodedPrompt
    contexts: tuple[Context, ...]
    dropped: int


def fit(draft: Draft, generator: Generator, budget: int) -> Fitted:
    """The draft encoded in at most `budget` tokens.

    Raises ModelError when the question alone does not fit.
    """
    contexts = draft.contexts
    while True:
        message = draft.build(contexts)
        prompt = generator.chat(message.system, message.user, message.prefix)
        if len(prompt) <= budget:
            return Fitted(prompt, contexts, _count(draft.contexts) - _count(contexts))
        if not contexts:
            raise ModelError(
                f"the question alone takes {len(prompt)} tokens, {budget} are free for the prompt",
                hint="ask in fewer words, raise --ctx or lower --max-tokens",
            )
        contexts = shorten(contexts, _tokens(prompt), len(prompt) - budget)


def shorten(contexts: Sequence[Context], tokens: Sequence[int], excess: int) -> tuple[Context, ...]:
    """Without the last sentences that hold `excess` tokens, at least one.

    tokens: one count a sentence, over all contexts in order. The last context is the
    lowest-ranked one.
    """
    left = list(contexts)
    counts = list(tokens)
    removed = 0
    while left and (removed < excess or len(counts) == len(tokens)):
        removed += counts.pop()
        kept = left[-1].sentences[:-1]
        if kept:
            left[-1] = replace(left[-1], sentences=kept)
        else:
            left.pop()
    return tuple(left)


def _tokens(prompt: EncodedPrompt) -> list[int]:
    owners = prompt.owner[prompt.owner >= 0]
    return [int(n) for n in np.bincount(owners, minlength=len(prompt.sources))]


def _count(contexts: Sequence[Context]) -> int:
    return sum(len(context.sentences) for context in contexts)
