"""Indexing for people: a progress bar while it runs, a summary when it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from ragcli import events as ev
from ragcli.render.json import Json, file_document, path_fields
from ragcli.render.terminal import Printer, clean, count, path_text, size
from ragcli.types import FileStatus

_LISTED = 20  # failed files named without --verbose
_NAMED = 3  # files or folders named in one line
_STYLE = {
    FileStatus.FAILED: "bad",
    FileStatus.PARTIAL: "risk",
    FileStatus.SKIPPED: "dim",
    FileStatus.INDEXED: "good",
}


@dataclass(slots=True)
class Report:
    """What a run of the index told."""

    files: list[ev.FileDone] = field(default_factory=list)
    summary: ev.Indexed | None = None
    warnings: list[str] = field(default_factory=list)
    verified: ev.Verified | None = None
    removed: list[Path] = field(default_factory=list)

    def take(self, event: ev.Event) -> None:
        """Remember what the summary needs."""
        match event:
            case ev.FileDone():
                self.files.append(event)
            case ev.Indexed():
                self.summary = event
            case ev.Verified():
                self.verified = event
            case ev.Removed():
                self.removed.append(event.path)
            case ev.Warned():
                self.warnings.append(event.message)
            case _:
                pass


def follow(events: Iterable[ev.Event], bar: Bar | None) -> Report:
    """Run the events to their end, drawing them where there is a bar."""
    report = Report()
    for event in events:
        report.take(event)
        if bar is not None:
            bar.take(event)
    return report


class Bar(AbstractContextManager["Bar"]):
    """A progress bar on stderr: files read, passages embedded."""

    def __init__(self, stream: TextIO, *, colorless: bool, width: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        console = Console(
            file=stream, force_terminal=True, no_color=colorless, width=width, highlight=False
        )
        self._progress = Progress(
            TextColumn("{task.description:<8}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Remaining(),
            TextColumn("{task.fields[file]}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def take(self, event: ev.Event) -> None:
        """Draw the event."""
        match event:
            case ev.Scanned():
                self._update("read", 0, event.to_read)
            case ev.FileDone():
                self._advance("read", path_text(event.path.name))
            case ev.Progress():
                self._update(event.stage, event.done, event.total)
            case _:
                pass

    def _update(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, file="")
        self._progress.update(self._tasks[stage], completed=done, total=total)

    def _advance(self, stage: str, file: str) -> None:
        if stage in self._tasks:
            self._progress.update(self._tasks[stage], advance=1, file=file)


def print_summary(printer: Printer, report: Report, index_dir: Path, *, verbose: bool) -> None:
    """The totals, then the files that need a word; with verbose every file."""
    done = report.summary
    if done is None:
        return
    totals = (f"{done.indexed:,} indexed, {done.unchanged:,} unchanged, "
              f"{done.skipped:,} skipped, {done.failed:,} failed")  # fmt: skip
    printer.line((f"{count(done.found, 'file')}: ", "number"), totals)
    _print_files(printer, report.files, verbose=verbose)
    if done.removed or done.moved:
        printer.line(f"  {done.removed:,} removed, {done.moved:,} moved")
    if report.verified is not None:
        _print_verified(printer, report.verified)
    for warning in (*report.warnings, *done.warnings):
        printer.line("  note: ", clean(warning), hang=4)
    printer.line(
        f"{count(done.passages, 'passage')} in {path_text(index_dir)} "
        f"(generation {done.generation}), {done.seconds:.1f} s"
    )


def _print_verified(printer: Printer, verified: ev.Verified) -> None:
    hidden = f"{verified.changed:,} of them changed under the same size and times"
    printer.line(f"  {count(verified.files, 'file')} compared by content, {hidden}", hang=4)
    for fault in verified.mended:
        printer.line("  mended: ", clean(fault), hang=4)
    if not verified.mended:
        printer.line("  the index is whole")


def watched_line(paths: Sequence[Path]) -> str:
    """What `--watch` follows."""
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    named = ", ".join(path_text(path) for path in paths[:_NAMED])
    return f"watching {named}{more}; Ctrl-C ends it"


def round_line(report: Report) -> str:
    """What a round of `--watch` changed, on one line."""
    parts = []
    for status in (FileStatus.INDEXED, FileStatus.PARTIAL, FileStatus.SKIPPED, FileStatus.FAILED):
        names = [_named(one) for one in report.files if one.status is status]
        if names:
            parts.append(f"{len(names):,} {status.value} ({_few(names)})")
    if report.removed:
        done = report.summary
        moved = f", {done.moved:,} of them moved" if done is not None and done.moved else ""
        names = [path_text(path) for path in report.removed]
        parts.append(f"{len(names):,} gone ({_few(names)}){moved}")
    return ", ".join(parts)


def _named(one: ev.FileDone) -> str:
    reason = f": {clean(one.reason)}" if one.reason else ""
    return path_text(one.path) + reason


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def print_forgotten(printer: Printer, report: Report, index_dir: Path) -> None:
    """What was taken out of the index, and what is left."""
    if report.summary is not None:
        left = count(report.summary.passages, "passage")
        removed = count(report.summary.removed, "file")
        printer.line(f"{removed} removed; {left} left in {path_text(index_dir)}")


def _print_files(printer: Printer, files: Sequence[ev.FileDone], *, verbose: bool) -> None:
    if verbose:
        for one in files:
            _print_file(printer, one)
        return
    for status in (FileStatus.FAILED, FileStatus.PARTIAL):
        named = [one for one in files if one.status is status]
        for one in named[:_LISTED]:
            _print_file(printer, one)
        if len(named) > _LISTED:
            more = len(named) - _LISTED
            printer.line(f"  {status.value}: {more:,} more; --verbose lists all")
    reasons = Counter(clean(one.reason) for one in files if one.status is FileStatus.SKIPPED)
    for reason, number in sorted(reasons.items(), key=lambda one: (-one[1], one[0])):
        printer.line(
            ("  skipped", "dim"), f"  {count(number, 'file')}: {reason or 'no reason given'}"
        )


def _print_file(printer: Printer, one: ev.FileDone) -> None:
    if one.reason:
        what = clean(one.reason)
    else:
        what = f"{count(one.passages, 'passage')}, {size(one.size)}"
    printer.line(
        (f"  {one.status.value:<7}", _STYLE[one.status]), "  ", (path_text(one.path), "path"),
        f": {what}", hang=4,
    )  # fmt: skip


def index_document(report: Report, index_dir: Path) -> Json:
    """`ragcli/index@1`: found == indexed + unchanged + skipped + failed."""
    summary = report.summary
    counts = {} if summary is None else asdict(summary)
    verified = {} if report.verified is None else {"verified": asdict(report.verified)}
    return {
        "schema": "ragcli/index@1",
        **path_fields(index_dir.absolute(), "index"),
        **counts,
        **verified,
        "files": [file_document(one) for one in report.files],
        "warnings": [*report.warnings, *counts.get("warnings", ())],
    }
