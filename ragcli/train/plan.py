"""Which questions are learnt from, which are held aside, and what it will take. No torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from numpy import float64
from numpy.typing import NDArray

from ragcli.errors import UsageError
from ragcli.train.examples import Example, split
from ragcli.train.feedback import Asked, Feedback
from ragcli.train.options import INDIVIDUAL, INTEGRATED, TrainOptions
from ragcli.train.stages import individual_requests, texts

ORDER_COST = 4.0  # a prompt with an order of sentences, in prompts with one: measured 3 to 5
TEACHING = 3.0  # a step of training, in forward passes
_TRIED = 16  # prompts that tell the generator's pace


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained on what. scored: the examples whose sentences the generator judges."""

    training: tuple[Example, ...]
    development: tuple[Example, ...]
    scored: frozenset[str]
    options: TrainOptions

    @property
    def requests(self) -> list[Asked]:
        """Everything stage 1 asks the generator; nothing where it is left out."""
        if INDIVIDUAL not in self.options.stages:
            return []
        every = (*self.training, *self.development)
        return [r for one in every if one.id in self.scored for r in individual_requests(one)]


def plan(examples: Sequence[Example], options: TrainOptions) -> Plan:
    """Parts, and the questions that `max_pairs` pays for. Raises UsageError where none is left."""
    usable = [one for one in examples if one.candidates]
    if len(usable) < 2:
        raise UsageError(
            "there are too few questions with sentences to learn from",
            hint="questions with answers, and passages or an index to find them in, are needed",
        )
    training, development = split(usable, options.development, options.seed)
    left, scored = options.max_pairs, set()
    for one in _alternating(training, development):
        left -= len(one.candidates) + 1
        if left < 0:
            break
        scored.add(one.id)
    return Plan(tuple(training), tuple(development), frozenset(scored), options)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a training will take. prompts: missing of stage 1's pairs. orders: of stage 2."""

    prompts: int
    orders: int
    feedback_seconds: float
    training_seconds: float

    @property
    def seconds(self) -> float:
        return self.feedback_seconds + self.training_seconds


class Scoring(Protocol):
    """What gives scores as numbers."""

    def values(self, question: str, sentences: Sequence[str]) -> NDArray[float64]: ...


def estimate(made: Plan, feedback: Feedback, scorer: Scoring) -> Estimate:
    """Asks a few prompts, which are needed anyway, to know the pace. Raises ModelError."""
    options = made.options
    requests = made.requests
    feedback.scores(requests[:_TRIED])
    missing = feedback.cost(requests).prompts
    compared = INTEGRATED in options.stages
    held = len(made.development)
    orders = 2 * options.pairs + held * (4 + options.integrated.epochs + 1) if compared else 0
    orders += 2 * min(options.answers, len(made.development))
    began = time.perf_counter()
    sample = made.training[:2]
    for one in sample:
        scorer.values(one.question, texts(one))
    each = (time.perf_counter() - began) / len(sample)
    steps = sum(
        options.pairs if name == INTEGRATED else options.stage(name).epochs * len(made.training)
        for name in options.stages
    )
    if orders and not feedback.pace:
        feedback.scores([Asked(one.question, one.answer) for one in sample])
    return Estimate(
        missing,
        orders,
        feedback.pace * (missing + ORDER_COST * orders),
        each * (TEACHING * steps + len(made.development) * len(options.stages)),
    )


def _alternating(training: Sequence[Example], development: Sequence[Example]) -> list[Example]:
    """Both parts in the shares they have, so that a budget is spent on both."""
    places = [
        *((at / len(training), one) for at, one in enumerate(training)),
        *((at / len(development), one) for at, one in enumerate(development)),
    ]
    return [one for _, one in sorted(places, key=lambda place: place[0])]
