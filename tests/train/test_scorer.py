"""The model while it is trained: what moves, what does not, what a file brings back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragcli.encoders.files import content_hash
from ragcli.encoders.organiser_files import Base, OrganiserConfig, read_arrays
from ragcli.errors import ModelError
from ragcli.train.losses import info_nce
from ragcli.train.scorer import Scorer
from tests.train.made import encoder

QUESTION, SENTENCES = "what is the thing1", ["the thing1 is gold", "the thing2 is lead", ""]


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return encoder(tmp_path_factory.mktemp("base") / "tiny")


def scorer_of(base: Path, seed: int = 0, **more: int) -> Scorer:
    known = Base("tiny", content_hash(base), str(base))
    config = OrganiserConfig("s", known, 4, 64, **{"layers": 2, **more}, precision="float32")
    return Scorer(base, config, seed=seed, threads=1)


def teach(scorer: Scorer, times: int) -> None:
    for _ in range(times):
        scores = scorer.scores(QUESTION, SENTENCES, drop=True)
        scorer.add(info_nce(scores, [(0, (1, 2, 3)), (3, (1, 2))], 1.0))
        scorer.update()


def test_scores_are_in_order_with_the_placeholder_last(base: Path) -> None:
    scorer = scorer_of(base)
    whole = scorer.values(QUESTION, SENTENCES)
    assert whole.shape == (4,)
    assert whole.dtype == np.float64
    for at, sentence in enumerate(SENTENCES):
        alone = scorer.values(QUESTION, [sentence])
        assert alone == pytest.approx([whole[at], whole[3]], abs=1e-5)


def test_teaching_moves_layers_head_and_virtual_tokens_but_no_words(
    base: Path, tmp_path: Path
) -> None:
    scorer = scorer_of(base)
    before = scorer.weights()
    assert not any(name.startswith("embeddings.") for name in before)
    scorer.begin(1e-2, 20)
    teach(scorer, 20)
    values = scorer.values(QUESTION, SENTENCES)
    assert values[0] > values[3] > max(values[1], values[2])
    after = scorer.weights()
    moved = {name for name in before if (before[name] != after[name]).any()}
    assert {"virtual", "head.weight"} <= moved
    assert any(name.startswith("encoder.layer.1.") for name in moved)
    scorer.write(tmp_path, {})
    assert not any("embeddings" in name or "pooler" in name for name in read_arrays(tmp_path))


def test_the_same_seed_gives_the_same_model(base: Path) -> None:
    one, same, other = (scorer_of(base, seed).values(QUESTION, SENTENCES) for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


def test_a_file_brings_back_the_model_and_its_optimiser(base: Path, tmp_path: Path) -> None:
    straight, first = scorer_of(base), scorer_of(base)
    for one in (straight, first):
        one.begin(1e-3, 10)
    teach(straight, 6)
    teach(first, 3)
    first.save(tmp_path / "half.safetensors")
    second = scorer_of(base, seed=5)
    second.begin(1e-3, 10)
    second.load(tmp_path / "half.safetensors")
    teach(second, 3)
    expected = straight.values(QUESTION, SENTENCES)
    assert second.values(QUESTION, SENTENCES) == pytest.approx(expected, abs=1e-5)


def test_a_finished_organiser_is_gone_on_from(base: Path, tmp_path: Path) -> None:
    first = scorer_of(base)
    first.begin(1e-2, 20)
    teach(first, 20)
    sha256 = first.write(tmp_path, {})
    second = Scorer(base, first.config, seed=7, threads=1, start=tmp_path)
    assert second.start == sha256
    assert second.values(QUESTION, SENTENCES) == pytest.approx(
        first.values(QUESTION, SENTENCES), abs=0.1
    )  # a byte a number
    second.write(tmp_path / "again", {})  # still the change of the encoder itself
    kept = Scorer(base, first.config, threads=1, start=tmp_path / "again")
    assert kept.values(QUESTION, SENTENCES) == pytest.approx(
        second.values(QUESTION, SENTENCES), abs=0.05
    )


def test_a_damaged_file_is_one_line(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "half.safetensors"
    scorer = scorer_of(base)
    for content in (b"", b"not numbers"):
        file.write_bytes(content)
        with pytest.raises(ModelError, match="checkpoint cannot be read"):
            scorer.load(file)
    scorer_of(base, layers=1).save(file)
    with pytest.raises(ModelError, match="checkpoint"):
        scorer.load(file)


def test_an_encoder_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="encoder cannot be used"):
        Scorer(tmp_path, OrganiserConfig("s", Base("x", "0" * 64, str(tmp_path))))


def test_more_layers_than_there_are_is_one_line(base: Path) -> None:
    with pytest.raises(ModelError, match="it has 2 layers, not 3"):
        scorer_of(base, layers=3)
