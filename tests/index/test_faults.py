"""Whatever kills a writer, fills the disk or breaks it: the last commit is there, whole.

A fault happens at a call that changes the index's folder: a shim (faults.c) counts them in the
process itself, SQLite's and tantivy's too. After each fault a reader must find the last
committed state, the next run must go through by itself, and what it leaves must equal a clean
build, hit for hit. A sample of the instants is tested; RAGCLI_ALL_FAULTS=1 takes them all.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcli.index import dense_write

from .faulty import in_small_steps
from .forking import Server
from .scene import Scene

EVERY = bool(os.environ.get("RAGCLI_ALL_FAULTS"))
SAMPLE = 9  # faults of one kind in one scenario
RARE = ("rename", "unlink", "fsync", "link", "mkdir", "rmdir", "ftruncate", "create")


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Extractor", "BATCH_PASSAGES", "COMMIT_EVERY_S", "COMMIT_SHARE"):
        monkeypatch.setattr(f"ragcli.index.run.{name}", None)  # set back after the test
    monkeypatch.setattr(dense_write, "TIERS", dense_write.TIERS)
    in_small_steps()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: hundreds of flushed commits take long on a disk."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def shimmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler: the shim that counts system calls is in C")
    shim = tmp_path_factory.mktemp("shim") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode:
        pytest.skip(f"the shim does not compile here: {built.stderr[:200]}")
    server = Server(shim)
    yield server
    server.close()


@pytest.fixture(scope="module")
def plain() -> Iterator[Server]:
    server = Server(None)
    yield server
    server.close()


def calls(server: Server, scene: Scene) -> list[str]:
    """The names of all calls of the action that change the index's folder, in order."""
    scene.clean()
    status, told = server.ask(scene, mode="count")
    assert (status, told[-1]) == (0, "done")
    return [line for line in told if not line.startswith(("committed", "done"))]


def chosen(names: list[str], seed: int) -> list[int]:
    """Numbers (from 1) of the calls to fail: all, or some of each name, the rare ones first."""
    everything = range(1, len(names) + 1)
    if EVERY:
        return list(everything)
    draw = random.Random(seed)
    rare = [n for n in everything if names[n - 1] in RARE]
    common = [n for n in everything if names[n - 1] not in RARE]
    picked = draw.sample(rare, min(len(rare), SAMPLE * 2 // 3))
    return sorted(picked + draw.sample(common, min(len(common), SAMPLE - len(picked))))


ACTIONS = ("fresh", "update", "rebuild", "forget", "read", "lists")


@pytest.mark.parametrize("action", ACTIONS)
def test_killed_at_a_system_call(shimmed: Server, folder: Path, action: str) -> None:
    scene = Scene(folder, action)
    names = calls(shimmed, scene)
    assert {"write", "create", "mkdir", "rename", "fsync"} <= set(names)
    for number, at in enumerate(chosen(names, seed=1)):
        modes = ("before", "after", "torn") if EVERY else (("before", "after", "torn")[number % 3],)
        for mode in modes:
            scene.clean()
            status, told = shimmed.ask(scene, mode=mode, at=at)
            assert os.WIFSIGNALED(status) or told[-1] == "done", (at, names[at - 1], told)
            scene.check(told)


@pytest.mark.parametrize("mode", ["full", "broken"])
@pytest.mark.parametrize("action", ACTIONS)
def test_the_disk_is_full_or_broken(shimmed: Server, folder: Path, action: str, mode: str) -> None:
    scene = Scene(folder, action)
    for at in chosen(calls(shimmed, scene), seed=2)[:: 1 if EVERY else 2]:
        scene.clean()
        status, told = shimmed.ask(scene, mode=mode, at=at)
        assert status == 0
        check_error(told[-1], mode)
        scene.check(told)


def check_error(line: str, mode: str) -> None:
    """The run went through all the same, or ended with one line that names the disk."""
    if line != "done":
        assert line.startswith("error ")
        words = ("full", "space", "cannot be written", "cannot be used")
        assert any(word in line for word in words), line


@pytest.mark.parametrize("action", ["fresh", "update"])
def test_files_may_not_grow(plain: Server, folder: Path, action: str) -> None:
    scene = Scene(folder, action)
    for limit in (1, 100, 4_000, 5_000, 20_000, 40_000, 70_000, 100_000):
        scene.clean()
        status, told = plain.ask(scene, file_size=limit)
        assert status == 0
        check_error(told[-1], "full")
        scene.check(told)


@pytest.mark.parametrize("action", ["fresh", "update", "rebuild"])
def test_killed_at_any_time(plain: Server, folder: Path, action: str) -> None:
    """From outside, without the shim."""
    import psutil

    scene = Scene(folder, action)
    draw = random.Random(3)
    started = time.monotonic()
    scene.clean()
    plain.ask(scene)
    usual = time.monotonic() - started
    killed = 0
    for _ in range(200 if EVERY else 6):
        scene.clean()
        plain.send(scene)
        time.sleep(draw.uniform(0, usual))
        for child in psutil.Process(plain.process.pid).children():
            child.send_signal(signal.SIGKILL)
        status, told = plain.answer()
        killed += os.WIFSIGNALED(status)
        scene.check(told)
    assert killed
