"""A worker process: reads requests from stdin, files from disk, answers to stdout.

It ignores Ctrl-C (the parent ends it), has a limit on memory, kills itself when a
file takes far too long or the parent is gone, and keeps libraries that print off
the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from ragcli.errors import SourceError
from ragcli.sources.read import load_whole
from ragcli.sources.wire import error_message, loaded_message, pack, prefix, read

_PATIENCE = 20  # times the limit, after which the kernel ends an orphaned worker


def _limit(memory: int) -> None:
    """Address space in bytes (0: no limit); no file may be written, none is left by a crash.

    Systems without such limits run without them.
    """
    sys.dont_write_bytecode = True
    try:
        import resource
    except ImportError:
        return
    limits = {resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    if memory:
        limits[resource.RLIMIT_AS] = memory
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (most, hard))


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with whatever a library has started
    os._exit(0)


def _own_pipe() -> BinaryIO:
    """The answer pipe under a private descriptor; prints of libraries go nowhere."""
    private = os.dup(sys.stdout.fileno())
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    return os.fdopen(private, "wb")


def _answer(request: dict[str, Any]) -> bytes:
    try:
        return pack(loaded_message(load_whole(Path(request["path"]), limit=request["size_limit"])))
    except SourceError as error:
        return pack(error_message(error))
    except MemoryError:
        return pack({"error": "needs too much memory", "skipped": False})
    except RecursionError:
        return pack({"error": "nested too deep", "skipped": False})
    except Exception as error:  # noqa: BLE001 - the boundary: a loader's bug costs one file
        return pack({"error": f"cannot be read ({type(error).__name__})", "skipped": False})


def main(memory_limit: int, parent: int) -> None:
    """Serve requests until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = _own_pipe()
    _limit(memory_limit)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    while (request := read(sys.stdin.buffer)) is not None:
        if hasattr(signal, "alarm"):
            # No handler: the kernel ends the process even inside a C library.
            signal.alarm(int(request["seconds"]) * _PATIENCE)
        body = _answer(request)
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        answers.write(prefix(body))
        answers.write(body)
        answers.flush()
