"""SHA-256 of model files, remembered: hashing half a gigabyte for each answer is a second."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from ragcli.errors import ModelError
from ragcli.paths import shown, user_cache_dir


def file_sha256(path: Path) -> str:
    """The file's SHA-256, from the user's cache if path, size, time and inode are the same.

    Raises ModelError when the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            key = [os.fsencode(path.resolve()).hex(), status.st_size, status.st_mtime_ns]
            memory = _memory(json.dumps([*key, status.st_ino, status.st_dev]))
            known = _read(memory)
            if known:
                return known
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {shown(path)}: {error.strerror or error}") from None
    _write(memory, digest)
    return digest


def check_gguf(path: Path, hint: str = "ragcli models list shows what is there") -> None:
    """Raises ModelError, without loading anything, where the file is missing or no GGUF."""
    name = shown(path)
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise ModelError(f"there is no model file {name}", hint=hint) from None
    except OSError as error:
        raise ModelError(
            f"cannot read the model file {name}: {error.strerror or error}",
            hint="a generator is one readable .gguf file",
        ) from None
    if magic != b"GGUF":
        raise ModelError(
            f"{name} is not a GGUF model", hint="a generator is one file that ends in .gguf"
        )


def _memory(key: str) -> Path:
    name = hashlib.sha256(key.encode()).hexdigest()
    return user_cache_dir() / "hashes" / f"{name}.txt"


def _read(memory: Path) -> str:
    """The remembered digest, "" if there is none or it is damaged."""
    try:
        text = memory.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) == 64 and set(text) <= set("0123456789abcdef") else ""


def _write(memory: Path, digest: str) -> None:
    """Remembers a digest; a cache that cannot be written only costs time."""
    part = memory.with_suffix(f".{os.getpid()}.part")
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(digest, encoding="ascii")
        part.replace(memory)
    except OSError:
        return
