"""Decoded prompt beginnings, kept on disk: what a few-shot prompt costs is paid once a machine.

A state is the engine's own memory of some tokens. It counts only for exactly these tokens, this
model and these engine parameters, all hashed into its name and its header. Files are read from
the user's own cache alone: one that another user could have written, a link, a damaged or a
foreign file is passed over and written anew. Nothing here raises for a file: a cache that
cannot be used only costs time.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

MAX_STATE = 64 << 20  # bytes of one file
MAX_TOTAL = 256 << 20  # bytes of the folder
MAX_FILES = 64
_MAGIC = b"ragcli prompt state 1\n"
_HEADER = len(_MAGIC) + 64  # magic, SHA-256 of the key, SHA-256 of what follows
_STALE = 3600.0  # seconds after which a half-written file belongs to nobody


class PrefixStates(Protocol):
    """Where a session looks for the state of a prompt's beginning."""

    def load(self, tokens: NDArray[np.int32]) -> bytes | None:
        """The state of exactly these tokens, None where there is none."""
        ...

    def save(self, tokens: NDArray[np.int32], state: bytes) -> None:
        """Keeps a state if it can."""
        ...


class StateFiles:
    """States of one model and engine in a folder of the user's cache.

    identity: all that makes a state another one beside the tokens (model hash, engine
    version and parameters).
    """

    def __init__(
        self, folder: Path, identity: Mapping[str, Any], *, max_total: int = MAX_TOTAL
    ) -> None:
        self._folder, self._max_total = folder, max_total
        self._identity = json.dumps(identity, sort_keys=True).encode()

    def path(self, tokens: NDArray[np.int32]) -> Path:
        """Where the state of these tokens is kept."""
        return self._folder / f"{self._key(tokens).hex()}.state"

    def load(self, tokens: NDArray[np.int32]) -> bytes | None:
        path = self.path(tokens)
        if not _own_folder(self._folder):
            return None
        content = _read_own(path)
        if content is None or content[:_HEADER] != self._header(tokens, content[_HEADER:]):
            return None
        with suppress(OSError):
            os.utime(path)  # used: the last to be thrown out
        return content[_HEADER:]

    def save(self, tokens: NDArray[np.int32], state: bytes) -> None:
        if not 0 < len(state) <= min(MAX_STATE, self._max_total) - _HEADER:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _own_folder(self._folder):
                return
            self._write(self.path(tokens), self._header(tokens, state) + state)
            self._prune()
        except OSError:
            return

    def _write(self, path: Path, content: bytes) -> None:
        """Whole or not at all, readable by the user alone (as mkstemp makes files)."""
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _prune(self) -> None:
        """Throws out the longest unused until the folder keeps its bounds."""
        kept: list[tuple[float, int, Path]] = []
        for entry in self._folder.iterdir():
            status = entry.lstat()
            if entry.suffix == ".state":
                kept.append((status.st_mtime, status.st_size, entry))
            elif entry.suffix == ".part" and time.time() - status.st_mtime > _STALE:
                entry.unlink(missing_ok=True)
        total = 0
        for number, (_, size, entry) in enumerate(sorted(kept, reverse=True)):
            total += size
            if total > self._max_total or number >= MAX_FILES:
                entry.unlink(missing_ok=True)

    def _key(self, tokens: NDArray[np.int32]) -> bytes:
        digest = hashlib.sha256(self._identity)
        digest.update(b"\0" + np.ascontiguousarray(tokens, "<i4").tobytes())
        return digest.digest()

    def _header(self, tokens: NDArray[np.int32], state: bytes) -> bytes:
        return _MAGIC + self._key(tokens) + hashlib.sha256(state).digest()


def _own_folder(folder: Path) -> bool:
    """Whether the folder is one that only this user can put files into."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _only_ours(status)


def _read_own(path: Path) -> bytes | None:
    """The content of a plain file that only this user can write, None for anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        small = _HEADER < status.st_size <= MAX_STATE
        if not (stat.S_ISREG(status.st_mode) and _only_ours(status) and small):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MAX_STATE + 1)
    except OSError:
        return None
    finally:
        os.close(handle)


def _only_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
