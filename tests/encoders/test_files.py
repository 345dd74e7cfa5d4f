"""Which encoder is meant, its hash, and what is said when it cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.encoders.files import content_hash, read_identity
from ragcli.errors import ModelError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The outline of a model: enough to be identified, not to be exported."""
    root = tmp_path / "tiny"
    (root / "1_Pooling").mkdir(parents=True)
    modules = [{"path": ""}, {"path": "1_Pooling"}]
    (root / "modules.json").write_text(json.dumps(modules))
    (root / "config.json").write_text(
        json.dumps({"hidden_size": 16, "max_position_embeddings": 64})
    )
    (root / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 16}))
    (root / "model.safetensors").write_bytes(b"weights")
    (root / "README.md").write_text("---\nlanguage:\n- de\n- en\n---\n# A model\n")
    return root


def test_the_identity_comes_from_the_configuration(folder: Path) -> None:
    identity = read_identity(folder, "tiny")
    assert (identity.name, identity.dimension, identity.max_tokens) == ("tiny", 16, 64)
    assert identity.languages == "de,en"
    assert identity.text_tokens == 62


def test_sentence_bert_config_limits_the_window(folder: Path) -> None:
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
    assert read_identity(folder, "tiny").max_tokens == 32


def test_a_dense_module_decides_the_dimension(folder: Path) -> None:
    (folder / "modules.json").write_text(json.dumps([{"path": ""}, {"path": "2_Dense"}]))
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "config.json").write_text(json.dumps({"out_features": 8}))
    assert read_identity(folder, "tiny").dimension == 8


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "1_Pooling/config.json"])
def test_the_hash_follows_what_decides_a_vector(folder: Path, name: str) -> None:
    before = content_hash(folder)
    file = folder / name
    file.write_bytes(file.read_bytes() + b" ")
    assert content_hash(folder) != before


def test_the_hash_ignores_the_place_and_the_model_card(folder: Path) -> None:
    before = content_hash(folder)
    (folder / "README.md").write_text("another text")
    moved = folder.rename(folder.parent / "moved")
    assert content_hash(moved) == before


def test_the_hash_is_remembered_until_a_file_changes(folder: Path) -> None:
    before = content_hash(folder)
    weights = folder / "model.safetensors"
    stat = weights.stat()
    with weights.open("r+b") as file:  # same size, same inode
        file.write(b"WEIGHTS")
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert content_hash(folder) == before  # remembered: nothing was read
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert content_hash(folder) != before


@pytest.mark.parametrize("damage", [b"", b"{", b'{"x": 1}', b"[1, 2]", b"\xff\xfe"])
def test_a_damaged_memory_of_hashes_is_replaced(
    folder: Path, tmp_path: Path, damage: bytes
) -> None:
    before = content_hash(folder)
    (tmp_path / "cache" / "encoder-hashes.json").write_bytes(damage)
    assert content_hash(folder) == before
    assert content_hash(folder) == before


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such encoder"):
        resolve_encoder(str(tmp_path / "nowhere"))


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a sentence-transformers model"):
        resolve_encoder(str(tmp_path))


def test_a_model_without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no weights"):
        resolve_encoder(str(folder))


@pytest.mark.slow
def test_a_model_that_cannot_be_exported_says_why_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        open_encoder(resolve_encoder(str(folder)))
    assert "cannot be exported" in caught.value.message
    assert "\n" not in caught.value.message
    assert not list((tmp_path / "cache" / "encoders").iterdir())  # nothing half made is left
