"""Worker processes that read files, so that a bad file costs one line and no more.

The pool is our own because the standard ones give up as a whole when a worker dies.
A worker is a fresh Python (never a fork of this process, which has threads) that
talks over pipes. It is replaced when it dies, hangs or answers nonsense; only the
file it was reading is lost.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ragcli.closing import Closing
from ragcli.events import FileDone
from ragcli.sources import wire
from ragcli.sources.child import Worker, death
from ragcli.sources.formats import MIB
from ragcli.sources.read import Parsed
from ragcli.types import FileEntry, FileStatus

TIME_LIMIT = 60.0  # seconds a file, and
SECONDS_PER_MIB = 10.0  # more for each MiB of it
MEMORY_LIMIT = 2048 * MIB  # bytes of address space a worker
_LOOK_AFTER = 1.0  # seconds after which silent workers are looked at
_NONSENSE = "the reader answered nonsense"
_AHEAD = 4  # files in flight or waiting their turn, per worker


@dataclass(slots=True)
class _Slot:
    """A file on its way, and what became of it."""

    entry: FileEntry
    result: Parsed | FileDone | None = None


def _done(entry: FileEntry, status: FileStatus, reason: str) -> FileDone:
    return FileDone(entry.path, status, reason, entry.size)


class Extractor(Closing):
    """Reads files in worker processes, results in the order of the input.

    workers: processes, started when needed. time_limit: seconds a file gets, plus ten
    for each MiB. memory_limit: bytes of address space (where the system can limit it).
    size_limit: bytes a file may have, None for the limits of its format. At most four
    files a worker are in flight or held back for the order, so memory is bounded.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        time_limit: float = TIME_LIMIT,
        memory_limit: int = MEMORY_LIMIT,
        size_limit: int | None = None,
    ) -> None:
        self._wanted = max(1, workers)
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._size_limit = size_limit
        self._workers: list[Worker[_Slot]] = []
        self._selector = selectors.DefaultSelector()

    def close(self) -> None:
        """End all workers at once; files in flight are dropped."""
        for worker in list(self._workers):
            self._retire(worker)
        self._selector.close()

    def run(self, entries: Iterable[FileEntry]) -> Iterator[Parsed | FileDone]:
        """Each entry read, in order: Parsed, or FileDone where there is nothing to index."""
        source = iter(entries)
        order: deque[_Slot] = deque()
        more = True
        while more or order:
            while more and len(order) < _AHEAD * self._wanted and (free := self._free()):
                entry = next(source, None)
                if entry is None:
                    more = False
                    break
                slot = _Slot(entry)
                order.append(slot)
                self._assign(free, slot)
            if order and order[0].result is None:
                self._wait()
            while order and (result := order[0].result) is not None:
                order.popleft()
                yield result

    def _free(self) -> Worker[_Slot] | None:
        for worker in self._workers:
            if worker.slot is None:
                return worker
        return self._hire() if len(self._workers) < self._wanted else None

    def _hire(self) -> Worker[_Slot]:
        worker = Worker[_Slot].start(self._memory_limit)
        assert worker.process.stdout is not None
        self._workers.append(worker)
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _retire(self, worker: Worker[_Slot]) -> int:
        assert worker.process.stdout is not None
        self._selector.unregister(worker.process.stdout)
        self._workers.remove(worker)
        return worker.stop()

    def _assign(self, worker: Worker[_Slot], slot: _Slot) -> None:
        seconds = self._time_limit + SECONDS_PER_MIB * slot.entry.size / MIB
        if worker.give(slot, slot.entry.path, seconds, self._size_limit):
            return
        self._retire(worker)  # it died while idle: no fault of this file
        fresh = self._hire()
        if not fresh.give(slot, slot.entry.path, seconds, self._size_limit):
            self._fail(fresh, "the reader does not start")

    def _fail(self, worker: Worker[_Slot], reason: str = "") -> None:
        """The worker's file has failed and the worker goes."""
        slot = worker.slot
        code = self._retire(worker)
        if slot is not None:
            slot.result = _done(slot.entry, FileStatus.FAILED, reason or death(code))

    def _wait(self) -> None:
        """Until some worker has said something, or the first deadline."""
        busy = [worker for worker in self._workers if worker.slot is not None]
        patience = min(worker.deadline for worker in busy) - time.monotonic()
        heard = self._selector.select(min(max(0.0, patience), _LOOK_AFTER))
        for key, _ in heard:
            self._heard(key.data)
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.slot is None:
                continue
            if not heard and worker.has_ended():
                self._fail(worker)  # something that it started holds its pipe open
            elif worker.is_late(now):
                seconds = self._time_limit + SECONDS_PER_MIB * worker.slot.entry.size / MIB
                self._fail(worker, f"took longer than {seconds:.0f} s")

    def _heard(self, worker: Worker[_Slot]) -> None:
        if not worker.receive():
            # A closed pipe comes a moment before the exit code.
            self._fail(worker, "" if worker.has_ended(patience=1.0) else _NONSENSE)
        elif worker.complete():
            self._finish(worker)

    def _finish(self, worker: Worker[_Slot]) -> None:
        slot = worker.slot
        if slot is None:
            self._fail(worker)
            return
        try:
            slot.result = _result(slot.entry, wire.unpack(worker.received))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            self._fail(worker, _NONSENSE)
            return
        worker.slot = None
        worker.received = bytearray()


def _result(entry: FileEntry, message: dict[str, Any]) -> Parsed | FileDone:
    if "error" in message:
        status = FileStatus.SKIPPED if message["skipped"] else FileStatus.FAILED
        return _done(entry, status, str(message["error"]))
    loaded = wire.loaded_from(message)
    return Parsed(entry, loaded.sha256, loaded.extracted, loaded.language, loaded.sentences)
