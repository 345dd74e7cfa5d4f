"""Runs command lines: in this process with streams that are strings, or as a process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from ragcli.cli.app import run
from ragcli.cli.environment import Environment
from ragcli.schemas import load


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self, schema: str) -> Any:
        """The one document on stdout, valid for its schema."""
        document = json.loads(self.out)
        jsonschema.Draft202012Validator(load(schema)).validate(document)
        assert document["schema"] == f"ragcli/{schema}"
        return document


def invoke(
    *argv: str, stdin: str = "", terminal: bool = False, environ: Mapping[str, str] | None = None
) -> Result:
    """A command line in this process. terminal: stdout and stderr are terminals."""
    out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
    variables = {**os.environ, **(environ or {})}
    code = run(argv, Environment(io.StringIO(stdin), out, err, variables))
    return Result(code, out.getvalue(), err.getvalue())


def process(
    argv: Sequence[str | bytes],
    *,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    before: str = "",
) -> Result:
    """A command line as a process of its own. before: Python that runs first."""
    start = [sys.executable, "-m", "ragcli"]
    if before:
        start = [sys.executable, "-c", f"{before}\nfrom ragcli.__main__ import main\nmain()"]
    done = subprocess.run(
        [*start, *argv], cwd=cwd, env={**os.environ, **(environ or {})}, input=stdin,
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
