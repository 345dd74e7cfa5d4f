"""Waiting until files change; the only file that imports watchfiles.

Watched are the folders that the walk enters, one by one: ignored trees (`.git`, build
folders, the index itself) cost nothing and wake nobody. Of an argument that is a file, its
folder is watched for its name; of one that does not exist, the nearest folder above. Where
the system does not tell (its limit of watched folders, a network disk), the files' sizes and
times are looked at again and again.

Nothing is lost: `refresh` watches before the files are walked, and what happens from then on
is kept until `wait` is called.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragcli.closing import Closing
from ragcli.errors import UsageError
from ragcli.events import FileDone
from ragcli.sources.ignore import NAMES
from ragcli.sources.walk import Folder, folders, walk

QUIET_MS = 150  # a burst is over after so long without a change,
MOST_MS = 3_000  # or counts as over after so long in all
TICK_MS = 300
MANY = 4_096  # changes at once, after which the system's queue may have overflowed
TRIES = 5
POLL_S = 1.0
POLL_SHARE = 20  # looking at all files may take 1/20 of the time

Changes = Iterable[tuple[int, str]]
_DELETED = 3  # watchfiles.Change.deleted
_MODIFIED = 2


@dataclass(slots=True)
class _Place:
    """A watched folder: as a walk enters it, and names that matter in it all the same."""

    folder: Folder | None = None
    names: set[str] = field(default_factory=set)
    inode: tuple[int, int] = (0, 0)

    def concerns(self, path: str, name: str) -> bool:
        if name in self.names:
            return True
        if self.folder is None:
            return False
        if name in NAMES:
            return True
        if os.path.lexists(path):
            return self.folder.passes(name, folder=Path(path).is_dir())
        return any(self.folder.passes(name, folder=kind) for kind in (True, False))


class Watcher(Closing):
    """Tells when files of `paths` may have changed. `say` gets a line where it has to poll."""

    def __init__(self, paths: Sequence[Path], say: Callable[[str], None]) -> None:
        self.paths = [Path(os.path.realpath(path)) for path in paths]
        self.say = say
        self.polling = _forced()
        self._places: dict[str, _Place] = {}
        self._stream: Generator[Any, None, None] | None = None
        self._renew = True  # what is watched may be dead
        self._changed = False
        self._looked: bytes = b""
        self._cost = 0.0

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def refresh(self) -> None:
        """Watch what is there now; to be called before the files are walked."""
        self._changed = False
        for _ in range(TRIES):
            if self.polling:
                self._looked = self._look()
                return
            places = self._find_places()
            same = _inodes(places) == _inodes(self._places)
            self._places = places
            if same and not self._renew:
                return
            self._start()
        self._changed = True  # folders come and go too fast: look again soon

    def wait(self, *, not_before: float = 0.0, until: float = math.inf) -> bool:
        """Returns True when something changed and a moment passed without a change.

        not_before, until: times of `time.monotonic()`, of which the one is waited for in any
        case, and after the other False says that nothing changed. Raises KeyboardInterrupt.
        """
        while not self._changed or time.monotonic() < not_before:
            if time.monotonic() > until:
                return False
            if self.polling:
                self._poll()
            else:
                self._take(self._next())
        return True

    # The system tells

    def _start(self) -> None:
        """Watches `_places`; the old watch ends after the new one began."""
        from watchfiles import watch

        old = self._stream
        self._renew = False
        self._stream = watch(
            *self._places, watch_filter=None, debounce=MOST_MS, step=QUIET_MS,
            rust_timeout=TICK_MS, yield_on_timeout=True, force_polling=False, recursive=False,
            ignore_permission_denied=False,  # True would hide that the limit is reached
        )  # fmt: skip
        try:
            self._take(next(self._stream))
        except FileNotFoundError:  # gone since it was listed
            self._stream, self._renew = None, True
        except UnicodeEncodeError:
            self._give_up("a folder's name is not UTF-8")
        except (OSError, RuntimeError) as error:
            self._give_up(_reason(error))
        if old is not None:
            old.close()

    def _next(self) -> Changes:
        stream = self._stream
        try:
            return () if stream is None else next(stream, ())
        except RuntimeError:  # watchfiles gives up at the first name that is not UTF-8
            self._stream = None
            self._renew = self._changed = True
            return ()

    def _take(self, changes: Changes) -> None:
        number = 0
        for kind, path in changes:
            number += 1
            if path in self._places:
                self._renew = self._renew or kind != _MODIFIED
            place = self._places.get(os.path.dirname(path))  # noqa: PTH120 - many, all strings
            if path in self._places and kind == _DELETED:
                self._changed = True
            elif place is not None and not self._changed:
                self._changed = place.concerns(path, os.path.basename(path))  # noqa: PTH119
        if number >= MANY:
            self._renew = self._changed = True

    def _find_places(self) -> dict[str, _Place]:
        places: dict[str, _Place] = {}
        for folder in folders(self.paths):
            key = os.fspath(folder.path)
            places[key] = _Place(folder, inode=folder.inode)
        for path in self.paths:
            above = _nearest_above(path)
            key = os.fspath(above)
            if key not in places and not os.access(above, os.R_OK):
                continue  # it cannot be watched
            place = places.setdefault(key, _Place(inode=_inode(above)))
            place.names.add(path.relative_to(above).parts[0] if path != above else "")
        return places

    def _give_up(self, reason: str) -> None:
        self.polling, self._stream = True, None
        self.say(f"{reason}: the files are looked at again and again instead")

    # It does not

    def _poll(self) -> None:
        time.sleep(max(POLL_S, POLL_SHARE * self._cost))
        now = self._look()
        while now != self._looked:
            self._changed = True
            self._looked = now
            time.sleep(QUIET_MS / 1000)
            now = self._look()

    def _look(self) -> bytes:
        """A digest of all files' names, sizes and times."""
        started = time.monotonic()
        digest = hashlib.blake2b()
        try:
            for found in walk([path for path in self.paths if os.path.lexists(path)]):
                digest.update(os.fsencode(found.path))
                if isinstance(found, FileDone):
                    digest.update(b"\0" + found.reason.encode())
                else:
                    digest.update(b"\0%d %d\0" % (found.size, found.mtime_ns))
        except UsageError:  # an argument that went while it was looked at
            digest.update(b"gone")
        self._cost = time.monotonic() - started
        return digest.digest()


def _inodes(places: dict[str, _Place]) -> dict[str, tuple[int, int]]:
    return {path: place.inode for path, place in places.items()}


def _inode(folder: Path) -> tuple[int, int]:
    try:
        status = folder.stat()
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino


def _nearest_above(path: Path) -> Path:
    """The deepest folder above `path` that exists."""
    return next((above for above in path.parents if above.is_dir()), Path(path.anchor))


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if any(sign in text.lower() for sign in ("limit", "no space left", "too many open files")):
        return "the system's limit of watched folders (fs.inotify.max_user_watches) is reached"
    return f"the system does not tell of changes ({text})"


def _forced() -> bool:
    """watchfiles' own switch, for disks that other machines write to."""
    value = os.environ.get("WATCHFILES_FORCE_POLLING", "").lower()
    return value not in {"", "0", "false", "disable", "disabled"}
