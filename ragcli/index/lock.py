"""One writer an index. The operating system frees the lock when its holder dies."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragcli.errors import IndexLocked
from ragcli.index.location import HOLDER, LOCK, refuse_links
from ragcli.paths import shown

_UNKNOWN = "unknown process"


@contextmanager
def writer_lock(index_dir: Path) -> Iterator[None]:
    """Held while the block runs. Raises IndexLocked, saying who holds it, at once."""
    from filelock import FileLock, Timeout

    refuse_links(index_dir)
    lock = FileLock(index_dir / LOCK, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexLocked(
            f"another process is writing this index: {_holder(index_dir)}",
            hint="wait until it is done; searching works meanwhile",
        ) from error
    except NotImplementedError as error:  # a file system without locks
        raise IndexLocked(f"the index cannot be locked: {shown(index_dir)} ({error})") from error
    try:
        _sign(index_dir)
        yield
    finally:
        with suppress(OSError):
            (index_dir / HOLDER).unlink(missing_ok=True)
        lock.release()


def _sign(index_dir: Path) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    with suppress(OSError):  # the signature is for people; the lock is held without it
        (index_dir / HOLDER).write_text(json.dumps(holder), "utf-8")


def _holder(index_dir: Path) -> str:
    """Who signed, unless that process is no more (it was killed, another one has the lock)."""
    try:
        holder = json.loads((index_dir / HOLDER).read_text("utf-8", "replace"))
        pid, host, since = int(holder["pid"]), str(holder["host"]), str(holder["since"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return _UNKNOWN
    if host == socket.gethostname() and not _runs(pid):
        return _UNKNOWN
    said = f"process {pid} on {host}, since {since}"
    return said if said.isprintable() and len(said) < 200 else _UNKNOWN


def _runs(pid: int) -> bool:
    try:
        os.kill(max(pid, 1), 0)  # no signal is sent; a number below 1 would mean a group
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
