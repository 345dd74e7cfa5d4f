"""Answers of development questions, to see what organising changes in them (paper 002, eq. 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.decoding.loop import BranchPrompts, generate
from ragcli.decoding.options import PlainOptions, SamplingOptions
from ragcli.llm.base import Generator
from ragcli.train.examples import Candidate, Example, says
from ragcli.train.feedback import Feedback

LONGEST = 32  # tokens of an answer


@dataclass(frozen=True, slots=True)
class Answered:
    """right: whether the answer holds an alias. tokens: of the knowledge in the prompt."""

    text: str
    right: bool
    tokens: int


def answered(
    generator: Generator, feedback: Feedback, example: Example, order: Sequence[Candidate]
) -> Answered:
    """The greedy answer from these sentences, by the prompt that feedback uses."""
    prompt = feedback.prompt(example.question, order)
    sampling = SamplingOptions(max_tokens=LONGEST, temperature=0.0)
    with generator.session(1, tap=False) as session:
        steps = generate(
            session, generator.vocabulary, BranchPrompts(prompt), PlainOptions(), sampling
        )
        text = "".join(step.text for step in steps)
    return Answered(text, says(text, example.answers), int((prompt.owner >= 0).sum()))
