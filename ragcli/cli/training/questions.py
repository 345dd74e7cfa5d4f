"""`ragcli train questions`: question-answer pairs drafted from one's own index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.cli.training.telling import Bars, long, show_drafts
from ragcli.errors import ExitCode

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.index.reader import Reader
    from ragcli.train.questions.drafting import Drafting, Wanted
    from ragcli.train.questions.ledger import Ledger

_TRIED = 4  # drafts that tell the pace


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(questions)


def questions(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="JSON lines; gone on with if it is there.")
    ],
    index: options.IndexDir = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Pairs that FILE shall hold.")
    ] = 100,
    per_passage: Annotated[
        int,
        typer.Option("--per-passage", metavar="N", min=1, max=20, help="Pairs of a passage."),
    ] = 1,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Say what it will take, after a few drafts.")
    ] = False,
    model: options.Model = None,
    encoder: options.Encoder = None,
    threads: options.Threads = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Draft questions with answers from your own documents, for training and measuring.

    An answer is a name, a date or a figure of a sentence; the generator writes a question for it,
    and every pair is checked: the passage must be found by the question, and the generator, asked
    from the sentence, must give the answer back. What fails is kept apart, with the reason.
    A run that was stopped goes on when it is called again. Exit code 1 where FILE stays empty.
    """
    from ragcli.train.questions.drafting import Wanted

    env = options.environment(ctx)
    config = configuration.load(env, ctx.params)
    wanted = Wanted(limit, per_passage, seed or 0)
    with _drafting(env, config, out, wanted) as (drafting, ledger):
        enough = _run(env, drafting, ledger, estimate_only)
        return _say(env, drafting.report(), enough, as_json)


@contextmanager
def _drafting(
    env: Environment, config: Config, out: Path, wanted: Wanted
) -> Iterator[tuple[Drafting, Ledger]]:
    """What is wrong with the file shows before anything is loaded."""
    from ragcli.train.questions.drafting import Drafting
    from ragcli.train.questions.ledger import Ledger

    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(out))
        if ledger.kept or ledger.dropped:
            env.note(
                f"going on: {len(ledger.kept)} pairs are there, {len(ledger.dropped)} drafts failed"
            )
        reader = stack.enter_context(engine.reader(config, env))
        _warn_of_itself(env, reader, out)
        generator = stack.enter_context(closing(engine.generator(config, env)))
        yield stack.enter_context(Drafting(reader, generator, ledger, wanted)), ledger


def _warn_of_itself(env: Environment, reader: Reader, out: Path) -> None:
    """Questions beside the documents would be found as documents by the next search for them."""
    from ragcli.paths import shown

    roots = reader.status().roots
    if any(out.resolve().is_relative_to(root) for root in roots):
        env.note(
            f"{shown(out)} lies among the indexed documents: put it elsewhere, or its name and that of"
            " the dropped ones into .ragcliignore, before `ragcli index` takes them in"
        )


def _run(env: Environment, drafting: Drafting, ledger: Ledger, estimate_only: bool) -> bool:
    """Whether it went through, not only so far as an estimate needs."""
    limit = drafting.wanted.limit
    with Bars(env).one("pairs", limit) as tick:
        for number, outcome in enumerate(drafting.run(), start=1):
            tick(len(ledger.kept))
            env.detail(f"{outcome.reason or 'kept'}: {outcome.question} | {outcome.answer}")
            if number == _TRIED:
                env.note(_estimate(drafting, ledger))
                if estimate_only:
                    return False
    return True


def _estimate(drafting: Drafting, ledger: Ledger) -> str:
    from ragcli.train.questions.drafting import share_kept

    pace = drafting.seconds / max(1, len(drafting.outcomes))
    share = share_kept(len(ledger.kept), len(ledger.dropped))
    left = max(0, drafting.wanted.limit - len(ledger.kept))
    return (
        f"a draft takes {pace:.1f} s, and about one in {1 / share:.0f} is kept:"
        f" {long(left / share * pace)} for {left} more pairs, if the documents give so many"
    )


def _say(env: Environment, report: dict[str, Any], whole: bool, as_json: bool) -> int:
    if as_json:
        env.json(report)
    else:
        show_drafts(env.printer(), report)
    if whole and report["exhausted"]:
        env.note(
            f"the documents gave {report['kept']} of {report['limit']} pairs; --per-passage"
            f" {report['per_passage'] + 1} asks more of each passage, and a larger model drops less"
        )
    return ExitCode.OK if report["kept"] else ExitCode.NOTHING
