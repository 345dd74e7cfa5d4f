"""Whatever kills a writer, fills the disk or breaks it: the last commit is there, whole.

A fault happens at a call that changes the index's folder: a shim (faults.c) counts them in the
process itself, SQLite's and tantivy's too. After each fault a reader must find the last
committed state, the next run must go through by itself, and what it leaves must equal a clean
build, hit for hit. A sample of the instants is tested; RAGCLI_ALL_FAULTS=1 takes them all.
"""

from __future__ import annotations

import json
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
from typing import Any

import pytest

from ragcli.errors import IndexMissing
from ragcli.index import dense_write
from ragcli.index.reader import Reader
from ragcli.index.update import forget, update
from ragcli.index.writer import Writer

from .conftest import Bench
from .faulty import in_small_steps, with_lists

ROOT = Path(__file__).resolve().parents[2]
EVERY = bool(os.environ.get("RAGCLI_ALL_FAULTS"))
SAMPLE = 9  # faults of one kind in one scenario
RARE = ("rename", "unlink", "fsync", "link", "mkdir", "rmdir", "ftruncate", "create")
QUERIES = ("copper key", "version 2", "topic3 cellar")
State = tuple[Any, ...]


def note(name: str, version: int) -> str:
    return f"# Note {name}\n\nVersion {version}: the copper key {name} opens cellar topic{ord(name[0]) % 4}."


def state_of(bench: Bench) -> State:
    """All that a reader sees, without what depends on the history."""
    found = []
    with bench.open() as reader:
        for query in QUERIES:
            hits = reader.search(query, k=20, score_sentences=False)
            found.append([(h.document.relative, h.passage.text, round(h.score, 9)) for h in hits])
        files = sorted((str(f.path), str(f.status), f.reason) for f in reader.files())
    return (bench.everything(), files, found)


class Scene:
    """A folder, its index before an action, and the states that the action may leave."""

    def __init__(self, folder: Path, action: str) -> None:
        self.bench = Bench(folder)
        self.action = action
        self.saved = folder / "saved"
        self.states: list[State] = []
        if action == "lists":
            with_lists()
        if action != "fresh":
            self._first_version()
        if action in ("update", "rebuild", "lists"):
            self._second_version()
        time.sleep(0.03)  # the files' times settle
        self._look_ahead()

    def _first_version(self) -> None:
        for name in "abcdefklmnop" if self.action == "lists" else "abcdef":
            self.bench.write(f"{name}.md", note(name, 1))
        self.bench.write("bad.pdf", "%PDF-1.4 nothing")
        self.bench.update()
        self.states.append(state_of(self.bench))
        if self.action == "read":
            newest = max(
                (self.bench.index_dir / "generations").iterdir(), key=lambda g: int(g.name)
            )
            shutil.rmtree(newest / "lexical")
        shutil.copytree(self.bench.index_dir, self.saved)

    def _second_version(self) -> None:
        docs = self.bench.docs
        (docs / "b.md").unlink()
        (docs / "n").mkdir()
        (docs / "c.md").rename(docs / "n" / "c.md")
        for name in "afgh":
            self.bench.write(f"{name}.md", note(name, 2))

    def _look_ahead(self) -> None:
        """The action without a fault, and the state after each of its commits."""
        if self.action == "fresh":
            for name in "abcdefgh":
                self.bench.write(f"{name}.md", note(name, 1))
        commit = Writer.commit

        def looked_at(writer: Writer) -> float:
            seconds = commit(writer)
            state = state_of(self.bench)
            if state not in self.states:
                self.states.append(state)
            return seconds

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Writer, "commit", looked_at)
            self.act()
        self.clean()
        clean = Bench(_new(self.bench.docs.parent / "clean"))
        shutil.copytree(self.bench.docs, clean.docs, dirs_exist_ok=True)
        clean.update()
        if self.action == "forget":
            list(forget(clean.index_dir, clean.docs / "a.md"))
        relative = str(self.bench.docs), str(clean.docs)
        end = json.loads(json.dumps(state_of(clean)).replace(relative[1], relative[0]))
        assert json.loads(json.dumps(self.states[-1])) == end
        self.end = self.states[-1]

    def act(self) -> None:
        bench = self.bench
        if self.action == "forget":
            list(forget(bench.index_dir, bench.docs / "a.md"))
        elif self.action == "read":
            state_of(bench)
        else:
            rebuild = self.action == "rebuild"
            list(update(bench.index_dir, [bench.docs], encoder=bench.encoder, rebuild=rebuild))

    def clean(self) -> None:
        """The index as it was before the action."""
        for _ in range(100):  # a thread of tantivy's may still be clearing up
            shutil.rmtree(self.bench.index_dir, ignore_errors=True)
            if not self.bench.index_dir.exists():
                break
            time.sleep(0.01)
        if self.saved.exists():
            shutil.copytree(self.saved, self.bench.index_dir)

    def check(self, told: list[str]) -> None:
        """A reader finds the last commit or the one under way; the next run ends as a clean one."""
        known = [self._number(line) for line in told if line.startswith("committed")]
        try:
            with Reader.open(self.bench.index_dir, self.bench.encoder) as reader:
                generation = int(reader.identity["generation"])
            assert generation >= max(known, default=0)
            assert generation == 0 or state_of(self.bench) in self.states
        except IndexMissing:
            assert self.action == "fresh"
            assert not known
        self._go_on()
        assert state_of(self.bench) == self.end
        self._check_leftovers()

    @staticmethod
    def _number(line: str) -> int:
        return int(line.split()[1])

    def _go_on(self) -> None:
        if self.action != "forget":
            self.bench.update()
            return
        if state_of(self.bench) != self.end:
            list(forget(self.bench.index_dir, self.bench.docs / "a.md"))
        else:  # forgotten, but perhaps not yet in the older files
            self.bench.update(self.bench.docs / "b.md")
        assert len(list((self.bench.index_dir / "generations").iterdir())) == 1

    def _check_leftovers(self) -> None:
        names = {path.name for path in self.bench.index_dir.iterdir()}
        names -= {"catalog.sqlite-wal", "catalog.sqlite-shm", "writer.json"}
        assert names <= {"catalog.sqlite", "generations", ".gitignore", "writer.lock"}
        kept = [path.name for path in (self.bench.index_dir / "generations").iterdir()]
        assert all(name.isdigit() for name in kept)
        assert len(kept) <= 2


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


class Server:
    """The process that forks the children."""

    def __init__(self, shim: Path | None) -> None:
        environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if shim is not None:
            environ["LD_PRELOAD"] = str(shim)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.index.faulty"], cwd=ROOT, env=environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def send(self, scene: Scene, **fault: object) -> None:
        action = "update" if scene.action == "fresh" else scene.action
        request = {"action": action, "index": str(scene.bench.index_dir), **fault}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**request, "docs": str(scene.bench.docs)}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> tuple[int, list[str]]:
        """(wait status, lines the child told)."""
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        return answer["status"], answer["told"]

    def ask(self, scene: Scene, **fault: object) -> tuple[int, list[str]]:
        self.send(scene, **fault)
        return self.answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


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
