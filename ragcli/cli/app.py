"""The command line as a whole: which commands there are, and how the process ends.

Nothing heavy is imported here or by a command's module: `ragcli --help` must be quick,
so command bodies import what they use.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ragcli import __version__
from ragcli.cli import (
    ask,
    completions,
    config_command,
    demo,
    doctor,
    forget,
    index,
    methods,
    models,
    search,
    show,
    status,
    verify,
)
from ragcli.cli.arguments import arrange, wants_json
from ragcli.cli.ending import Ending, ending_of
from ragcli.cli.environment import Environment, OutputError
from ragcli.cli.evaluation import app as evaluation
from ragcli.cli.training import app as training

PROG = "ragcli"
_COMPLETE = "_RAGCLI_COMPLETE"
_PYTHON_TYPE = re.compile(r"(?<=[A-Z]) <(?:list\[str\]|str|path)>")


class DataCommand(TyperCommand):
    """A command during which Python's own stdout is stderr: `print` in a library is no data."""

    def invoke(self, ctx: Any) -> Any:
        with redirect_stdout(ctx.obj.stderr):
            return super().invoke(ctx)

    def get_help(self, ctx: Any) -> str:
        """The help text without Python's names of types behind arguments."""
        return _PYTHON_TYPE.sub("", super().get_help(ctx))


class App(typer.Typer):
    """A Typer whose commands are `DataCommand`s."""

    def command(self, name: str | None = None, **options: Any) -> Any:
        options.setdefault("cls", DataCommand)
        return super().command(name, **options)


def _version(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.find_root().obj.line(f"{PROG} {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The app with every command, in the order of the help text."""
    app = App(
        name=PROG,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
        ] = False,
    ) -> None:
        """Answers from your own documents, offline, every sentence cited.

        Start with `ragcli index FOLDER`, then `ragcli ask "a question"`.
        """

    for module in (index, search, ask, verify, show, status, forget, methods, models, evaluation,
                   training, config_command, doctor, completions, demo):  # fmt: skip
        module.register(app)
    return app


def run(argv: Sequence[str], environment: Environment | None = None) -> int:
    """Run one command line and return the exit code.

    The only place where an exception ends the process: every one becomes a line and a
    hint on stderr, or under --json a `ragcli/error@1` document on stdout.
    """
    env = environment or Environment.open()
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _dispatch(list(argv), env)
        env.close()
    except BaseException as error:  # noqa: BLE001  # the process ends here, quietly and with a code
        code = _end(ending_of(error), argv, env, error)
    return code


def _dispatch(argv: list[str], env: Environment) -> int:
    command = typer.main.get_command(build())
    with redirect_stdout(env.stdout):  # help goes to stdout; see DataCommand
        if _COMPLETE in env.environ:
            return _complete(command)
        arguments = arrange(argv) or ["--help"]
        try:
            with command.make_context(PROG, arguments, obj=env) as ctx:
                return int(command.invoke(ctx) or 0)
        except typer.Exit as done:  # --help, --version
            return int(done.exit_code)


def _complete(command: Any) -> int:
    """Answer a shell that asks how to go on."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
    try:
        command.main(args=[], prog_name=PROG, complete_var=_COMPLETE, standalone_mode=False)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _end(ending: Ending, argv: Sequence[str], env: Environment, error: BaseException) -> int:
    """Say how it ended, where there is something to say, and leave the streams closed."""
    if ending.message:
        if wants_json(argv):
            with suppress(OSError, ValueError, OutputError):
                env.json(ending.document())
        for line in ending.lines():
            env.complain(line)
    if ending.unexpected and (env.verbose or env.environ.get("RAGCLI_DEBUG")):
        import traceback

        env.complain("".join(traceback.format_exception(error)).rstrip())
    with suppress(OSError, ValueError, OutputError):
        env.close()
    return ending.exit_code
