"""`ragcli index --watch`: one run after another, as files change.

A round is a whole run: the walk finds what changed, however it changed. The lock is held
during a round only; the encoder stays loaded.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ragcli.cli.environment import Environment
from ragcli.errors import IndexLocked

if TYPE_CHECKING:
    from ragcli.encoders.base import Encoder, EncoderIdentity
    from ragcli.events import Event
    from ragcli.render.indexing import Report

RETRY_S = 0.5  # between two looks at a lock that somebody else holds
TRIES = 3  # before that is worth a line
BLOCKED_S = 5.0  # and after a full disk
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """What is indexed, and how."""

    index_dir: Path
    paths: list[Path]
    encoder: Callable[[], Encoder]
    identity: EncoderIdentity | None
    workers: int

    def events(
        self, *, rebuild: bool = False, verify: bool = False, following: bool = False
    ) -> Iterator[Event]:
        """One run. Raises what `update` does."""
        from ragcli.index.update import update

        return update(
            self.index_dir, self.paths, encoder=self.encoder, identity=self.identity,
            workers=self.workers, rebuild=rebuild, verify=verify, following=following,
        )  # fmt: skip


def follow(env: Environment, job: Job, *, rebuild: bool, verify: bool, as_lines: bool) -> NoReturn:
    """Runs until Ctrl-C or SIGTERM, which come as KeyboardInterrupt.

    Raises what a first run raises, and later IndexMissing and IndexUnusable; a lock that
    somebody else holds and a full disk are waited for.
    """
    from ragcli.cli.index import run, show_report
    from ragcli.index.watch import Watcher
    from ragcli.render.indexing import round_line, watched_line

    with _ended_by_sigterm(), Watcher(job.paths, env.note) as watcher:
        watcher.refresh()
        started = time.monotonic()
        events = _unlocked(env, lambda: job.events(rebuild=rebuild, verify=verify))
        first = run(env, events, as_lines=as_lines)
        show_report(env, first, job.index_dir, as_json=False, as_lines=as_lines)
        env.flush()
        env.note(watched_line(watcher.paths))
        while True:
            pause = min(time.monotonic() - started, LONGEST_PAUSE_S)
            watcher.wait(not_before=time.monotonic() + pause)
            watcher.refresh()
            started = time.monotonic()
            report = _round(env, job, as_lines=as_lines)
            if report is not None:
                env.note(f"{time.strftime('%H:%M:%S')}  {round_line(report)}")


def _round(env: Environment, job: Job, *, as_lines: bool) -> Report | None:
    """A later run; None, and nothing printed, if it finds nothing new."""
    from ragcli.cli.index import run
    from ragcli.index.catalog import IndexBlocked

    said = ""
    while True:
        try:
            events = _news(_unlocked(env, lambda: job.events(following=True)))
            first = next(events, None)
            return None if first is None else run(env, chain([first], events), as_lines=as_lines)
        except IndexBlocked as error:
            if error.message != said:
                said = error.message
                env.note(f"{said}; trying again")
            time.sleep(BLOCKED_S)


def _unlocked(env: Environment, start: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    """The events of a run, as soon as nobody else writes the index."""
    tries = 0
    while True:
        events = start()
        try:
            first = next(events)
        except IndexLocked as error:
            tries += 1
            if tries == TRIES:
                env.note(f"waiting: {error.message}")
            time.sleep(RETRY_S)
            continue
        yield first
        yield from events
        return


def _news(events: Iterator[Event]) -> Iterator[Event]:
    """The events if one of them tells of a file, else none; the run is done either way."""
    from ragcli.events import FileDone, Removed

    held: list[Event] = []
    for event in events:
        held.append(event)
        if isinstance(event, (FileDone, Removed)):
            yield from held
            yield from events


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does: what is under way is undone, workers stop."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
