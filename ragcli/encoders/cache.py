"""Exported encoders in the user's cache, one folder a model, named by its content.

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
from pathlib import Path

from ragcli.encoders.base import EncoderIdentity
from ragcli.errors import ModelError
from ragcli.paths import shown, user_cache_dir

FORMAT = 2  # raise it when the export changes: old ones are then not found
TIMEOUT_S = 900


def export_folder(identity: EncoderIdentity) -> Path:
    """Where the export of that model lies, or would lie."""
    return user_cache_dir() / "encoders" / f"{identity.sha256[:16]}-{FORMAT}"


def ensure_export(source: Path, identity: EncoderIdentity, log: Callable[[str], None]) -> Path:
    """The folder with the export, which is made now if it is missing.

    Raises ModelError with the reason if the model cannot be exported.
    """
    folder = export_folder(identity)
    if (folder / "meta.json").is_file():
        return folder
    log(f"preparing the encoder {identity.name} (once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ModelError(
            f"the cache folder cannot be written: {shown(folder.parent)} ({error.strerror})",
            hint="set RAGCLI_CACHE_DIR to a folder that can be written",
        ) from error
    try:
        _export(source, temporary)
        _move(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _export(source: Path, target: Path) -> None:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    # -P: the working directory, which may be anyone's, lends no modules.
    command = [sys.executable, "-P", "-m", "ragcli.encoders.export", str(source), str(target)]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"the encoder cannot be exported: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit {done.returncode}"
        raise ModelError(
            f"the encoder cannot be exported: {shown(source)}: {reason}",
            hint="ragcli takes sentence-transformers models with a fast tokenizer",
        )


def _move(temporary: Path, folder: Path) -> None:
    """Renames; if another process was first, its export serves as well."""
    try:
        temporary.rename(folder)
    except OSError as error:
        if not (folder / "meta.json").is_file():
            raise ModelError(
                f"the exported encoder cannot be stored: {shown(folder)} ({error.strerror})"
            ) from error
