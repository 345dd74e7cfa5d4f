"""`ragcli verify`: does a saved answer still stand against its sources?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, UsageError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.cite.recorded import Recorded
    from ragcli.cite.verify import Verifier
    from ragcli.cli.config import Config
    from ragcli.llm.base import Generator

MOST = 256 << 20  # bytes of saved answers that are read
_VERBATIM = "none:"  # how the verifier of answers begins that are source sentences themselves


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


def verify(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER", help="What `ask --json` or `--jsonl` printed; - reads stdin."
        ),
    ],
    root: Annotated[
        list[Path] | None,
        typer.Option(
            "--root", metavar="DIR", help="Where the documents lie here; may be repeated."
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            "--verifier", metavar="V", help="lexical, llm or nli:PATH (default: the answer's own)."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Sentences that never were supported count too.")
    ] = False,
    model: options.Model = None,
    index: options.IndexDir = None,
    threads: options.Threads = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Silent = False,
) -> int:
    """Check a saved answer against its documents as they are now.

    Each citation is fresh, moved, changed or missing, and each sentence is judged again.
    Exit code 6 if a citation is changed or missing, or a sentence is less supported than it
    was. Needs the documents, not the index.
    """
    from ragcli.cite.recheck import Checker
    from ragcli.cite.recorded import read_answers
    from ragcli.render.verification import (
        Verification,
        print_verification,
        verification_document,
    )
    from ragcli.text.language import detect

    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "verifier": None})
    if verifier is not None:
        from ragcli.cite.verify import check_verifier

        check_verifier(verifier)
    roots = [folder(one) for one in root or ()]
    answers = read_answers(saved(env, file), "stdin" if file == "-" else shown(file))
    warnings: list[str] = []
    checker = Checker(
        verifier=Judges(config, env, verifier, warnings.append).of,
        roots=roots,
        index_dir=_index(config),
        workers=engine.workers(config),
        warn=warnings.append,
        language=lambda question: detect(question) or "en",
    )
    result = Verification(checker.check(answers), strict, tuple(dict.fromkeys(warnings)))
    if as_json:
        env.json(verification_document(result, file))
    elif not quiet:
        print_verification(env.printer(), result)
    for warning in result.warnings:
        env.note(warning)
    return ExitCode.OK if result.holds else ExitCode.UNSUPPORTED


def saved(env: Environment, file: str) -> str:
    """The text of the file, or of stdin for "-". Raises UsageError."""
    if file == "-":
        text = env.stdin.read(MOST + 1)
        if len(text) > MOST:
            raise UsageError(f"stdin holds more than {MOST >> 20} MiB")
        return text
    name = shown(file)
    try:
        with Path(file).open("rb") as stream:
            data = stream.read(MOST + 1)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", "") or "not a path").lower()
        raise UsageError(f"cannot read {name}: {why}") from None
    if len(data) > MOST:
        raise UsageError(f"{name} is larger than {MOST >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(
            f"{name} is no answer of ragcli: it is not UTF-8",
            hint="some shells save in UTF-16; `ragcli ask --json` prints UTF-8",
        ) from None


def folder(path: Path) -> Path:
    """A folder for --root. Raises UsageError."""
    try:
        if path.is_dir():
            return path.absolute()
    except ValueError:
        pass
    raise UsageError(f"no such folder: {shown(path)}", hint="--root names a folder")


def _index(config: Config) -> Path | None:
    """An index that may know where files went; there need not be one."""
    from ragcli.index.location import find_index

    if config["index"] is not None:
        return engine.index_dir(config)
    return find_index(Path.cwd())


class Judges:
    """Opens the verifier of each answer, each once; the generator only for `llm`."""

    def __init__(
        self, config: Config, env: Environment, chosen: str | None, warn: Callable[[str], None]
    ) -> None:
        self._config, self._env, self._chosen, self._warn = config, env, chosen, warn
        self._opened: dict[tuple[str, str], Verifier] = {}
        self._generator: Generator | None = None

    def of(self, answer: Recorded) -> Verifier:
        """Raises UsageError, ModelError."""
        from ragcli.cite.verify import open_verifier

        spec = self._chosen or self._recorded(answer)
        generator = self._model(answer) if spec == "llm" else None
        key = (spec, answer.language)
        if key not in self._opened:
            self._opened[key] = open_verifier(spec, generator, answer.language or "en")
        return self._opened[key]

    def _recorded(self, answer: Recorded) -> str:
        """The verifier that the answer names; one that loads files only from the user's own words."""
        from ragcli.cite.verify import NLI

        name = answer.verifier
        if name in ("", "lexical") or name.startswith(_VERBATIM):
            return "lexical"
        if name == "llm" or name.startswith("llm:"):
            return "llm"
        configured: Any = self._config["verifier"]
        if name.startswith(NLI) and str(configured).startswith(NLI):
            return str(configured)
        raise UsageError(
            f"the answer was judged by {name[:80]!r}, which must be named again",
            hint="--verifier nli:PATH, or --verifier lexical for another judge",
        )

    def _model(self, answer: Recorded) -> Generator:
        if self._generator is None:
            self._generator = engine.generator(self._config, self._env)
        own = self._generator.identity
        if answer.model_sha256 and answer.model_sha256 != own.sha256:
            self._warn(f"judged by {own.name}, which is not the model that wrote the answer")
        return self._generator
