"""Ctrl-C while C code runs.

Python runs a signal handler only between bytecodes, also inside a callback that C calls;
an exception raised there is lost. So while the engine works SIGINT only sets a flag, which
the abort callback reads; afterwards the signal is delivered as it would have been.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Pending:
    """Whether a signal waits to be delivered."""

    def __init__(self) -> None:
        self.fired = False


@contextmanager
def held_back(pending: Pending) -> Iterator[None]:
    """Holds SIGINT back, if it would raise KeyboardInterrupt here.

    A program with its own handler, or another thread than the main one, is left alone.
    """
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield
        return
    pending.fired = False

    def note(_signal: int, _frame: object) -> None:
        pending.fired = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pending.fired:
            pending.fired = False
            signal.raise_signal(signal.SIGINT)
