"""Hashes of files, remembered while a file stays the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ragcli.errors import ModelError
from ragcli.llm.fingerprint import file_sha256


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hashes"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_changed_file_is_hashed_again(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"one")
    assert file_sha256(file) == digest(b"one")
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert file_sha256(file) == digest(b"two")
    assert len(list(cache.iterdir())) == 2


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"one")
    file_sha256(file)
    (memory,) = cache.iterdir()
    memory.write_text("0" * 64)
    assert file_sha256(file) == "0" * 64


@pytest.mark.parametrize("damage", [b"", b"xyz", b"\xff" * 64, b"G" * 64])
def test_a_damaged_memory_is_ignored(tmp_path: Path, cache: Path, damage: bytes) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"one")
    file_sha256(file)
    (memory,) = cache.iterdir()
    memory.write_bytes(damage)
    assert file_sha256(file) == digest(b"one")


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, cache: Path) -> None:
    cache.parent.write_text("a file where the folder should be")
    file = tmp_path / "f"
    file.write_bytes(b"one")
    assert file_sha256(file) == digest(b"one")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        file_sha256(tmp_path / "none")
