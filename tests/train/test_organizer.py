"""Training on a task whose preference is known: each stage, going on, the files, the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcli.encoders.files import content_hash
from ragcli.encoders.organiser import open_organiser
from ragcli.encoders.organiser_files import Base, OrganiserConfig
from ragcli.selection.organiser import organise
from ragcli.train.options import INDIVIDUAL, INTEGRATED, STAGES, WARM, Stage, TrainOptions
from ragcli.train.organizer import Training
from ragcli.train.plan import estimate, plan
from ragcli.train.scorer import Scorer
from ragcli.train.stages import texts
from tests.train.made import KINDS, Assayer, encoder, examples

OPTIONS = TrainOptions(
    warm=Stage(3e-3, 3, 4),
    individual=Stage(3e-3, 4, 4),
    integrated=Stage(3e-3, 3, 4),
    pairs=120,
    answers=3,
    development=0.2,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return encoder(tmp_path_factory.mktemp("base") / "tiny")


def scorer_of(base: Path, seed: int = 0) -> Scorer:
    config = OrganiserConfig(
        "made", Base("tiny", content_hash(base), str(base)), 4, 64, 2, precision="float32"
    )
    return Scorer(base, config, seed=seed, threads=1)


def train(base: Path, folder: Path, generator: Assayer | None = None, **changes: Any):
    options = replace(OPTIONS, **changes)
    scorer = scorer_of(base)
    training = Training(plan(examples(30), options), scorer, generator or Assayer(), folder)
    return training.run("made"), scorer


def kept(scorer: Any) -> dict[str, float]:
    """Share of questions in which each kind of sentence beats the placeholder; blue before red."""
    found = dict.fromkeys((*KINDS, "blue first"), 0.0)
    made = examples(12)
    for one in made:
        *scores, placeholder = scorer.values(one.question, texts(one)).tolist()
        order = [one.candidates[at].text for at in organise(scores, placeholder).kept]
        for kind in KINDS:
            found[kind] += any(kind in text for text in order) / len(made)
        both = [at for at, text in enumerate(order) if "blue" in text or "red" in text]
        found["blue first"] += bool(both and "blue" in order[both[0]]) / len(made)
    return found


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory) -> tuple[dict[str, Any], Scorer, Path]:
    folder = tmp_path_factory.mktemp("whole")
    return (*train(base, folder), folder)


def test_untrained_it_knows_nothing(base: Path) -> None:
    found = kept(scorer_of(base))
    assert abs(found["gold blue"] - found["lead"]) < 0.5


def test_the_supervised_start_tells_what_holds_the_answer(base: Path, tmp_path: Path) -> None:
    generator = Assayer()
    report, scorer = train(base, tmp_path, generator, stages=(WARM,), answers=0)
    found = kept(scorer)
    assert found["gold blue"] == found["gold red"] == 1
    assert found["tin"] == found["lead"] == 0  # it is not told that tin helps by itself
    assert generator.asked == 0
    assert report["development"][WARM]["supervised"]["pair_accuracy"] > 0.95


def test_individual_feedback_tells_what_helps_by_itself(base: Path, tmp_path: Path) -> None:
    report, scorer = train(base, tmp_path, stages=(INDIVIDUAL,))
    found = kept(scorer)
    assert found["gold blue"] == found["gold red"] == 1
    assert found["tin"] > 0.9  # beside gold it harms, which this stage cannot know
    assert found["lead"] == 0
    assert report["development"][INDIVIDUAL]["individual"]["pair_accuracy"] > 0.95


def test_integrated_feedback_tells_what_helps_together(whole) -> None:
    report, scorer, _ = whole
    found = kept(scorer)
    assert found["gold blue"] + found["gold red"] > 1.8
    assert found["tin"] < 0.2
    assert found["lead"] == 0
    assert found["blue first"] > 0.8
    agreement = report["development"]["agreement"]
    assert agreement["with"]["agreement"] > agreement["without"]["agreement"]
    assert agreement["with"]["kappa"] > agreement["without"]["kappa"]
    surprise = [e["development"]["surprise"] for e in report["epochs"] if e["stage"] == INTEGRATED]
    assert min(surprise) < surprise[0] - 1  # the answers are likelier after its orders


def test_the_files_give_what_was_trained(whole) -> None:
    report, scorer, folder = whole
    organiser = open_organiser(folder)
    assert organiser.sha256 == report["organizer"]["sha256"]
    assert report["organizer"]["bytes"] == sum(
        (folder / name).stat().st_size for name in ("organiser.json", "organiser.safetensors")
    )
    for one in examples(3):
        *scores, placeholder = scorer.values(one.question, texts(one)).tolist()
        found, empty = organiser.scores(one.question, texts(one))
        assert (*found, empty) == pytest.approx((*scores, placeholder), abs=1e-3)
    told = organiser.identity.config.training
    assert told["model"]["name"] == "fake"
    assert told["data"]["training"] == 24
    assert json.loads((folder / "report.json").read_text()) == report
    assert not (folder / "checkpoint").exists()


def test_the_report(whole) -> None:
    report, _, _ = whole
    stages = [one["stage"] for one in report["epochs"]]
    assert list(dict.fromkeys(stages)) == list(STAGES)
    assert report["data"]["pairs"] == 30 * 7
    for stage in (WARM, INDIVIDUAL):
        losses = [one["development"]["loss"] for one in report["epochs"] if one["stage"] == stage]
        assert min(losses) < losses[0]
    assert report["answers"]["questions"] == 3
    assert report["answers"]["pp"] == 3  # this generator always says gold
    before, kept = report["development"][INTEGRATED], report["development"]["kept"]
    assert kept["individual"]["loss"] == pytest.approx(before["individual"]["loss"], rel=0.05)


def test_one_that_was_stopped_goes_on_and_comes_to_the_same(
    base: Path, tmp_path: Path, whole
) -> None:
    for limit in (60, 100, 90):  # while it asks for stage 1, before stage 2, within it
        generator = Assayer()
        generator.fail_after = limit
        with pytest.raises(KeyboardInterrupt):
            train(base, tmp_path, generator)
    assert (tmp_path / "checkpoint" / "individual.safetensors").exists()
    generator = Assayer()
    report, scorer = train(base, tmp_path, generator)
    assert report["organizer"]["sha256"] != ""
    for one in examples(4):
        ours = scorer.values(one.question, texts(one))
        assert ours == pytest.approx(whole[1].values(one.question, texts(one)), abs=1e-4)
    assert [one["epoch"] for one in report["epochs"]] == [
        one["epoch"] for one in whole[0]["epochs"]
    ]
    ours, theirs = (one["development"]["agreement"]["with"] for one in (report, whole[0]))
    assert ours == pytest.approx(theirs, abs=1e-4)


def test_other_options_begin_anew(base: Path, tmp_path: Path) -> None:
    generator = Assayer()
    generator.fail_after = 60
    with pytest.raises(KeyboardInterrupt):
        train(base, tmp_path, generator)
    options = replace(OPTIONS, seed=1)
    made = Training(plan(examples(30), options), scorer_of(base), Assayer(), tmp_path)
    assert not made.resumed


def test_a_budget_of_pairs_limits_what_is_asked(base: Path, tmp_path: Path) -> None:
    made = plan(examples(30), replace(OPTIONS, max_pairs=70))
    assert len(made.requests) == 70
    assert {one.id for one in made.development} & made.scored
    generator = Assayer()
    train(base, tmp_path, generator, max_pairs=70, stages=(INDIVIDUAL,), answers=0)
    assert generator.asked <= 70


def test_the_estimate_asks_only_what_is_needed(base: Path, tmp_path: Path) -> None:
    generator = Assayer()
    made = plan(examples(30), OPTIONS)
    training = Training(made, scorer_of(base), generator, tmp_path)
    cost = estimate(made, training.feedback, scorer_of(base))
    assert generator.asked == 16
    assert cost.prompts + 16 == len({(r.question, r.order) for r in made.requests})
    assert cost.orders == 2 * 120 + 6 * (4 + 4) + 2 * 3
    assert cost.seconds > 0
