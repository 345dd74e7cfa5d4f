"""Short texts that a stage has the generator write: greedy, bounded, nothing fused."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.decoding.loop import BranchPrompts, generate
from ragcli.decoding.options import PlainOptions, SamplingOptions
from ragcli.llm.base import Generator, PromptPiece
from ragcli.text.normalise import readable


def write(
    generator: Generator, system: str, user: Sequence[PromptPiece], *, max_tokens: int
) -> str:
    """One line of clean text, possibly empty. Raises ModelError."""
    prompt = generator.chat(system, user)
    sampling = SamplingOptions(max_tokens=max_tokens, temperature=0.0)
    with generator.session(1, tap=False) as session:
        steps = generate(
            session, generator.vocabulary, BranchPrompts(prompt), PlainOptions(), sampling
        )
        texts = []
        for step in steps:
            texts.append(step.text)
            if generator.progress:
                generator.progress(len(texts), max_tokens)
        return readable("".join(texts))
