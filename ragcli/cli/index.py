"""`ragcli index`: bring the index up to date with files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, RagcliError, UsageError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.events import Event
    from ragcli.render.indexing import Report


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(index)


def index(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files and folders (default: all so far)."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on as files change, until Ctrl-C.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare all content, and check the index itself.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start the index anew.")] = False,
    encoder: options.Encoder = None,
    encoder_precision: options.Precision = None,
    index: options.IndexDir = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    as_lines: options.Jsonl = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Index files and folders; a second run does only what changed.

    Without PATH everything that was indexed so far is brought up to date.

    Exit code 0 if every document was indexed, 5 if some failed, 1 if there is none;
    --watch ends with 130.
    """
    from ragcli.cli.watching import Job, follow

    _check(watch=watch, verify=verify, rebuild=rebuild, as_json=as_json)
    env = options.environment(ctx)
    config = configuration.load(env, ctx.params)
    folder = engine.index_dir_to_write(config)
    precision = engine.precision_to_write(config, folder)
    job = Job(folder, to_index(folder, paths or [], rebuild=rebuild),
              engine.encoder(config, env, precision), engine.named_encoder(config, precision),
              engine.workers(config))  # fmt: skip
    if watch:
        follow(env, job, rebuild=rebuild, verify=verify, as_lines=as_lines)
    report = run(env, job.events(rebuild=rebuild, verify=verify), as_lines=as_lines)
    show_report(env, report, folder, as_json=as_json, as_lines=as_lines)
    return exit_code(report)


def _check(*, watch: bool, verify: bool, rebuild: bool, as_json: bool) -> None:
    """Raises UsageError for what does not go together."""
    if watch and as_json:
        raise UsageError(
            "--watch has no end, and --json is one document",
            hint="--jsonl prints a line as each thing happens",
        )
    if verify and rebuild:
        raise UsageError(
            "--rebuild reads everything anew: there is nothing to verify", hint="leave out one"
        )


def to_index(folder: Path, paths: list[str], *, rebuild: bool) -> list[Path]:
    """The paths, or what the index was asked for so far; for a rebuild both.

    Raises UsageError for one that is not there, and where there is none.
    """
    from ragcli.index.asked import known_paths
    from ragcli.index.location import CATALOG

    given = existing(paths)
    if not (folder / CATALOG).is_file():
        if not given:
            raise UsageError(
                "nothing is indexed yet: name a file or folder", hint="ragcli index FOLDER"
            )
        return given
    if not given:
        return known_paths(folder, rebuild=rebuild)
    if rebuild:
        with suppress(RagcliError):
            given += [path for path in known_paths(folder, rebuild=True) if path.exists()]
    return given


def existing(paths: list[str]) -> list[Path]:
    """The paths, each of which is there. Raises UsageError."""
    for path in paths:
        if not path or "\0" in path or not os.path.lexists(path):
            raise UsageError(f"no such file or folder: {shown(path)!r}")
    return [Path(path) for path in paths]


def run(env: Environment, events: Iterator[Event], *, as_lines: bool) -> Report:
    """Follow the events: a bar on a terminal, a line each under --jsonl."""
    from ragcli.render.indexing import Bar, follow

    bar = (
        Bar(env.stderr, colorless=env.colorless, width=env.width) if env.progress else nullcontext()
    )
    with bar as drawn:
        return follow(_printed(env, events) if as_lines else events, drawn)


def _printed(env: Environment, events: Iterator[Event]) -> Iterator[Event]:
    from ragcli.render.json import event_document

    for event in events:
        env.json(event_document(event))
        yield event


def show_report(
    env: Environment, report: Report, folder: Path, *, as_json: bool, as_lines: bool = False
) -> None:
    """The summary, as asked for."""
    from ragcli.render.indexing import index_document, print_summary

    if as_json and report.summary is not None:
        env.json(index_document(report, folder))
    elif not as_lines:
        print_summary(env.printer(), report, folder, verbose=env.verbose > 0)


def exit_code(report: Report) -> ExitCode:
    """0: all documents are in the index; 5: some failed; 1: none is there."""
    done = report.summary
    if done is None or done.indexed + done.unchanged == 0:
        return ExitCode.NOTHING
    return ExitCode.PARTIAL if done.failed else ExitCode.OK


__all__ = ["existing", "exit_code", "index", "register", "run", "show_report", "to_index"]
