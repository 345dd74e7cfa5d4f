"""`ragcli models`: which models there are, choosing one, fetching more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import options, userfile
from ragcli.cli.environment import Environment
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.llm.discover import ModelRef

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A name from `ragcli models`, its beginning, or a path."),
]


def register(app: typer.Typer) -> None:
    """Add the commands; `list` runs where none is named."""
    group = type(app)(rich_markup_mode=None, help="List, choose and fetch models.")
    group.callback(invoke_without_command=True)(models)
    group.command("list")(list_models)
    group.command("use")(use)
    group.command("pull")(pull)
    group.command("info")(info)
    app.add_typer(group, name="models")


def models(
    ctx: typer.Context,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> None:
    """List, choose and fetch models."""
    if ctx.invoked_subcommand is None:
        list_models(ctx, as_json=as_json)


def list_models(
    ctx: typer.Context,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """List generators and encoders on this machine; * marks the ones in use."""
    from ragcli.cli import inventory
    from ragcli.render.models import model_document, print_models

    env = options.environment(ctx)
    config = configuration.load(env)
    found = inventory.everything(config)
    rows = [model_document(ref, current=current) for ref, current in found]
    if options.asks_json(ctx, as_json):
        env.json({"schema": "ragcli/models@1", "models": rows})
        return 0
    print_models(env.printer(), rows)
    for problem in inventory.problems(config, found):
        env.note(problem)
    return 0


def info(
    ctx: typer.Context,
    name: Name,
    as_json: options.Json = False,
    color: options.ColorOption = None,
) -> int:
    """Show what a model says about itself. Nothing is loaded."""
    from ragcli.cli import inventory
    from ragcli.render.models import model_document, print_model

    env = options.environment(ctx)
    config = configuration.load(env)
    ref, current = inventory.one(name, config)
    row = model_document(ref, current=current, whole=True)
    if options.asks_json(ctx, as_json):
        env.json({"schema": "ragcli/models@1", "models": [row]})
    else:
        print_model(env.printer(), row)
    return 0


def use(ctx: typer.Context, name: Name, quiet: options.Quiet = False) -> int:
    """Make a model the one that is used: written to the user's configuration."""
    from ragcli.cli import inventory

    env = options.environment(ctx)
    ref, _ = inventory.one(name, configuration.load(env))
    key = "encoder" if ref.kind == "encoder" else "model"
    if key == "model":
        from ragcli.llm.gguf import read_info

        read_info(ref.path)  # a file that cannot be a generator is not made the one in use
    file = userfile.write(key, inventory.setting(ref))
    env.note(f"{key} {shown(ref.name)} set in {shown(file)}")
    if key == "encoder":
        env.note("an index made with another encoder must be made anew: ragcli index --rebuild")
    return 0


def pull(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="OWNER/NAME[:FILE]|PATH", help="A repository of the hub, or a GGUF file here.")
    ],
    file: Annotated[str, typer.Option("--file", metavar="F", help="Which GGUF, or a part of its name.")] = "",
    sha256: Annotated[str, typer.Option("--sha256", metavar="H", help="Refuse any other file.")] = "",
    revision: Annotated[str | None, typer.Option("--revision", metavar="R", help="Branch, tag or commit.")] = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Fetch a model from the Hugging Face hub, or take in a GGUF file.

    The only command that uses the network. A second run continues a broken download.
    """
    from ragcli.llm import pull as pulling
    from ragcli.render.models import model_document

    env = options.environment(ctx)
    if pulling.is_local(source):
        ref = pulling.adopt(Path(source), sha256=sha256)
    else:
        wanted = pulling.plan(source, file=file, sha256=sha256, revision=revision)
        ref = _fetch(env, wanted)
    if options.asks_json(ctx, as_json):
        row = model_document(ref, current=False, whole=True)
        env.json({"schema": "ragcli/models@1", "models": [row]})
    else:
        env.line(shown(ref.path))
    env.note(f"use it with: ragcli models use {shown(ref.name)}")
    return 0


def _fetch(env: Environment, wanted: Any) -> ModelRef:
    """Download, with a bar on stderr where that is a terminal."""
    from ragcli.llm import pull as pulling
    from ragcli.render.models import download_bar

    if not env.progress:
        return pulling.fetch(wanted, lambda here, total: None)
    with download_bar(env.stderr, wanted.name, env.width) as advance:
        return pulling.fetch(wanted, advance)
