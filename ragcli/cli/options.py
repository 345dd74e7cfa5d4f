"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragcli.cli.environment import Color, Environment
from ragcli.errors import UsageError

IndexDir = Annotated[
    Path | None,
    typer.Option("--index", metavar="DIR", help="Index folder (default: .ragcli here or above)."),
]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, max=1024, help="CPU threads.")
]
Ctx = Annotated[
    int | None,
    typer.Option("--ctx", metavar="N", min=256, max=10_000_000, help="Context size in tokens."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", metavar="N", min=1, max=1_000_000, help="Longest answer."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Seed of random choices."),
]
GpuLayers = Annotated[
    int | None,
    typer.Option(
        "--gpu-layers", metavar="N", min=-1, max=100_000, help="Layers on the GPU; -1 for all."
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="PATH|NAME", help="Generator (a GGUF file or its name)."),
]
Adapter = Annotated[
    Path | None,
    typer.Option("--adapter", metavar="FILE", help="LoRA (GGUF) for drag.analyzer=adapter."),
]
Organizer = Annotated[
    Path | None,
    typer.Option(
        "--organizer",
        metavar="DIR",
        help="Organizer of ko-rag, a folder (default: the bundled one).",
    ),
]
Encoder = Annotated[
    str | None, typer.Option("--encoder", metavar="PATH|NAME", help="Encoder of the vectors.")
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--encoder-precision", metavar="P", help="exact, or int8: faster, finds nearly the same."
    ),
]
Corpora = Annotated[
    list[Path] | None,
    typer.Option("--corpus", metavar="FILE", help="Texts to search; may be repeated."),
]
_LIMIT = "Questions, in an order that is fixed."
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help=_LIMIT)]
LimitOfParts = Annotated[  # where questions are divided: a part needs one at least
    int | None, typer.Option("--limit", metavar="N", min=2, help=_LIMIT)
]
Budget = Annotated[
    float | None,
    typer.Option("--budget-minutes", metavar="M", min=0, help="Stop after so long."),
]
Globs = Annotated[
    list[str] | None,
    typer.Option("--in", metavar="GLOB", help="Only files that match; may be repeated."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", metavar="T", help="Only files of this type (pdf, markdown, …)."),
]


def _one_form(ctx: typer.Context, value: bool) -> bool:
    """Raises UsageError where --json and --jsonl are both given: one document, or lines of them."""
    params = ctx.params  # holds what was read so far: the second of the two finds the first
    if value and (params.get("as_json") or params.get("as_lines")):
        raise UsageError(
            "--json and --jsonl are two forms of the same output", hint="leave out one"
        )
    return value


Json = Annotated[bool, typer.Option("--json", callback=_one_form, help="Print one JSON document.")]
Jsonl = Annotated[
    bool,
    typer.Option(
        "--jsonl", callback=_one_form, help="Print one JSON object a line, as it happens."
    ),
]


def _color(ctx: typer.Context, value: Color | None) -> Color | None:
    if value is not None:
        _environment(ctx).color = value
    return value


def _quiet(ctx: typer.Context, value: bool) -> bool:
    _environment(ctx).quiet = value
    return value


def _verbose(ctx: typer.Context, value: int) -> int:
    _environment(ctx).verbose = value
    return value


ColorOption = Annotated[
    Color | None,
    typer.Option("--color", callback=_color, help="When to colour (default: auto)."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_quiet, help="No remarks, no progress.")
]
Silent = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_quiet, help="Print nothing; the exit code tells."),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        callback=_verbose,
        show_default=False,
        help="Say more on stderr.",
    ),
]


def _environment(ctx: typer.Context) -> Environment:
    env = ctx.find_root().obj
    # A shell that asks for completions parses without a run.
    return env if isinstance(env, Environment) else _nowhere()


def _nowhere() -> Environment:
    import sys

    return Environment(sys.stdin, sys.stdout, sys.stderr)


def environment(ctx: typer.Context) -> Environment:
    """The environment of this run."""
    return _environment(ctx)


def asks_json(ctx: typer.Context, as_json: bool) -> bool:
    """`--json` may stand before or behind the name of a subcommand."""
    outer = ctx.parent.params if ctx.parent else {}
    return as_json or bool(outer.get("as_json"))
