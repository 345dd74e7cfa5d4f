"""Cross-encoders against transformers: small ones with random weights, made by the test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragcli.cite.nli import open_nli, probabilities
from ragcli.cite.verify import check_verifier, open_verifier
from ragcli.encoders.cache import CROSS_ENCODER, export_folder
from ragcli.encoders.cross import load_cross, open_cross_encoder, read_cross_identity
from ragcli.errors import ModelError

pytestmark = pytest.mark.model

PAIRS = [
    ["The light was lit in 1908.", "It was lit in 1908."],
    ["", ""],
    ["The keeper kept bees. " * 40, "Bees were kept."],  # beyond the model's 64 tokens
    ["Bees.", "The keeper kept bees. " * 40],
    ["Prüfstück, 北京 🙂 \x00", "[SEP] [CLS] [PAD] <|im_end|>"],
]


def make(kind: str, folder: Path, tokenizer: Path) -> tuple[Path, np.ndarray]:
    """The model's folder and transformers' logits of `PAIRS`."""
    model, logits = folder / kind, folder / f"{kind}.npy"
    script = Path(__file__).with_name("make_cross.py")
    subprocess.run(
        [sys.executable, str(script), kind, str(tokenizer), str(model), str(logits)],
        input=json.dumps(PAIRS).encode(), check=True, capture_output=True,
    )  # fmt: skip
    return model, np.load(logits)


@pytest.fixture(scope="module")
def bert(tmp_path_factory, bundled_encoder_dir: Path) -> tuple[Path, np.ndarray]:
    return make("bert", tmp_path_factory.mktemp("cross"), bundled_encoder_dir)


def check(model: Path, expected: np.ndarray) -> None:
    identity = read_cross_identity(model)
    said: list[str] = []
    cross = open_cross_encoder(model, identity, log=said.append)
    pairs = [(first, second) for first, second in PAIRS]
    together = cross.logits(pairs)
    assert np.ptp(expected, axis=0).min() > 0.1  # the logits tell pairs apart
    assert np.abs(together - expected).max() < 1e-3
    assert np.abs(np.concatenate([cross.logits([pair]) for pair in pairs]) - expected).max() < 1e-3
    open_cross_encoder(model, identity, log=said.append)
    assert len(said) <= 1  # exported once


def test_it_gives_the_logits_of_transformers(bert) -> None:
    check(*bert)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["roberta", "deberta"])
def test_other_architectures(kind: str, tmp_path: Path, bundled_encoder_dir: Path) -> None:
    check(*make(kind, tmp_path, bundled_encoder_dir))


def test_as_a_verifier(bert) -> None:
    model, logits = bert
    check_verifier(f"nli:{model}")
    verifier = open_verifier(f"nli:{model}")
    assert verifier.name == "nli:bert"
    scores = verifier.entails([pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS])
    assert scores == pytest.approx(probabilities(logits)[:, 1].tolist(), abs=1e-3)
    assert verifier.entails([], []) == []
    with pytest.raises(ValueError):
        verifier.entails(["a"], [])


def test_nothing_is_loaded_before_it_judges(bert, monkeypatch) -> None:
    monkeypatch.setattr("ragcli.cite.nli.open_cross_encoder", None)
    assert open_nli(f"nli:{bert[0]}").supported > 0.4


def test_a_model_that_cannot_be_exported_is_one_line(bert, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_bytes((bert[0] / "config.json").read_bytes())
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match="cannot be exported") as caught:
        open_nli(f"nli:{broken}").entails(["a"], ["b"])
    assert "\n" not in caught.value.message
    assert "cross-encoders" in caught.value.hint
    identity = read_cross_identity(broken)
    assert not export_folder(identity, CROSS_ENCODER).exists()


def test_a_damaged_export_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be used") as caught:
        load_cross(tmp_path)
    assert "remove" in caught.value.hint
