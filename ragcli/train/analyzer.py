"""Trains DRAG's analyzer: instructions, a LoRA on the generator, the adapter's file (paper 001)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ragcli import __version__
from ragcli.llm.base import EncodedPrompt, Generator
from ragcli.llm.fingerprint import file_sha256
from ragcli.llm.prompts import analyzer as wording
from ragcli.train.adapter import Array, Places, write_adapter
from ragcli.train.analyzer_plan import AnalyzerPlan
from ragcli.train.card import analyzer_card
from ragcli.train.checkpoint import Checkpoint
from ragcli.train.epochs import Epochs, Resumable
from ragcli.train.instructions import Instruction

STAGE = "analyzer"
_CHECKED = 16  # instructions that the engine reads with and without the adapter
Watch = Callable[[str, int, int], None]


class Adaptable(Resumable, Protocol):
    """See `ragcli.train.lora.Lora`."""

    where: Places

    @property
    def parameters(self) -> int: ...
    def loss(self, one: Instruction) -> Any: ...
    def value(self, one: Instruction) -> float: ...
    def add(self, loss: Any) -> float: ...
    def update(self) -> None: ...
    def changes(self) -> dict[str, tuple[Array, Array]]: ...


class AnalyzerTraining:
    """One training. `out` is written last, its report and card beside it."""

    def __init__(
        self,
        made: AnalyzerPlan,
        lora: Adaptable,
        generator: Generator,
        base: Path,
        out: Path,
        watch: Watch = lambda what, done, total: None,
    ) -> None:
        out.parent.mkdir(parents=True, exist_ok=True)
        self.plan, self.out, self._base = made, out, base
        self._lora, self._generator, self._watch = lora, generator, watch
        self._checkpoint = Checkpoint(out.with_name(f"{out.name}.checkpoint"), self._key())

    @property
    def resumed(self) -> bool:
        """Whether an earlier run left something to go on from."""
        return bool(self._checkpoint.state.records)

    def run(self) -> dict[str, Any]:
        """The whole training; gives the report. Raises ModelError, OSError."""
        began = time.monotonic()
        options = self.plan.options
        if STAGE in self._checkpoint.state.done:
            self._lora.load(self._checkpoint.after(STAGE))
        else:
            epochs = Epochs(self._lora, self._checkpoint, STAGE, self._epoch, self._judge)
            steps = options.epochs * -(-len(self.plan.training) // options.batch)
            epochs.run(options.rate, steps, options.epochs, options.patience)
        self._write()
        report = self._report(time.monotonic() - began)
        text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        self.out.with_suffix(".json").write_text(text, encoding="utf-8")
        self.out.with_suffix(".md").write_text(analyzer_card(report), encoding="utf-8")
        self._checkpoint.remove()
        return report

    def _epoch(self, number: int) -> float:
        training, batch = self.plan.training, self.plan.options.batch
        order = np.random.default_rng([self.plan.options.seed, number]).permutation(len(training))
        losses: list[float] = []
        for start in range(0, len(order), batch):
            chosen = [training[int(at)] for at in order[start : start + batch]]
            for one in chosen:
                self._watch(f"epoch {number + 1}", len(losses), len(training))
                losses.append(self._lora.add(self._lora.loss(one) / len(chosen)) * len(chosen))
            self._lora.update()
        return float(np.mean(losses))

    def _judge(self) -> dict[str, float]:
        """Mean losses of what is held aside, of all instructions and of each format."""
        held = self.plan.development
        found = []
        for done, one in enumerate(held):
            self._watch("held aside", done, len(held))
            found.append((one.kind, self._lora.value(one)))
        by = {"loss": [value for _, value in found]}
        for kind, value in found:
            by.setdefault(kind, []).append(value)
        return {name: float(np.mean(values)) for name, values in by.items() if values}

    def _write(self) -> None:
        model = self._generator.identity
        notes = {
            "general.name": self.out.stem,
            "general.description": f"analyzer of questions, trained by ragcli {__version__}",
            "general.base_model.0.name": model.name,
            "ragcli.analyzer.prompts": wording.VERSION,
            "ragcli.analyzer.model_sha256": model.sha256,
        }
        write_adapter(
            self.out, self._lora.where, self._lora.changes(), alpha=self.plan.options.alpha,
            notes=notes,
        )  # fmt: skip

    def _report(self, seconds: float) -> dict[str, Any]:
        made = self.plan
        every = (*made.training, *made.development)
        model = self._generator.identity
        return {
            "schema": "ragcli/analyzer@1",
            "ragcli": __version__,
            "adapter": {
                "name": self.out.stem,
                "sha256": file_sha256(self.out),
                "bytes": self.out.stat().st_size,
                "matrices": len(self._lora.where.of),
                "parameters": self._lora.parameters,
            },
            "model": {"name": model.name, "sha256": model.sha256},
            "base": {
                "name": self._base.name,
                "format": "gguf" if self._base.is_file() else "folder",
                "difference": self._lora.where.difference,
            },
            "prompts": wording.VERSION,
            "options": asdict(made.options),
            "data": {
                "training": len(made.training),
                "development": len(made.development),
                "elements": sum(one.kind == "elements" for one in every),
                "scores": sum(one.kind == "scores" for one in every),
                "useless": made.useless,
                "tokens": made.tokens,
                "sha256": _digest([asdict(one) for one in every]),
            },
            "epochs": [
                {name: one[name] for name in ("epoch", "loss", "development")}
                for one in self._checkpoint.state.records
            ],
            "engine": self._engine(),
            "seconds": seconds,
        }

    def _engine(self) -> dict[str, Any]:
        """Loss of what is held aside as the engine reads it, without and with the adapter.

        Where nothing is held aside, of what was learnt. Raises ModelError.
        """
        chosen = (self.plan.development or self.plan.training)[:_CHECKED]
        losses: list[float] = []
        for generator in (self._generator, self._generator.adapted(self.out)):
            self._watch("engine", len(losses), 2)
            losses.append(read_by_engine(generator, chosen))
        trained = float(np.mean([self._lora.value(one) for one in chosen]))
        return {
            "instructions": len(chosen),
            "without": losses[0],
            "with": losses[1],
            "training": trained,
        }

    def _key(self) -> str:
        """What makes an earlier checkpoint of this training one to go on from."""
        every = (*self.plan.training, *self.plan.development)
        return _digest([
            [asdict(one) for one in every], len(self.plan.training), asdict(self.plan.options),
            str(self._base.resolve()), self._generator.identity.sha256, __version__,
        ])  # fmt: skip


def read_by_engine(generator: Generator, chosen: Sequence[Instruction]) -> float:
    """Mean loss: each instruction's is the mean over its learnt tokens. Raises ModelError."""
    parts = [
        (number, one.tokens[: run[0]], one.tokens[run[0] : run[-1] + 1])
        for number, one in enumerate(chosen)
        for run in _runs(one.learnt)
    ]
    sums = generator.loglikelihood(
        [_prompt(before) for _, before, _ in parts], [said for _, _, said in parts]
    )
    totals = np.zeros(len(chosen))
    for (number, _, _), value in zip(parts, sums, strict=True):
        totals[number] -= value
    return float(
        np.mean([total / len(one.learnt) for total, one in zip(totals, chosen, strict=True)])
    )


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Places that follow each other, together."""
    runs: list[list[int]] = []
    for at in places:
        if runs and runs[-1][-1] == at - 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _prompt(tokens: Sequence[int]) -> EncodedPrompt:
    return EncodedPrompt(np.array(tokens, np.int32), (), np.full(len(tokens), -1, np.int32))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
