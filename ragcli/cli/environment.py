"""stdin, stdout, stderr, their terminals and the environment, in one object that tests replace."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TextIO

from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.render.terminal import Printer


class Color(StrEnum):
    """When to colour: `auto` follows the terminal and NO_COLOR."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class OutputError(UsageError):
    """Standard output cannot be written (a full disk)."""

    code = "output"


@dataclass(slots=True)
class Environment:
    """What a command sees of the outside world.

    stdout carries data only: nothing but commands' output is ever written to it,
    because descriptor 1 itself points at stderr while ragcli runs (see `open`).
    """

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    environ: Mapping[str, str] = field(default_factory=dict)
    color: Color = Color.AUTO
    quiet: bool = False
    verbose: int = 0
    saved_stdout: int | None = None  # the descriptor that `open` took from fd 1

    @classmethod
    def open(cls) -> Environment:
        """The process's own streams, UTF-8 whatever the locale.

        Descriptors 0-2 are opened where the caller closed them, so that no file or
        database ever lands on one. Data goes to a private copy of descriptor 1, which
        then becomes a second stderr: what a library prints cannot mix with data.
        """
        for descriptor in range(3):
            try:
                os.fstat(descriptor)
            except OSError:
                os.open(os.devnull, os.O_RDWR)
        saved = os.dup(1)
        os.dup2(2, 1)
        return cls(
            stdin=io.TextIOWrapper(
                io.FileIO(0, closefd=False), encoding="utf-8-sig", errors="replace"
            ),
            stdout=_writer(saved, _Data),
            stderr=_writer(2),
            environ=os.environ,
            saved_stdout=saved,
        )

    def close(self) -> None:
        """Write out what is left and give descriptor 1 back.

        Raises OSError (BrokenPipeError) where the last bytes cannot be written.
        """
        try:
            self.flush()
        finally:
            if self.saved_stdout is not None:
                os.dup2(self.saved_stdout, 1)

    def write(self, text: str) -> None:
        """Data, as it is."""
        self.stdout.write(text)

    def line(self, text: str = "") -> None:
        """One line of data."""
        self.stdout.write(text + "\n")

    def json(self, document: Mapping[str, Any]) -> None:
        """One JSON document, or one line of JSON Lines: valid UTF-8, flushed at once."""
        from ragcli.render.json import dumps

        self.stdout.write(dumps(document) + "\n")
        self.flush()

    def flush(self) -> None:
        """Hand all data to the system. Raises BrokenPipeError, OutputError."""
        try:
            self.stdout.flush()
        except OSError as error:
            raise _unwritten(error) from None

    def printer(self) -> Printer:
        """Prints lines for people on stdout."""
        from ragcli.render.terminal import Printer

        return Printer(self.stdout, self.styled, self.colorless, self.width, self.height)

    def note(self, text: str) -> None:
        """A remark for people, on stderr; not under --quiet."""
        if not self.quiet:
            self.complain(text)

    def detail(self, text: str) -> None:
        """A remark that only -v asks for, on stderr."""
        if self.verbose:
            self.complain(text)

    def complain(self, text: str) -> None:
        """A line on stderr; where that is closed there is nobody to tell."""
        from ragcli.text.normalise import safe_for_terminal

        with suppress(OSError, ValueError):
            self.stderr.write(safe_for_terminal(text) + "\n")
            self.stderr.flush()

    @property
    def terminal(self) -> bool:
        """Is stdout a terminal?"""
        return self.stdout.isatty()

    @property
    def progress(self) -> bool:
        """May progress be drawn on stderr?"""
        return self.stderr.isatty() and not self.quiet and not self.dumb

    @property
    def dumb(self) -> bool:
        """A terminal without cursor movement."""
        return self.environ.get("TERM", "") in {"dumb", "unknown"}

    @property
    def styled(self) -> bool:
        """May data carry terminal styles (colours unless `colorless`)?"""
        if self.color is Color.AUTO:
            return self.terminal and not self.dumb
        return self.color is Color.ALWAYS or (self.terminal and not self.dumb)

    @property
    def colorless(self) -> bool:
        """Styles without colours: underline and bold stay."""
        if self.color is Color.AUTO:
            return bool(self.environ.get("NO_COLOR"))
        return self.color is Color.NEVER

    @property
    def width(self) -> int:
        """Columns of the terminal; pipes are never cut, this is for wrapping only."""
        return max(20, shutil.get_terminal_size((80, 24)).columns)

    @property
    def height(self) -> int:
        return max(4, shutil.get_terminal_size((80, 24)).lines)


class _Data(io.FileIO):
    """Standard output, whoever writes to it and whenever the buffer is full."""

    def write(self, data: Any) -> Any:
        """Raises BrokenPipeError, OutputError."""
        try:
            return super().write(data)
        except OSError as error:
            raise _unwritten(error) from None


def _unwritten(error: OSError) -> OSError | OutputError:
    """A reader that went away is no fault; anything else is."""
    if isinstance(error, BrokenPipeError):
        return error
    return OutputError(f"cannot write to standard output: {error.strerror}")


def _writer(descriptor: int, kind: type[io.FileIO] = io.FileIO) -> TextIO:
    """Lines appear at once on a terminal; in a pipe they are buffered."""
    raw = kind(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8",
        errors="replace",
        newline="\n",
        line_buffering=raw.isatty() or descriptor == 2,
    )
