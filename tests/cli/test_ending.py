import errno

import pytest
import typer

from ragcli import errors
from ragcli.cli import ending
from ragcli.errors import ExitCode


def everything(base=errors.RagcliError):
    yield base
    for sub in base.__subclasses__():
        yield from everything(sub)


@pytest.mark.parametrize("kind", list(everything()), ids=lambda kind: kind.__name__)
def test_every_error_has_its_code_and_a_document(kind):
    one = ending.ending_of(kind("it  broke\nbadly", hint="mend it"))
    assert (one.exit_code, one.code) == (kind.exit_code, kind.code)
    assert one.lines() == ["ragcli: it broke badly", "        mend it"]
    assert one.document()["message"] == "it broke badly"
    assert isinstance(one.exit_code, ExitCode)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (typer.Abort(), 130, "interrupted"),
        (typer.Exit(3), 3, ""),
        (SystemExit(4), 4, ""),
        (SystemExit(None), 0, ""),
        (SystemExit("text"), 1, ""),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
        (MemoryError(), 70, "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "/d/x"), 70, "No space left on device: /d/x"),
        (PermissionError(errno.EACCES, "Permission denied", b"/d/\xe9"), 70, "Permission denied: /d/\\xe9"),
        (typer.BadParameter("no such colour"), 2, "Invalid value: no such colour"),
    ],
    ids=repr,
)  # fmt: skip
def test_other_exceptions(error, code, said):
    one = ending.ending_of(error)
    assert (one.exit_code, one.message, one.unexpected) == (code, said, False)


def from_interrupt(error, *, chained=True):
    """`error`, as a C module or a handler makes it of Ctrl-C."""
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise error from (cause if chained else None)
    except type(error) as raised:
        return raised


@pytest.mark.parametrize("chained", [True, False])
@pytest.mark.parametrize(
    "error", [ImportError("initialization failed"), errors.ModelError("cannot load"), OSError("x")]
)
def test_what_an_interrupt_became_is_an_interruption(error, chained):
    one = ending.ending_of(from_interrupt(error, chained=chained))
    assert (one.exit_code, one.message, one.unexpected) == (130, "interrupted", False)


def test_a_circle_of_causes_ends():
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert ending.ending_of(first).exit_code == ExitCode.INTERNAL


@pytest.mark.parametrize("error", [RuntimeError("boo"), OSError("odd"), OSError(errno.EIO, "I/O")])
def test_unknown_exceptions_are_internal_errors(error):
    one = ending.ending_of(error)
    assert one.exit_code == ExitCode.INTERNAL
    assert one.unexpected
    assert "report this" in one.hint
