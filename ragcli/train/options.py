"""How an organiser is trained: what the paper publishes, and what is ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

from ragcli.errors import UsageError

WARM, INDIVIDUAL, INTEGRATED = "warm", "individual", "integrated"
STAGES = (WARM, INDIVIDUAL, INTEGRATED)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage's schedule. rate: of Adam; batch: questions an update."""

    rate: float
    epochs: int
    batch: int


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """Paper 002, appendix B.2, where it says; rates and epochs are for a small encoder.

    tau: of eq. 3. negatives: of a positive. beta, weight: eq. 7 and 9. pairs: of orders that the
    generator compares in the integrated stage. development: share of the questions that no stage
    learns from. patience: epochs without a better development loss that end a stage. answers:
    development questions that are answered before and after (eq. 12).
    """

    seed: int = 0
    stages: tuple[str, ...] = STAGES
    warm: Stage = field(default_factory=lambda: Stage(1e-4, 3, 8))
    individual: Stage = field(default_factory=lambda: Stage(5e-5, 4, 8))
    integrated: Stage = field(default_factory=lambda: Stage(1e-5, 4, 4))
    tau: float = 1.0
    negatives: int = 31
    beta: float = 0.2
    weight: float = 0.1
    pairs: int = 400
    max_pairs: int = 8000
    development: float = 0.15
    patience: int = 2
    answers: int = 20

    def stage(self, name: str) -> Stage:
        found: Stage = getattr(self, name)
        return found


_STAGE_KEYS = tuple(f"{stage}.{one.name}" for stage in STAGES for one in fields(Stage))
_KEYS = {
    "tau": (1e-3, 1e3), "negatives": (1, 1000), "beta": (0, 100), "weight": (0, 100),
    "development": (0, 0.9), "patience": (1, 100), "answers": (0, 10_000),
}  # fmt: skip
_PARTING = re.compile(r"[\s,]+(?=[a-z][\w.]*\s*=)")
_STAGE_RANGES = {"rate": (0, 1), "epochs": (0, 1000), "batch": (1, 1000)}


def assigned(options: TrainOptions, assignments: Sequence[str]) -> TrainOptions:
    """The options with `warm.epochs=2`, `beta=0.1` and the like; one text may hold several.

    Raises UsageError.
    """
    for text in (one for several in assignments for one in _PARTING.split(several.strip())):
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"not a setting: {text}", hint="write it as --set warm.epochs=2")
        stage, dot, name = key.strip().rpartition(".")
        known = _STAGE_RANGES if dot and stage in STAGES else {} if dot else _KEYS
        if name not in known:
            every = (*_KEYS, *_STAGE_KEYS)
            near = get_close_matches(key, every, n=1)
            guess = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(f"unknown setting: {key}{guess}", hint=", ".join(every))
        if dot:
            held = options.stage(stage)
            number = _number(key, value, type(getattr(held, name)), known[name])
            changes: dict[str, Any] = {stage: replace(held, **{name: number})}
        else:
            changes = {name: _number(key, value, type(getattr(options, name)), known[name])}
        options = replace(options, **changes)
    return options


def parse_stages(text: str) -> tuple[str, ...]:
    """Some of the stages, in their order. Raises UsageError."""
    named = [one.strip() for one in text.split(",") if one.strip()]
    for one in named:
        if one not in STAGES:
            raise UsageError(f"unknown stage: {one}", hint=f"stages: {', '.join(STAGES)}")
    if not named:
        raise UsageError("no stage to train", hint=f"stages: {', '.join(STAGES)}")
    return tuple(one for one in STAGES if one in named)


def _number(key: str, text: str, kind: type, bounds: tuple[float, float]) -> Any:
    low, high = bounds
    try:
        number: float = kind(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise UsageError(f"{key} must be a number from {low:g} to {high:g}, not {text}")
    return number
