"""Files of the model store: partial downloads, links, hashes, and a full disk."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from ragcli.errors import ModelError
from ragcli.paths import shown

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_BLOCK = 1 << 20


class Partial:
    """The bytes that are here so far, hashed as they come (a `hub.Sink`).

    progress is told how many bytes are here.
    """

    def __init__(self, path: Path, progress: Callable[[int], None]) -> None:
        self._path, self._progress = path, progress
        self.size = 0

    def __enter__(self) -> Self:
        with space_for(self._path):
            self._file = self._path.open("a+b")
        self._hash = hashlib.sha256()
        self._file.seek(0)
        while block := self._file.read(_BLOCK):
            self._hash.update(block)
            self.size += len(block)
        self._progress(self.size)
        return self

    def __exit__(self, *_: object) -> None:
        with space_for(self._path):
            self._file.close()

    def write(self, chunk: bytes) -> None:
        with space_for(self._path):
            self._file.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)
        self._progress(self.size)

    def restart(self) -> None:
        self._file.truncate(0)
        self._hash, self.size = hashlib.sha256(), 0

    def digest(self) -> str:
        with space_for(self._path):
            self._file.flush()
            os.fsync(self._file.fileno())
        return self._hash.hexdigest()


@contextmanager
def space_for(path: Path) -> Iterator[None]:
    """A full disk in one line; what is here stays, so that a later run continues it."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise ModelError(
                f"no space left while writing {shown(path)}",
                hint="make room and run the command again: it continues where it stopped",
            ) from error
        raise ModelError(
            f"cannot write {shown(path)}: {error.strerror}",
            hint="RAGCLI_CACHE_DIR names another place",
        ) from error


def link_or_copy(source: Path, target: Path) -> None:
    """Make `target` the file `source`, whole or not at all: a hard link where possible."""
    if target.exists() and target.samefile(source):
        return
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        os.link(source, part)
    except OSError:  # another disk, or a file system without links
        try:
            with space_for(part):
                shutil.copyfile(source, part)
        except ModelError:
            part.unlink(missing_ok=True)
            raise
    part.replace(target)


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def human_size(count: int) -> str:
    """Decimal units, as the hub shows sizes."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"


def is_file(path: Path) -> bool:
    """Whether there is such a file; texts that can be no path are none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or a NUL in it
        return False
