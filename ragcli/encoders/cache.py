"""Exported models in the user's cache, one folder a model, named by its content.

An export is made once, in a process of its own, written beside its final place and
renamed: a reader sees a whole export or none, and two processes may export at once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ragcli.errors import ModelError
from ragcli.paths import shown, user_cache_dir

FORMAT = 2  # raise it when the export changes: old ones are then not found
TIMEOUT_S = 900


class Named(Protocol):
    """A model's name, and the hash of what decides its results."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """What is exported: the cache's folder, the module that does it, and words for people."""

    folder: str
    module: str
    noun: str
    hint: str


ENCODER = Kind(
    "encoders",
    "ragcli.encoders.export",
    "encoder",
    "ragcli takes sentence-transformers models with a fast tokenizer",
)
INT8_ENCODER = Kind(
    "encoders",
    "ragcli.encoders.quantising",
    "int8 encoder",
    "use it exactly: --encoder-precision exact",
)
CROSS_ENCODER = Kind(
    "cross-encoders",
    "ragcli.encoders.cross_export",
    "cross-encoder",
    "ragcli takes cross-encoders of sentence-transformers (or transformers' sequence "
    "classifiers) with a fast tokenizer and safetensors weights",
)


def export_folder(identity: Named, kind: Kind = ENCODER) -> Path:
    """Where the export of that model lies, or would lie."""
    return user_cache_dir() / kind.folder / f"{identity.sha256[:16]}-{FORMAT}"


def is_exported(identity: Named, kind: Kind = ENCODER) -> bool:
    return (export_folder(identity, kind) / "meta.json").is_file()


def ensure_export(
    source: Path, identity: Named, log: Callable[[str], None], kind: Kind = ENCODER
) -> Path:
    """The folder with the export, which is made now if it is missing.

    Raises ModelError with the reason if the model cannot be exported.
    """
    folder = export_folder(identity, kind)
    if is_exported(identity, kind):
        return folder
    log(f"preparing the {kind.noun} {identity.name} (once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ModelError(
            f"the cache folder cannot be written: {shown(folder.parent)} ({error.strerror})",
            hint="set RAGCLI_CACHE_DIR to a folder that can be written",
        ) from error
    try:
        _export(source, temporary, kind)
        _move(temporary, folder, kind)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _export(source: Path, target: Path, kind: Kind) -> None:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    # -P: the working directory, which may be anyone's, lends no modules.
    command = [sys.executable, "-P", "-m", kind.module, str(source), str(target)]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"the {kind.noun} cannot be exported: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit {done.returncode}"
        raise ModelError(
            f"the {kind.noun} cannot be exported: {shown(source)}: {reason}", hint=kind.hint
        )


def _move(temporary: Path, folder: Path, kind: Kind) -> None:
    """Renames; if another process was first, its export serves as well."""
    try:
        temporary.rename(folder)
    except OSError as error:
        if not (folder / "meta.json").is_file():
            raise ModelError(
                f"the exported {kind.noun} cannot be stored: {shown(folder)} ({error.strerror})"
            ) from error
