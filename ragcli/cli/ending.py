"""How an exception ends the process: an exit code, a line, a hint, a document."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Any

import typer

from ragcli import __version__
from ragcli.errors import ExitCode, RagcliError

REPORT = "please report this with the traceback that -v shows and the output of `ragcli doctor`"
# What a shell reports of a program whose reader went away, grep included: 128 + SIGPIPE.
CLOSED_PIPE = 141
_SYSTEM_HINTS = {
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.EROFS: "the file system is read-only; --index DIR puts the index elsewhere",
    errno.ENOSPC: "free some space on the disk",
    errno.EDQUOT: "free some space on the disk",
    errno.EMFILE: "raise the limit of open files: ulimit -n 4096",
}
# Click's base class for what is wrong with a command line, wherever typer keeps it.
_ClickError: type[Any] = typer.BadParameter.__mro__[2]


@dataclass(frozen=True, slots=True)
class Ending:
    """`message` is empty where the ending needs no words."""

    exit_code: int
    code: str = ""
    message: str = ""
    hint: str = ""
    unexpected: bool = False

    def lines(self) -> list[str]:
        """For stderr: what happened, and what to do."""
        lines = [f"ragcli: {_one_line(self.message)}"]
        return [*lines, f"        {self.hint}"] if self.hint else lines

    def document(self) -> dict[str, Any]:
        """`ragcli/error@1`."""
        from ragcli.render.json import error_document

        return error_document(self.code, self.exit_code, _one_line(self.message), self.hint)


def ending_of(error: BaseException) -> Ending:
    """The ending of any exception; unknown ones are internal errors."""
    if _interrupted(error):
        return Ending(ExitCode.INTERRUPTED, "interrupted", "interrupted")
    if isinstance(error, RagcliError):
        return Ending(error.exit_code, error.code, error.message, error.hint)
    if isinstance(error, typer.Exit):
        return Ending(error.exit_code)
    if isinstance(error, SystemExit):
        return Ending(error.code if isinstance(error.code, int) else int(bool(error.code)))
    if isinstance(error, typer.Abort):
        return Ending(ExitCode.INTERRUPTED, "interrupted", "interrupted")
    if isinstance(error, BrokenPipeError):
        return Ending(CLOSED_PIPE)
    if isinstance(error, _ClickError):
        return _usage(error)
    if isinstance(error, MemoryError):
        return Ending(ExitCode.INTERNAL, "memory", "out of memory",
                      "a smaller model, --ctx or --threads needs less")  # fmt: skip
    if isinstance(error, OSError) and error.strerror:
        return _system(error)
    name = type(error).__name__
    return Ending(
        ExitCode.INTERNAL,
        "internal",
        f"internal error in ragcli {__version__}: {name}: {error}",
        REPORT,
        unexpected=True,
    )


def _interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind it: a C module that it stops from loading says ImportError."""
    seen: set[int] = set()
    found: list[BaseException | None] = [error]
    while found:
        one = found.pop()
        if isinstance(one, KeyboardInterrupt):
            return True
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            found += [one.__cause__, one.__context__]
    return False


def _usage(error: Any) -> Ending:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "ragcli"
    hint = f"see {path} --help"
    option = str(getattr(error, "option_name", ""))
    if option and path.split()[-1] in {"search", "ask"}:
        hint = f"if this is what to look for: {path} -- {option}"
    return Ending(ExitCode.USAGE, "usage", error.format_message(), hint)


def _system(error: OSError) -> Ending:
    """The system said no: no disk space, no permission."""
    from ragcli.paths import shown

    name = error.filename
    named = f": {shown(os.fsdecode(name))}" if isinstance(name, (str, bytes)) else ""
    hint = _SYSTEM_HINTS.get(error.errno or 0, "")
    expected = bool(hint)
    return Ending(
        ExitCode.INTERNAL, "system", f"{error.strerror}{named}", hint or REPORT, not expected
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
