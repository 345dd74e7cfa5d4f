"""What an analyzer learns, what is held aside, and what it will take. No torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ragcli.errors import UsageError
from ragcli.llm.base import Generator
from ragcli.train.analyzer_data import Row
from ragcli.train.examples import held_aside
from ragcli.train.instructions import Instruction, instructions

TEACHING = 3.0  # a step of training, in forward passes


@dataclass(frozen=True, slots=True)
class AnalyzerOptions:
    """Of the paper only the loss is known; the rest is ours.

    rank, alpha: of the change. rate: of Adam; batch: instructions an update. development: share of
    the questions that are not learnt from. patience: epochs without a better loss on those.
    """

    rank: int = 8
    alpha: float = 16.0
    epochs: int = 3
    rate: float = 1e-3
    batch: int = 8
    seed: int = 0
    development: float = 0.1
    patience: int = 2


@dataclass(frozen=True, slots=True)
class AnalyzerPlan:
    """What is learnt and what is held aside, by question. useless: rows that teach nothing."""

    training: tuple[Instruction, ...]
    development: tuple[Instruction, ...]
    useless: int
    options: AnalyzerOptions

    @property
    def tokens(self) -> int:
        """Mean of an instruction."""
        every = (*self.training, *self.development)
        return round(sum(len(one.tokens) for one in every) / len(every))


def plan(
    rows: Sequence[Row], generator: Generator, options: AnalyzerOptions, limit: int | None = None
) -> AnalyzerPlan:
    """limit: questions, in an order that the seed fixes. Raises UsageError where none is left."""
    questions = list(dict.fromkeys(one.question for one in rows))
    if limit is not None and limit < len(questions):
        kept = held_aside(questions, limit / len(questions), options.seed)
        rows = [one for one in rows if one.question in kept]
    made, useless = instructions(rows, generator)
    known = list(dict.fromkeys(one.question for one in made))
    if not known:
        raise UsageError(
            "there is nothing to learn from: no component stands in its question",
            hint="invariant and variant components are words of the question",
        )
    aside = held_aside(known, options.development, options.seed)
    return AnalyzerPlan(
        tuple(one for one in made if one.question not in aside),
        tuple(one for one in made if one.question in aside),
        len(useless),
        options,
    )


class Reading(Protocol):
    """What reads an instruction, and says how surprising its output is."""

    def value(self, one: Instruction) -> float: ...


def pace(made: AnalyzerPlan, lora: Reading) -> float:
    """Seconds an instruction takes to learn, by one of middling length."""
    middling = sorted(made.training, key=lambda one: len(one.tokens))[len(made.training) // 2]
    lora.value(middling)  # the first pass is slower
    began = time.perf_counter()
    lora.value(middling)
    return TEACHING * (time.perf_counter() - began)


def estimate(made: AnalyzerPlan, seconds: float) -> float:
    """Of a whole training, if it is not stopped early."""
    epochs = made.options.epochs
    held = len(made.development) * (epochs + 1) / TEACHING
    return seconds * (epochs * len(made.training) + held)
