"""Training on a made task: the loss on questions held aside, going on, files and the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import UsageError
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.train.adapter import tensors_of
from ragcli.train.analyzer import AnalyzerTraining, read_by_engine
from ragcli.train.analyzer_data import Elements, read
from ragcli.train.analyzer_plan import AnalyzerOptions, AnalyzerPlan, estimate, pace, plan
from ragcli.train.lora import Lora, open_lora
from ragcli.types import Component
from tests.train import instructed, tiny_llama

OPTIONS = AnalyzerOptions(rank=4, epochs=3, rate=1e-2, batch=4, development=0.25)
SAME = 5e-3  # float16 cache, mean over tokens


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama.write(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="module")
def generator(model: Path) -> Iterator[LlamaGenerator]:
    with open_generator(model, threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(generator: LlamaGenerator, tmp_path_factory: pytest.TempPathFactory) -> AnalyzerPlan:
    file = instructed.write(tmp_path_factory.mktemp("data") / "d.jsonl")
    return plan(read([file]), generator, OPTIONS)


def lora_of(model: Path, seed: int = 0) -> Lora:
    return open_lora(model, model, OPTIONS.rank, OPTIONS.alpha, seed=seed, threads=1)


@pytest.fixture(scope="module")
def trained(
    made: AnalyzerPlan, model: Path, generator: LlamaGenerator,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Any], Path]:  # fmt: skip
    out = tmp_path_factory.mktemp("out") / "deep" / "dra.gguf"
    report = AnalyzerTraining(made, lora_of(model), generator, model, out).run()
    return report, out


def test_no_question_is_in_both_parts(made: AnalyzerPlan) -> None:
    held = {one.question for one in made.development}
    assert len(held) == round(0.25 * len(instructed.THINGS))
    assert not held & {one.question for one in made.training}
    assert len(made.training) + len(made.development) == len(instructed.lines())
    assert made.useless == 0


def test_a_limit_keeps_whole_questions(generator: LlamaGenerator, tmp_path: Path) -> None:
    rows = read([instructed.write(tmp_path / "d.jsonl")])
    few = plan(rows, generator, OPTIONS, limit=2)
    assert len({one.question for one in (*few.training, *few.development)}) == 2
    assert len(few.training) + len(few.development) == 6
    every = plan(rows, generator, OPTIONS, limit=len(rows))
    assert len(every.training) + len(every.development) == len(rows)


def test_nothing_to_learn_is_said(generator: LlamaGenerator) -> None:
    row = Elements("When?", (Component("variant", "mill"),))
    with pytest.raises(UsageError, match="no component stands in its question"):
        plan([row], generator, OPTIONS)


def test_the_loss_falls_on_what_is_held_aside(trained: tuple[dict[str, Any], Path]) -> None:
    report, _ = trained
    before, *_, after = (one["development"] for one in report["epochs"])
    assert set(before) == {"loss", "elements", "scores"}
    for name in before:
        assert after[name] < 0.8 * before[name]
    assert report["epochs"][0]["loss"] is None
    assert report["epochs"][-1]["loss"] < before["loss"]


def test_the_engine_reads_what_was_trained(
    trained: tuple[dict[str, Any], Path], made: AnalyzerPlan, generator: LlamaGenerator
) -> None:
    report, out = trained
    engine = report["engine"]
    assert engine["with"] == pytest.approx(engine["training"], abs=SAME)
    assert engine["without"] - engine["with"] > 100 * SAME
    again = read_by_engine(generator.adapted(out), made.development)
    assert again == pytest.approx(engine["with"], abs=SAME)


def test_report_card_and_adapter_are_what_is_left(
    trained: tuple[dict[str, Any], Path],
) -> None:
    report, out = trained
    assert sorted(file.name for file in out.parent.iterdir()) == ["dra.gguf", "dra.json", "dra.md"]
    assert json.loads((out.parent / "dra.json").read_text()) == report
    card = (out.parent / "dra.md").read_text()
    assert "18 instructions to learn from, 6 held aside" in card
    assert "of 3 is kept" in card
    assert report["adapter"]["bytes"] == out.stat().st_size
    assert len(list(tensors_of(out))) == 2 * report["adapter"]["matrices"]


class _StoppedError(Exception):
    pass


def test_a_stopped_training_goes_on_to_the_same_adapter(
    made: AnalyzerPlan, model: Path, generator: LlamaGenerator, tmp_path: Path,
    trained: tuple[dict[str, Any], Path],
) -> None:  # fmt: skip
    out = tmp_path / "dra.gguf"

    def stop(what: str, done: int, total: int) -> None:
        if (what, done) == ("epoch 2", 8):
            raise _StoppedError

    with pytest.raises(_StoppedError):
        AnalyzerTraining(made, lora_of(model), generator, model, out, stop).run()
    assert not out.exists()
    second = AnalyzerTraining(made, lora_of(model, seed=9), generator, model, out)
    assert second.resumed
    report = second.run()
    assert report["epochs"] == trained[0]["epochs"]
    assert report["adapter"]["sha256"] == trained[0]["adapter"]["sha256"]
    other = replace(made, options=replace(OPTIONS, rate=0.5))
    assert not AnalyzerTraining(other, lora_of(model), generator, model, out).resumed


def test_it_ends_early_where_nothing_gets_better(
    made: AnalyzerPlan, model: Path, generator: LlamaGenerator, tmp_path: Path
) -> None:
    wild = replace(made, options=replace(OPTIONS, rate=1.0, epochs=6, patience=1))
    out = tmp_path / "x.gguf"
    report = AnalyzerTraining(wild, lora_of(model), generator, model, out).run()
    losses = [one["development"]["loss"] for one in report["epochs"]]
    assert len(losses) < 7
    best = min(losses)
    assert report["engine"]["training"] == pytest.approx(best, abs=SAME), "the best is kept"


def test_the_estimate_counts_epochs_and_what_is_held_aside(made: AnalyzerPlan, model: Path) -> None:
    each = pace(made, lora_of(model))
    assert each > 0
    assert estimate(made, 1.0) == 3 * 18 + 4 * 6 / 3
