"""What a terminal shows while the generator works inside a stage, and that a pipe sees none of it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .harness import process

QUESTION = "Who was the first keeper of the Sandholm light?"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STEPS = {
    "fke": (
        ["--method", "fke", "--set", "fke.extractor=generator"],
        ("extracting sentences …",),
    ),
    "drag": (
        ["--method", "drag", "--set", "drag.analyzer=generator"],
        ("taking the question apart …", "scoring passages …"),
    ),
    "ggatrieval": (
        ["--method", "ggatrieval", "--set", "ggatrieval.backend=generator ggatrieval.yes=1"
         " ggatrieval.iterations=2 ggatrieval.tau=1"],
        ("taking the question apart …", "round 1 of at most 2: aligning passages …",
         "judging passages …", "verifying what is kept …", "round 2 of at most 2: augmenting"),
    ),
    "crag": (
        ["--method", "crag", "--set", "crag.evaluator=generator"],
        ("judging passages …",),
    ),
    "verifier": (["--verifier", "llm"], ("checking citations …",)),
}  # fmt: skip


def on_terminal(argv: list[str], cwd: Path, *, stdout: bool = True) -> tuple[int, str, str]:
    """Exit code, what the terminal got, what a pipe got (stdout False: only stderr is one)."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "ragcli", *argv, "--threads", "1"],
        cwd=cwd,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout else subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = bytearray()
    end = time.monotonic() + 300
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 1)
        try:
            got = os.read(ours, 65536) if ready else b""
        except OSError:  # Linux says so when the other side is closed
            break
        shown += got
        if not got and running.poll() is not None:
            break
    piped = running.stdout.read() if running.stdout is not None else b""
    code = running.wait(timeout=60)
    os.close(ours)
    if running.stdout is not None:
        running.stdout.close()
    return code, ESCAPES.sub("", shown.decode("utf-8", "replace")), piped.decode()


@pytest.mark.model
@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_asks_the_generator_says_so(notes: Path, name: str) -> None:
    flags, stages = STEPS[name]
    argv = ["ask", *flags, "--force", "--max-tokens", "8", QUESTION]
    code, shown, _ = on_terminal(argv, notes)
    assert code in (0, 1), shown
    for stage in stages:
        assert stage in shown, shown


@pytest.mark.model
def test_how_far_a_step_is_is_counted(notes: Path) -> None:
    flags, _ = STEPS["fke"]
    _, shown, _ = on_terminal(["ask", *flags, "--max-tokens", "8", QUESTION], notes)
    found = [
        (int(a), int(b)) for a, b in re.findall(r"extracting sentences … (\d+) of (\d+)", shown)
    ]
    assert found
    assert all(done < total for done, total in found)


@pytest.mark.model
def test_stdout_in_a_pipe_stays_data_while_stderr_shows_the_stage(notes: Path) -> None:
    flags, stages = STEPS["fke"]
    argv = ["ask", *flags, "--json", "--max-tokens", "8", QUESTION]
    code, shown, piped = on_terminal(argv, notes, stdout=False)
    assert code == 0, shown
    assert json.loads(piped)["schema"] == "ragcli/answer@1"
    assert stages[0] in shown
    quiet, shown, _ = on_terminal([*argv, "-q"], notes, stdout=False)
    assert (quiet, shown) == (0, "")


@pytest.mark.model
@pytest.mark.parametrize("name", ["fke", "ggatrieval"])
def test_a_pipe_sees_no_progress(notes: Path, name: str) -> None:
    flags, stages = STEPS[name]
    argv = ["ask", *flags, "--force", "--max-tokens", "8", "--threads", "1", QUESTION]
    done = process(argv, cwd=notes)
    assert done.code in (0, 1), done.err
    assert "\x1b" not in done.out + done.err
    assert all(stage not in done.out + done.err for stage in [*stages, "searching", "writing …"])
