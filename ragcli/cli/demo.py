"""`ragcli demo`: the whole way on bundled sample documents, from files to cited answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.cli.index import run, show_report
from ragcli.errors import ExitCode, Incomplete
from ragcli.paths import INDEX_DIR

if TYPE_CHECKING:
    from ragcli.cli.config import Config

_QUESTIONS = 2
_NOT_DOCUMENTS = {"__init__.py", "README.md", "questions.jsonl"}
_NEXT = """
Next, with your own documents:
  ragcli index FOLDER
  ragcli search "a few words"
  ragcli ask "a question"
The bundled model is small and shows how it works; `ragcli models` tells how to get a better one.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    ctx: typer.Context,
    model: options.Model = None,
    threads: options.Threads = None,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Index bundled sample documents in a temporary folder and ask two questions.

    Exit code 0 only if both are answered with citations.
    """
    env = options.environment(ctx)
    with sample_folder():
        config = configuration.load(env, {**ctx.params, "index": Path(INDEX_DIR)})
        env.line("Indexing sample documents of an invented island …")
        _index(env, config)
        cited = _ask(env, config, questions()[:_QUESTIONS])
    env.write(_NEXT)
    if cited < _QUESTIONS:
        raise Incomplete(f"{cited} of {_QUESTIONS} questions were answered with citations",
                         hint="`ragcli doctor` says what is wrong")  # fmt: skip
    return ExitCode.OK


@contextmanager
def sample_folder() -> Iterator[Path]:
    """A temporary working directory with the samples in it; gone afterwards."""
    import tempfile
    from importlib import resources

    with tempfile.TemporaryDirectory(prefix="ragcli-demo-") as name, chdir(name):
        folder = Path(name)
        for sample in resources.files("ragcli.samples").iterdir():
            if sample.is_file() and sample.name not in _NOT_DOCUMENTS:
                (folder / sample.name).write_bytes(sample.read_bytes())
        yield folder


def questions() -> list[str]:
    """The sample questions, those first that the bundled model answers well."""
    import json
    from importlib import resources

    text = resources.files("ragcli.samples").joinpath("questions.jsonl").read_text("utf-8")
    return [str(json.loads(line)["question"]) for line in text.splitlines() if line.strip()]


def _index(env: Environment, config: Config) -> None:
    from ragcli.index.update import update

    folder = Path(INDEX_DIR)
    events = update(
        folder, [Path()], encoder=engine.encoder(config, env), workers=engine.workers(config)
    )
    show_report(env, run(env, events, as_lines=False), folder, as_json=False)


def _ask(env: Environment, config: Config, asked: list[str]) -> int:
    """Ask and print; how many answers had a citation."""
    from ragcli.cli.asking import Manner, answered
    from ragcli.index.where import EVERYWHERE

    manner = Manner(engine.levels(config))
    cited = 0
    with engine.answering(config, env, where=EVERYWHERE) as put:
        for question in asked:
            env.line()
            env.printer().line((f'$ ragcli ask "{question}"', "heading"))
            env.flush()
            answer = answered(env, put, question, manner)
            cited += any(sentence.citations for sentence in answer.sentences)
    return cited
