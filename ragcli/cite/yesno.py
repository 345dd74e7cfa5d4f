"""The generator as a verifier: its own yes or no, on a scale that it is asked to set first.

How readily a model says Yes differs from model to model: one that tells supported claims from
others well may hold No likelier for all of them. So a few pairs of known truth are put to it
first; their mean log-odds are 0 and 1 of the scale. (0.5B, 8 HotpotQA questions, 59 pairs:
no supported claim but one passed p(Yes) ≥ 0.6, at an AUC of 0.85.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import Generator
from ragcli.llm.prompts import verify as prompt

LEAST_AUC = 0.8  # of the known pairs; a model below it cannot judge

Odds = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scale:
    """Log-odds of Yes that mean 0 and 1."""

    zero: float
    one: float

    def scores(self, odds: Odds) -> Odds:
        """(n,) log-odds → 0..1, cut off at both ends."""
        return np.clip((odds - self.zero) / (self.one - self.zero), 0.0, 1.0)


def scale(supported: Odds, unsupported: Odds) -> Scale | None:
    """The scale that known pairs set; None where the model cannot tell them apart."""
    above = supported[:, None] - unsupported[None, :]
    auc = float(((above > 0) + 0.5 * (above == 0)).mean())
    zero, one = float(unsupported.mean()), float(supported.mean())
    return Scale(zero, one) if auc >= LEAST_AUC and one > zero else None


class LlmVerifier:
    """The log-odds of Yes against No as the next token, on the model's own `Scale`.

    A model that cannot tell the known pairs apart (the bundled 135M one) has no scale: then the
    score is p(Yes) / (p(Yes) + p(No)), which such a model seldom lets pass.
    """

    supported = 2 / 3
    partly = 1 / 3

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        tokenize = generator.vocabulary.tokenize
        self._tokens = [tokenize(prompt.YES)[0], tokenize(prompt.NO)[0]]
        self._scale: Scale | None = None
        self._placed = False

    @property
    def name(self) -> str:
        return f"llm:{self._generator.identity.name}"

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        pairs = list(zip(premises, hypotheses, strict=True))
        if not pairs:
            return []
        if not self._placed:
            known = self._odds([*prompt.SUPPORTED, *prompt.UNSUPPORTED])
            self._scale = scale(known[: len(prompt.SUPPORTED)], known[len(prompt.SUPPORTED) :])
            self._placed = True
        odds = self._odds(pairs)
        plain = 1.0 / (1.0 + np.exp(-np.clip(odds, -60, 60)))
        scores: list[float] = (self._scale.scores(odds) if self._scale else plain).tolist()
        return scores

    def _odds(self, pairs: Sequence[tuple[str, str]]) -> Odds:
        """(pairs,) log p(Yes) − log p(No)."""
        prompts = [
            self._generator.chat(prompt.SYSTEM, prompt.user(premise, claim))
            for premise, claim in pairs
        ]
        yes, no = self._generator.score_next(prompts, self._tokens).astype(np.float64).T
        return np.asarray(yes - no)
