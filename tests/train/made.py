"""A made task whose preference is known, and a generator that has it.

A sentence of gold helps; one of lead harms; one of tin helps a little by itself and harms beside
gold; blue is better read before red.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, Tokens
from ragcli.train.examples import Candidate, Example
from tests.methods.fakes import FakeGenerator
from tests.train.tiny import make_encoder

THINGS = [f"thing{n}" for n in range(12)]
METALS = ("gold", "lead", "tin", "blue", "red")
KINDS = ("gold blue", "gold red", "tin", "lead")


def encoder(folder: Path) -> Path:
    return make_encoder(folder, ["what", "is", "the", ":", *THINGS, *METALS])


def examples(n: int = 40) -> list[Example]:
    rng = np.random.default_rng(7)
    made = []
    for number in range(n):
        thing = THINGS[number % len(THINGS)]
        found = [
            Candidate(f"the {thing} is {kind} {rng.choice(THINGS)}", "the", gold="gold" in kind)
            for kind in rng.permutation([*KINDS, "tin", "lead"])
        ]
        made.append(Example(f"q{number}", f"what is the {thing}", ("gold",), tuple(found)))
    return made


def helps(words: Sequence[str]) -> float:
    """log P of the answer after these words, up to a constant."""
    total = -2.0 * words.count("lead")
    if "gold" in words:
        total += 2.0 - 1.5 * words.count("tin")
    else:
        total += 0.5 * words.count("tin")
    if "blue" in words and "red" in words:
        total += 1.0 if words.index("blue") < words.index("red") else -1.0
    return total


class Assayer(FakeGenerator):
    """Judges by `helps`; writes gold where the best word comes first."""

    def __init__(self) -> None:
        super().__init__("gold")
        self.asked = 0
        self.fail_after: int | None = None

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        self.asked += len(prompts)
        if self.fail_after is not None and self.asked > self.fail_after:
            raise KeyboardInterrupt
        return np.array([helps(self._words(prompt)) for prompt in prompts], np.float64)

    def _words(self, prompt: EncodedPrompt) -> list[str]:
        text = "".join(self.vocabulary.piece(int(token)).decode() for token in prompt.tokens)
        return text.partition("Question:")[0].split()
