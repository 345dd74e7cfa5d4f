"""The error tree. Each class carries an exit code, a machine code and a hint.

    RagcliError                 70  internal
      UsageError                 2  usage
      IndexMissing               3  no-index
      IndexUnusable              3  bad-index      damaged, foreign, other schema or encoder
      IndexLocked                3  index-locked   another process is writing
      ModelError                 4  model          missing, unreadable, unsupported
        ContextFull           4  model          prompt and answer are longer than the context
      NothingFound               1  nothing-found
      Incomplete                 5  incomplete     some files failed
      Unsupported                6  unsupported    --strict, or verify failed
      SourceError                5  source         one file could not be read (caught per file)
      Interrupted              130  interrupted

Foreign exceptions are translated where the foreign library is called; the CLI
prints one line and the hint, and exits with the code.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    NOTHING = 1
    USAGE = 2
    INDEX = 3
    MODEL = 4
    PARTIAL = 5
    UNSUPPORTED = 6
    INTERNAL = 70
    INTERRUPTED = 130


class RagcliError(Exception):
    """Base of everything ragcli raises on purpose."""

    exit_code: ExitCode = ExitCode.INTERNAL
    code: str = "internal"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(RagcliError):
    """The command line, a parameter or a configuration file is wrong."""

    exit_code, code = ExitCode.USAGE, "usage"


class IndexMissing(RagcliError):
    """There is no index here or above."""

    exit_code, code = ExitCode.INDEX, "no-index"


class IndexUnusable(RagcliError):
    """The index is damaged, foreign, or of another schema or encoder."""

    exit_code, code = ExitCode.INDEX, "bad-index"


class IndexLocked(RagcliError):
    """Another process holds the writer's lock."""

    exit_code, code = ExitCode.INDEX, "index-locked"


class ModelError(RagcliError):
    """A generator or encoder is missing, unreadable or unsupported."""

    exit_code, code = ExitCode.MODEL, "model"


class ContextFull(ModelError):
    """Prompt and answer do not fit the model's context."""


class NothingFound(RagcliError):
    """A search or a question has no result; not a failure."""

    exit_code, code = ExitCode.NOTHING, "nothing-found"


class Incomplete(RagcliError):
    """Work was done, but some files failed."""

    exit_code, code = ExitCode.PARTIAL, "incomplete"


class Unsupported(RagcliError):
    """An answer has a sentence without support (--strict), or verification failed."""

    exit_code, code = ExitCode.UNSUPPORTED, "unsupported"


class SourceError(RagcliError):
    """One file cannot be read. `message` is the reason, one line, without the path."""

    exit_code, code = ExitCode.PARTIAL, "source"


class Interrupted(RagcliError):
    """The user pressed Ctrl-C."""

    exit_code, code = ExitCode.INTERRUPTED, "interrupted"
