"""A bar for work that is counted in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ragcli.render.terminal import clean


@contextmanager
def counting_bar(
    stream: TextIO, label: str, total: int, width: int
) -> Iterator[Callable[[int], None]]:
    """A progress bar on `stream`; the function it gives takes how many are done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=stream, width=width),
        transient=True,
    )
    with bar:
        task = bar.add_task(clean(label), total=total)
        yield lambda done: bar.update(task, completed=done)
