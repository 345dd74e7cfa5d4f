"""The organizer that comes with ragcli: what it weighs, what it says of itself, how well it orders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragcli.encoders.files import BUNDLED_NAME
from ragcli.encoders.organiser import TrainedOrganiser, open_organiser, shipped_organiser
from ragcli.encoders.organiser_files import read_organiser
from ragcli.train.feedback import read_feedback
from tests.conftest import ROOT, SHARED

MOST_BYTES = 12_000_000
SENTENCES = (
    "Visitors may bring their own food to the island.",
    "The light was first kept by Mira Oskan, who came from Ribe in 1871.",
    "The tower is built of grey stone and is 31 metres tall.",
    "Rain is frequent in autumn, and the ferry does not run then.",
)


@pytest.fixture(scope="module")
def organiser(bundled_encoder_dir: Path) -> TrainedOrganiser:
    return open_organiser(None, threads=1)


def test_it_is_small_and_has_a_card() -> None:
    folder = shipped_organiser()
    assert folder is not None
    assert sum(file.stat().st_size for file in folder.iterdir()) <= MOST_BYTES
    config = read_organiser(folder).config
    assert (config.base.name, config.base.path) == (BUNDLED_NAME, "")
    assert set(config.training) >= {"model", "data", "options", "development"}
    card = (folder / "README.md").read_text("utf-8")
    for told in ("## Data", "## Settings", "## Scores", "## Limits"):
        assert told in card


def test_the_judgements_it_learnt_from_are_kept_and_small() -> None:
    file = ROOT / "tests/bench/organizer_feedback.jsonl"
    assert file.stat().st_size <= 1_000_000
    known = dict(read_feedback(file))
    assert len(known) > 5_097
    assert max(known.values()) < 0  # log-probabilities
    assert all(len(key) == 16 for key in known)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Who was the first keeper of the light?", 1),
        ("How tall is the tower?", 2),
        ("May visitors bring their own food?", 0),
    ],
)
def test_what_answers_stands_first_and_above_nothing(
    organiser: TrainedOrganiser, question: str, best: int
) -> None:
    scores, placeholder = organiser.scores(question, SENTENCES)
    assert int(np.argmax(scores)) == best
    assert scores[best] > placeholder
    assert min(scores) < placeholder


def test_where_nothing_helps_nothing_stays(organiser: TrainedOrganiser) -> None:
    scores, placeholder = organiser.scores("What is the boiling point of tungsten?", SENTENCES)
    assert max(scores) < placeholder


def test_it_orders_questions_it_never_saw(organiser: TrainedOrganiser) -> None:
    """MuSiQue marks passages: the mean precision of sentences of needed passages, beside chance."""
    file = SHARED / "data/qa/musique_dev.jsonl"
    if not file.is_file():
        pytest.skip("no evaluation data: musique_dev.jsonl is not beside the checkout")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()[:12]]
    ours, chance = [], []
    for row in rows:
        marked = [
            (f"{passage['title']}: {sentence}", any(passage["gold"]))
            for passage in row["passages"]
            for sentence in passage["sentences"]
        ]
        texts, gold = [text for text, _ in marked], np.array([mark for _, mark in marked])
        scores, _ = organiser.scores(row["question"], texts)
        ours.append(precision(np.array(scores), gold))
        chance.append(gold.mean())
    assert np.mean(ours) > 2 * np.mean(chance)


def precision(scores: np.ndarray, gold: np.ndarray) -> float:
    """Average precision."""
    hits = gold[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())
