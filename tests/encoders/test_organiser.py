"""Trained organisers as files and as graphs, against torch: a small encoder made by the test."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.encoders.cache import export_folder
from ragcli.encoders.files import BUNDLED_NAME, content_hash
from ragcli.encoders.organiser import ORGANISER, find_organiser, load_graph, open_organiser
from ragcli.encoders.organiser_files import (
    CONFIG,
    WEIGHTS,
    Base,
    OrganiserConfig,
    base_folder,
    changed,
    difference,
    read_arrays,
    read_organiser,
    write_organiser,
)
from ragcli.encoders.pairs import PairTokens, Shape, batches
from ragcli.errors import ModelError

QUESTION = "who kept the light"
SENTENCES = (
    "mira kept the light",
    "",
    "the tower is tall " * 40,  # beyond the window
    "Prüfstück 北京 🙂 \x00 [SEP] [PAD]",
    "it was built of stone",
)
WORDS = [
    "who",
    "kept",
    "the",
    "light",
    "mira",
    "tower",
    "is",
    "tall",
    "it",
    "was",
    "built",
    "of",
    "stone",
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    from tests.train.tiny import make_encoder

    return make_encoder(tmp_path_factory.mktemp("tiny") / "tiny", WORDS)


def config_of(encoder: Path, **more) -> OrganiserConfig:
    base = Base("tiny", content_hash(encoder), str(encoder))
    return replace(OrganiserConfig("test", base, 5, 48, 2, precision="float32"), **more)


def trained(encoder: Path, folder: Path, config: OrganiserConfig) -> np.ndarray:
    """Writes a changed model; returns torch's scores, the placeholder's first."""
    import torch

    from ragcli.encoders.organiser_model import arrays_of, load_model, load_trained

    torch.manual_seed(1)
    model = load_model(encoder, config)
    original = {name: value.detach().numpy().copy() for name, value in model.own().items()}
    with torch.no_grad():
        model.head.weight.copy_(torch.randn_like(model.head.weight))
        for value in model.own().values():
            value += 0.05 * torch.randn_like(value)
    write_organiser(folder, config, arrays_of(model, original))
    kept = load_trained(encoder, config, read_arrays(folder))
    tokens = PairTokens(encoder / "tokenizer.json", kept.shape)
    given_arrays = tokens.arrays(tokens.cut(QUESTION, SENTENCES))
    with torch.no_grad():
        inputs = [torch.from_numpy(given_arrays[name]) for name in kept.names]
        before = model(*inputs).numpy()
        after = kept(*inputs).numpy()
    assert np.abs(before - after).max() < 0.01 * np.ptp(after)  # a byte a number is enough
    assert np.ptp(after) > 0.3
    return after


def test_the_export_equals_torch(encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "organiser"
    reference = trained(encoder, folder, config_of(encoder))
    said: list[str] = []
    organiser = open_organiser(folder, log=said.append)
    scores, placeholder = organiser.scores(QUESTION, SENTENCES)
    assert np.array([placeholder, *scores]) == pytest.approx(reference, abs=1e-3)
    for sentence, score in zip(SENTENCES, scores, strict=True):
        (alone,), empty = organiser.scores(QUESTION, [sentence])
        assert (alone, empty) == pytest.approx((score, placeholder), abs=1e-3)
    assert organiser.scores(QUESTION, []) == ((), pytest.approx(placeholder, abs=1e-3))
    assert (organiser.name, organiser.sha256) == ("test", find_organiser(folder).sha256)
    open_organiser(folder, log=said.append)
    assert said == ["preparing the organizer test (once)"]


def test_quantised_it_orders_alike(encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "organiser"
    reference = trained(encoder, folder, config_of(encoder, precision="int8"))
    scores, placeholder = open_organiser(folder).scores(QUESTION, SENTENCES)
    found = np.array([placeholder, *scores])
    assert np.corrcoef(found, reference)[0, 1] > 0.98
    assert not np.allclose(found, reference, atol=1e-6)


def test_a_part_of_the_layers(encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "organiser"
    reference = trained(encoder, folder, config_of(encoder, layers=1))
    scores, placeholder = open_organiser(folder).scores(QUESTION, SENTENCES)
    assert np.array([placeholder, *scores]) == pytest.approx(reference, abs=1e-3)
    assert not any(".layer.1." in name for name in read_arrays(folder))


def test_another_encoder_is_refused(encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "organiser"
    config = config_of(encoder)
    trained(encoder, folder, config)
    other = replace(config, base=replace(config.base, sha256="0" * 64))
    write_organiser(folder, other, read_arrays(folder))
    with pytest.raises(ModelError, match="another encoder"):
        open_organiser(folder)
    assert not export_folder(read_organiser(folder), ORGANISER).exists()


@pytest.mark.model
def test_the_bundled_encoder_is_found_by_name(bundled_encoder_dir: Path) -> None:
    base = Base(BUNDLED_NAME, content_hash(bundled_encoder_dir))
    assert base_folder(base) == bundled_encoder_dir


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"virtual_tokens": 0}, {"virtual_tokens": True}, {"max_tokens": 1e9},
        {"layers": "6"}, {"precision": "int4"}, {"name": 5}, {"titled": 1}, {"base": "x"},
        {"base": {"name": "x"}}, {"more": 1}, {"virtual_tokens": 40}, {"training": []},
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_one_line(encoder: Path, tmp_path: Path, change) -> None:
    write_organiser(tmp_path, config_of(encoder), {"virtual": np.zeros((5, 32), np.float16)})
    read_organiser(tmp_path)
    file = tmp_path / CONFIG
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ModelError, match="not an organizer"):
        read_organiser(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000, b" " * (1 << 21)])
def test_what_is_no_configuration_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CONFIG).write_bytes(content)
    with pytest.raises(ModelError, match="not an organizer"):
        read_organiser(tmp_path)


def test_damaged_numbers_are_one_line(encoder: Path, tmp_path: Path) -> None:
    write_organiser(tmp_path, config_of(encoder), {"virtual": np.zeros((5, 32), np.float16)})
    with pytest.raises(ModelError, match="lacks head"):
        read_arrays(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(b"\x80\x04\x95 pickled?")
    with pytest.raises(ModelError, match="cannot be read"):
        read_arrays(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=f"no {WEIGHTS}"):
        read_organiser(tmp_path)


def test_numbers_of_another_shape_are_refused() -> None:
    old = np.zeros((4, 3), np.float32)
    arrays = difference("w", np.ones((4, 2), np.float32), np.zeros((4, 2), np.float32))
    with pytest.raises(ModelError, match="another shape"):
        changed(arrays, "w", old)


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e3))
def test_a_difference_is_kept_to_a_byte(seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    old = random.standard_normal((6, 9)).astype(np.float32)
    new = (old + size * random.standard_normal((6, 9))).astype(np.float32)
    new[2] = old[2]
    kept = changed(difference("w", new, old), "w", old)
    step = np.abs(new - old).max(axis=1, keepdims=True) / 127
    assert (np.abs(kept - new) <= 0.51 * step + 1e-5 * np.abs(new)).all()
    assert difference("w", old, old) == {}


def test_without_any_it_says_how_to_train_one(monkeypatch) -> None:
    monkeypatch.setattr("ragcli.encoders.organiser.shipped_organiser", lambda: None)
    with pytest.raises(ModelError, match="no organizer") as caught:
        find_organiser(None)
    assert "ragcli train organizer" in caught.value.hint


def test_a_damaged_export_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be used") as caught:
        load_graph(tmp_path)
    assert "remove" in caught.value.hint


def test_word_pieces(encoder: Path) -> None:
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    tokens = PairTokens(encoder / "tokenizer.json", Shape(20, 5, 100, 0, inputs))
    empty, pair, long = tokens.cut("who kept", ["mira", "tall " * 90])
    assert empty.ids == (100, 101, 102, 103, 104, 2, 4, 5, 3)  # virtual, [CLS] who kept [SEP]
    assert pair.ids == (2, 4, 5, 3, 8, 3)
    assert pair.types == (0, 0, 0, 0, 1, 1)
    assert len(long) == 20
    assert long.ids[:4] == pair.ids[:4]  # the question is never cut for a sentence
    endless = tokens.cut("who " * 1000, ["mira"])
    assert max(map(len, endless)) <= 20
    arrays = tokens.arrays([empty, pair])
    assert arrays["attention_mask"].sum(axis=1).tolist() == [9, 6]


@given(st.lists(st.integers(0, 300), max_size=40))
def test_batches_hold_every_row_once(lengths: list[int]) -> None:
    parts = list(batches(lengths, 256))
    assert sorted(row for part in parts for row in part) == list(range(len(lengths)))
    for part in parts:
        assert len(part) == 1 or len(part) * max(lengths[row] for row in part) <= 256


@pytest.mark.model
@pytest.mark.slow
def test_on_the_bundled_encoder_it_is_small_and_quick(
    bundled_encoder_dir: Path, tmp_path: Path
) -> None:
    base = Base(BUNDLED_NAME, content_hash(bundled_encoder_dir))
    config = OrganiserConfig("random", base)
    import torch

    from ragcli.encoders.organiser_model import arrays_of, load_model

    model = load_model(bundled_encoder_dir, config)
    original = {name: value.detach().numpy().copy() for name, value in model.own().items()}
    with torch.no_grad():
        torch.manual_seed(2)
        model.head.weight.copy_(torch.randn_like(model.head.weight))
        for value in model.own().values():
            value += 0.001 * torch.randn_like(value)
    write_organiser(tmp_path, config, arrays_of(model, original))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 12_000_000
    organiser = open_organiser(tmp_path, threads=1)
    sentence = "The valve in the cellar is opened by turning the red handle twice."
    sentences = [f"{sentence} It is number {n}, and nobody uses it." for n in range(100)]
    organiser.scores("Which way does the red handle turn?", sentences)
    began = time.process_time()
    organiser.scores("Which way does the red handle turn?", sentences)
    assert time.process_time() - began < 2.0
