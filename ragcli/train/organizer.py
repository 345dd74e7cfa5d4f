"""Trains an organiser from beginning to end: feedback, stages, files, report (paper 002)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ragcli import __version__
from ragcli.llm.base import Generator
from ragcli.llm.prompts import answer as wording
from ragcli.selection.organiser import organise
from ragcli.train.agreement import changes
from ragcli.train.answering import Answered, answered
from ragcli.train.card import card
from ragcli.train.checkpoint import Checkpoint
from ragcli.train.examples import Example
from ragcli.train.feedback import Feedback
from ragcli.train.options import INDIVIDUAL, INTEGRATED, WARM
from ragcli.train.plan import Plan
from ragcli.train.scorer import Scorer, reload
from ragcli.train.stages import (
    Preference,
    Trainer,
    individual_requests,
    organised_request,
    supervised,
    texts,
)

_DRAWS = 2  # pairs of orders a development question
REPORT, FEEDBACK, CARD = "report.json", "feedback.jsonl", "README.md"
Watch = Callable[[str, int, int], None]


def quiet(_what: str, _done: int, _total: int) -> None:
    """Nobody is watching."""


class Training:
    """One training. Everything is written into `folder`, the organiser last."""

    def __init__(
        self,
        made: Plan,
        scorer: Scorer,
        generator: Generator,
        folder: Path,
        *,
        feedback: Path | None = None,
        watch: Watch = quiet,
    ) -> None:
        """feedback: the generator's judgements, kept there; by default in the folder.

        Raises UsageError for a file that is none.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.plan, self.folder = made, folder
        self.scorer, self._generator, self._watch = scorer, generator, watch
        self.feedback = Feedback(generator, feedback or folder / FEEDBACK)
        self._checkpoint = Checkpoint(folder / "checkpoint", self._key())
        self._trainer = Trainer(scorer, self.feedback, made.options, self._checkpoint, watch)
        self._judged: dict[str, Any] = {}
        self._before: dict[str, list[float]] = {}
        self._held: list[Preference] = []

    @property
    def resumed(self) -> bool:
        """Whether an earlier run left something to go on from."""
        return bool(self._checkpoint.state.records)

    def run(self, name: str) -> dict[str, Any]:
        """The whole training; gives the report. Raises ModelError, UsageError, OSError."""
        began = time.monotonic()
        for stage in self.plan.options.stages:
            self._stage(stage)
        report = self._report(name)
        report["seconds"] = time.monotonic() - began
        sha256 = self.scorer.write(self.folder, _training(report))
        report["organizer"] = {
            "name": name,
            "sha256": sha256,
            "bytes": sum(f.stat().st_size for f in self.folder.glob("organiser.*")),
        }
        report["development"]["kept"] = self._written()
        text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        (self.folder / REPORT).write_text(text, encoding="utf-8")
        (self.folder / CARD).write_text(card(report), encoding="utf-8")
        self._checkpoint.remove()
        return report

    def _stage(self, stage: str) -> None:
        state = self._checkpoint.state
        values = self._values(stage)
        if stage in state.done:
            self.scorer.load(self._checkpoint.after(stage))
        elif stage == INTEGRATED:
            self._compare()
        elif any(one.id in values for one in self.plan.training):
            self._trainer.ranked(stage, self.plan.training, self.plan.development, values)
        self._judged[stage] = self._judge()

    def _compare(self) -> None:
        training, held = (
            [one for one in part if one.id in self.plan.scored]
            for part in (self.plan.training, self.plan.development)
        )
        if training:
            self._reference()
            self._trainer.compared(training, held, self._before, self._held)

    def _values(self, stage: str) -> dict[str, list[float]]:
        if stage == WARM:
            return supervised((*self.plan.training, *self.plan.development))
        if stage == INDIVIDUAL:
            return self._individual()
        return {}

    def _individual(self) -> dict[str, list[float]]:
        """log P(A|Q,k) by question, the placeholder's last."""
        examples = [
            one
            for one in (*self.plan.training, *self.plan.development)
            if one.id in self.plan.scored
        ]
        requests = self.plan.requests
        scores = iter(
            self.feedback.scores(requests, lambda done, all_: self._watch("feedback", done, all_))
        )
        return {one.id: [next(scores) for _ in individual_requests(one)] for one in examples}

    def _reference(self) -> None:
        """Scores of the frozen model, and the development pairs of orders drawn from it.

        A run that goes on finds the model as the stage before left it.
        """
        stages = [one for one in self.plan.options.stages if one in self._checkpoint.state.done]
        if self._checkpoint.state.epoch and stages:
            self.scorer.load(self._checkpoint.after(stages[-1]))
        every = (*self.plan.training, *self.plan.development)
        self._before = self._scored_by_model([one for one in every if one.id in self.plan.scored])
        held = [one for one in self.plan.development if one.id in self.plan.scored]
        rng = np.random.default_rng([self.plan.options.seed, 99])
        twice = [one for one in held for _ in range(_DRAWS)]
        self._held = self._trainer.preferences(twice, self._before, rng)

    def _scored_by_model(self, examples: Sequence[Example]) -> dict[str, list[float]]:
        return {one.id: self.scorer.values(one.question, texts(one)).tolist() for one in examples}

    def _judge(self) -> dict[str, Any]:
        """The development part by what each stage learns from, as far as it is known."""
        held = self.plan.development
        found: dict[str, Any] = {
            "supervised": self._trainer.judge_ranked(
                [one for one in held if any(c.gold for c in one.candidates)], supervised(held)
            )
        }
        if INDIVIDUAL in self.plan.options.stages:
            values = self._individual()
            found["individual"] = self._trainer.judge_ranked(
                [one for one in held if one.id in values], values
            )
        return found

    def _report(self, name: str) -> dict[str, Any]:
        options = self.plan.options
        return {
            "schema": "ragcli/training@1",
            "ragcli": __version__,
            "organizer": {"name": name},
            "start": self.scorer.start,
            "model": {
                "name": self._generator.identity.name,
                "sha256": self._generator.identity.sha256,
            },
            "encoder": asdict(self.scorer.config.base),
            "options": {**asdict(options), "stages": list(options.stages)},
            "data": self._data(),
            "epochs": list(self._checkpoint.state.records),
            "development": {**self._judged, "agreement": self._agreement()},
            "answers": self._answers(),
            "feedback": {"prompts": self.feedback.wording, "seconds_a_prompt": self.feedback.pace},
        }

    def _data(self) -> dict[str, Any]:
        every = (*self.plan.training, *self.plan.development)
        return {
            "training": len(self.plan.training),
            "development": len(self.plan.development),
            "scored": len(self.plan.scored),
            "pairs": len(self.plan.requests),
            "with_gold": sum(any(c.gold for c in one.candidates) for one in every),
            "sha256": _digest([asdict(one) for one in every]),
        }

    def _agreement(self) -> dict[str, Any]:
        """Figure 3: with the generator's preferences between orders, without and with stage 2."""
        if INTEGRATED not in self.plan.options.stages:
            return {}
        state = self._checkpoint.state
        if not self._held:  # the stage was over before this run began
            now = self.scorer.weights()
            earlier = [one for one in self.plan.options.stages if one != INTEGRATED]
            if earlier and earlier[-1] in state.done:
                self.scorer.load(self._checkpoint.after(earlier[-1]))
                self._reference()
                self.scorer.restore(now)
        epochs = [one["development"] for one in state.records if one["stage"] == INTEGRATED]
        return {
            "pairs": len(self._held),
            "without": epochs[0] if epochs else {},
            "with": self._trainer.judge_compared(self._held, self._before),
        }

    def _answers(self) -> dict[str, Any]:
        """Eq. 12: development questions answered from the retriever's top half, then organised."""
        chosen = self.plan.development[: self.plan.options.answers]
        before: list[Answered] = []
        after: list[Answered] = []
        for done, one in enumerate(chosen):
            self._watch("answers", done, len(chosen))
            half = one.candidates[: -(-len(one.candidates) // 2)]
            before.append(answered(self._generator, self.feedback, one, half))
            *scores, placeholder = self.scorer.values(one.question, texts(one)).tolist()
            order = organise(scores, placeholder).kept
            kept = organised_request(one, (*order, len(scores))).order
            after.append(answered(self._generator, self.feedback, one, kept))
        found = changes([one.right for one in before], [one.right for one in after])
        return {
            "questions": len(chosen),
            **{name: getattr(found, name) for name in ("pp", "np", "pn", "nn")},
            "efficiency": found.efficiency,
            "tokens_before": _mean([one.tokens for one in before]),
            "tokens_after": _mean([one.tokens for one in after]),
        }

    def _written(self) -> dict[str, Any]:
        """The development part under what is in the files: a byte a number must be enough."""
        self.scorer.restore(reload(self.folder, self.scorer.config))
        return self._judge()

    def _key(self) -> str:
        """What makes an earlier checkpoint of this training one to go on from."""
        every = (*self.plan.training, *self.plan.development)
        options = replace(self.plan.options, answers=0)
        return _digest([
            [asdict(one) for one in every], asdict(options), asdict(self.scorer.config),
            self._generator.identity.sha256, wording.version("short"), __version__,
            self.scorer.start,
        ])  # fmt: skip


def _training(report: Mapping[str, Any]) -> dict[str, Any]:
    """What the organiser itself says of how it was made."""
    names = ("ragcli", "start", "model", "data", "options", "development", "answers")
    return {name: report[name] for name in names}


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
