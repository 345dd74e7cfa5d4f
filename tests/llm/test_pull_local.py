"""`models pull` of a file that is here already: linked or copied into the store."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from standin_models import write

from ragcli.errors import ModelError, UsageError
from ragcli.llm import pull
from ragcli.llm.discover import models_dir

from .pulling import ONE, OTHER, partials


def test_a_local_file_is_adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    source = write(tmp_path / "mine.gguf", OTHER)
    link = tmp_path / "link.gguf"
    link.symlink_to(source)
    assert pull.is_local(str(source))
    assert not pull.is_local(ONE)
    model = pull.adopt(link, sha256=hashlib.sha256(OTHER).hexdigest())
    assert model.path == models_dir() / "local/link.gguf"
    assert model.path.samefile(source)  # no second copy on the same disk
    assert not model.path.is_symlink()
    assert pull.adopt(link) == model
    source.unlink()
    assert model.path.read_bytes() == OTHER


def test_a_local_file_on_another_disk_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_disk(source: object, target: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "link", another_disk)
    source = write(tmp_path / "mine.gguf", OTHER)
    model = pull.adopt(source)
    assert model.path.read_bytes() == OTHER
    assert not model.path.samefile(source)
    assert partials() == []


@pytest.mark.parametrize(
    ("name", "data", "sha256", "error", "message"),
    [
        ("text.gguf", b"hello", "", ModelError, "not a usable GGUF"),
        ("big-00001-of-00002.gguf", OTHER, "", ModelError, "split model"),
        ("mine.gguf", OTHER, "1" * 64, ModelError, "another SHA-256"),
        ("mine.gguf", OTHER, "xyz", UsageError, "64 hexadecimal"),
    ],
)
def test_local_files_that_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, sha256: str,
    error: type[Exception], message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(error, match=message):
        pull.adopt(write(tmp_path / name, data), sha256=sha256)
    with pytest.raises(ModelError, match="no such model file"):
        pull.adopt(tmp_path / "absent.gguf")
    assert list(models_dir().rglob("*.gguf")) == []
