"""DRAG's analyzer as the paper has it: a model trained for both tasks (here a LoRA adapter).

It writes the elements of a question, of which only what the question says is believed; its
scores of a document are read off its probabilities, nothing is written for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ragcli.llm.base import EncodedPrompt, Generator, PromptPiece, Vocabulary
from ragcli.llm.prompts import analyzer as prompt
from ragcli.selection.analyzers import Text, mentions
from ragcli.selection.components import parse_components, settle
from ragcli.selection.mention import DEFAULT, MentionRules
from ragcli.selection.signals import Scores
from ragcli.text.words import keys_of, words
from ragcli.types import Component

Write = Callable[[str, Sequence[PromptPiece], int], str]
_MOST_TOKENS = 80  # of a list of elements
_MOST_TEXT = 2000  # characters of a document that it reads
_MOST_WORDS = 6  # of an element that the question does not say


class TrainedAnalyzer:
    """generator: with the adapter. write(system, user, most tokens): what it says, greedily.

    label: names the adapter, for people.
    """

    def __init__(
        self, generator: Generator, write: Write, label: str, rules: MentionRules = DEFAULT
    ) -> None:
        self._generator, self._write, self._rules = generator, write, rules
        self._label = label

    @property
    def name(self) -> str:
        return f"{self._label} on {self._generator.identity.name}"

    def components(self, question: str, language: str) -> tuple[Component, ...]:
        """Those of the output that stand in the question; where none does, the question itself."""
        said = self._write(prompt.ELEMENTS_SYSTEM, prompt.elements(question), _MOST_TOKENS)
        held = keys_of(question, language)
        found = [one for one in parse_components(said) if believed(one, held, language)]
        return settle(found) or (Component("variant", question),)

    def scores(
        self, question: str, components: Sequence[Component], documents: Sequence[Text]
    ) -> Scores:
        """Expected score, its lines taken in order; 0 or 1 by mention for the invariant one."""
        table = mentions(components, documents, self._rules)
        said = [""] * len(documents)
        for at, one in enumerate(components):
            begun = [f"{before}{prompt.line(one)}" for before in said]
            if one.kind != "invariant" and documents:
                table[:, at] = self._expected(question, components, documents, begun)
            said = [
                f"{text}{level(score)}\n" for text, score in zip(begun, table[:, at], strict=True)
            ]
        return table

    def _expected(
        self,
        question: str,
        components: Sequence[Component],
        documents: Sequence[Text],
        begun: Sequence[str],
    ) -> Scores:
        """(documents,) mean of the levels by their probabilities after what is begun."""
        asked = [
            scores_prompt(self._generator, question, components, text, before)
            for text, before in zip(documents, begun, strict=True)
        ]
        tokens = [level_tokens(self._generator.vocabulary, one) for one in prompt.LEVELS]
        prompts = [one for one in asked for _ in tokens]
        sums = self._generator.loglikelihood(prompts, tokens * len(asked))
        grid = sums.reshape(len(asked), len(tokens))
        shares = np.exp(grid - grid.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(shares @ np.array([float(one) for one in prompt.LEVELS]))


def elements_prompt(generator: Generator, question: str) -> EncodedPrompt:
    """What `write` asks for the elements of a question."""
    return generator.chat(prompt.ELEMENTS_SYSTEM, prompt.elements(question))


def scores_prompt(
    generator: Generator, question: str, components: Sequence[Component], text: Text, begun: str
) -> EncodedPrompt:
    """What is asked for a score. begun: the output up to the component's `line`, that included."""
    user = prompt.scored(question, components, text.whole[:_MOST_TEXT])
    return generator.chat(prompt.SCORES_SYSTEM, user, begun)


def level(score: float) -> str:
    """What is written after a component's line: a blank and the nearest of `LEVELS`."""
    return f" {min(prompt.LEVELS, key=lambda one: abs(float(one) - score))}"


def level_tokens(vocabulary: Vocabulary, name: str) -> list[int]:
    """Of one of `LEVELS`, as it follows a prompt."""
    return vocabulary.tokenize(f" {name}")


def believed(one: Component, held: frozenset[str], language: str) -> bool:
    """Whether the question says it; an added element may be a few words of its own."""
    keys = keys_of(one.text, language)
    if one.kind == "supplementary":
        return 0 < len(words(one.text)) <= _MOST_WORDS
    return bool(keys) and keys <= held
