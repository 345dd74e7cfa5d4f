"""A worker process as the pool sees it: started, asked, heard, timed, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from ragcli.sources import wire

STARVED = 10  # times its limit a reader gets at most, on a machine that has no time for it
_READ = 1 << 20
PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from ragcli.sources.worker import main; "
    "main({memory}, {parent})"
)

Job = TypeVar("Job")


@dataclass(slots=True)
class Worker(Generic[Job]):
    """One process and what it is reading; `received` is the answer so far."""

    process: subprocess.Popen[bytes]
    slot: Job | None = None
    deadline: float = 0.0
    latest: float = 0.0  # deadline whatever happens
    starved: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    @classmethod
    def start(cls, memory_limit: int) -> Self:
        program = PROGRAM.format(path=sys.path, memory=memory_limit, parent=os.getpid())
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            process_group=0 if hasattr(os, "killpg") else None,
        )
        return cls(process)

    def give(self, slot: Job, path: Path, seconds: float, size_limit: int | None) -> bool:
        """Send a file to read; False if the worker is not there any more."""
        now = time.monotonic()
        self.slot, self.deadline, self.latest = slot, now + seconds, now + seconds * STARVED
        self.starved = self._starved()
        self.received.clear()
        request: dict[str, Any] = {
            "path": str(path),
            "seconds": seconds,
            "size_limit": size_limit,
        }
        body = wire.pack(request)
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(wire.prefix(body) + body)
        except OSError:
            return False
        return True

    def receive(self) -> bool:
        """Take what the pipe holds; False if the worker is gone or mad."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), _READ)
        self.received += data
        return bool(data) and self.expected() <= wire.LARGEST

    def expected(self) -> int:
        """Bytes of the answer's body, as far as known."""
        return int.from_bytes(self.received[: wire.PREFIX], "big") if self.ready_prefix() else 0

    def ready_prefix(self) -> bool:
        return len(self.received) >= wire.PREFIX

    def complete(self) -> bool:
        return self.ready_prefix() and len(self.received) - wire.PREFIX >= self.expected()

    def stop(self) -> int:
        """End the process; its return code (negative: the signal that ended it)."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        alive = not self.has_ended()
        if self.process.returncode is None and hasattr(os, "killpg"):
            # With whatever it has started. Its number is its own as long as nobody waited.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if alive:
            self.process.kill()
        code = self.process.wait()
        return 0 if alive else code

    def is_late(self, now: float) -> bool:
        """Whether its time is up. What it stood in line for a processor does not count."""
        if now < self.deadline:
            return False
        starved = self._starved()
        self.deadline = min(self.deadline + starved - self.starved, self.latest)
        self.starved = starved
        return now >= self.deadline

    def _starved(self) -> float:
        """Seconds for which the process could have run and others did (Linux tells)."""
        try:
            numbers = Path(f"/proc/{self.process.pid}/schedstat").read_text("ascii").split()
            return int(numbers[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def has_ended(self, patience: float = 0.0) -> bool:
        """Whether the process is no more, within `patience` seconds; it stays to be waited for."""
        until = time.monotonic() + patience
        while not self._exited():
            if time.monotonic() >= until:
                return False
            time.sleep(0.005)
        return True

    def _exited(self) -> bool:
        if self.process.returncode is not None or not hasattr(os, "waitid"):
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None


def death(code: int) -> str:
    """Why a worker that nobody stopped died."""
    if code == 0:
        return "the reader stopped"
    if code > 0:
        return f"the reader stopped (exit code {code})"
    if -code == signal.SIGABRT:  # what C++ libraries do when they get no memory
        return "the reader gave up: too much memory needed (SIGABRT)"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the reader was ended by {name}"
