"""Limits on the processes that read files, held against loaders that do their worst."""

import json
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from ragcli.events import FileDone
from ragcli.sources import child, wire
from ragcli.sources.load import Extractor, Parsed
from ragcli.types import FileEntry, FileStatus

# What the reader of a file does, by the name of the file.
PROGRAM = """
import os, sys, threading, time
sys.path[:] = {path!r}
from ragcli.sources import worker
real = worker.load_whole

def spin():
    while True:
        pass

def grow():
    held = []
    while True:
        held.append(bytearray(50_000_000))

def fork_and_hang():
    if os.fork() == 0:
        time.sleep(600)
    os._exit(3)

def fork_and_stay():
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(600)

def write_a_file():
    with open(os.environ["ELSEWHERE"], "wb") as file:
        file.write(b"x" * 100)

def flood():
    while True:
        os.write(answers, b"\\xff" * 65536)

def nest():
    body = b"[" * 3_000_000
    rest = worker.prefix(body) + body
    os.write(answers, worker.prefix(rest)); send(rest); time.sleep(600)

def lie():
    body = {lie!r}
    os.write(answers, worker.prefix(body)); send(body); time.sleep(600)

def send(data):
    while data:
        data = data[os.write(answers, data):]

def load_whole(path, limit=None):
    acts = dict(spin=spin, grow=grow, fork=fork_and_hang, stay=fork_and_stay, write=write_a_file,
                flood=flood, nest=nest, lie=lie, spare=lambda: os.close(0))
    acts.get(path.stem, lambda: None)()
    return real(path, limit=limit)

worker.load_whole = load_whole
answers = os.dup(1)
worker.main({memory}, {parent})
"""
LIE = {
    "sha256": "", "language": "", "sentences": [0, 99], "kind": "text", "blocks": [], "title": "",
    "page_starts": [], "missing_pages": [], "notes": [], "places": [], "missing": [],
}  # fmt: skip


def read(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **options: float) -> FileDone:
    """The result of the file `name`; files before and after it are read."""
    lie = wire.pack({**LIE, "text": "short"})
    program = PROGRAM.replace("{lie!r}", repr(lie).replace("{", "{{").replace("}", "}}"))
    monkeypatch.setattr(child, "PROGRAM", program)
    names = ["a.md", name, "b.md"]
    for each in names:
        (folder / each).write_text("The valve is open.\n")
    with Extractor(1, **options) as extractor:  # type: ignore[arg-type]
        first, bad, last = extractor.run(FileEntry(folder, each, 19, 0) for each in names)
    assert isinstance(first, Parsed)
    assert isinstance(last, Parsed)
    assert isinstance(bad, FileDone)
    assert bad.status is FileStatus.FAILED
    return bad


def left_over(before: set[int]) -> set[int]:
    """Processes of this session that came since and still run."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = {
            process.pid
            for process in psutil.process_iter(["status", "cmdline"])
            if process.pid not in before
            and process.info["status"] != psutil.STATUS_ZOMBIE
            and any("worker.load_whole = load_whole" in part for part in process.info["cmdline"] or ())
        }  # fmt: skip
        if not left:
            break
        time.sleep(0.1)
    return left


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("grow.md", "needs too much memory"),
        ("fork.md", "the reader stopped (exit code 3)"),
        ("flood.md", "the reader answered nonsense"),
        ("nest.md", "the reader answered nonsense"),
        ("lie.md", "the reader answered nonsense"),
    ],
)
def test_a_reader_at_its_worst_costs_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    before = set(psutil.pids())
    started = time.monotonic()
    assert read(tmp_path, name, monkeypatch, memory_limit=600 << 20).reason == reason
    assert time.monotonic() - started < 50
    assert not left_over(before)


@pytest.mark.parametrize("name", ["spin.md", "stay.md"])
def test_time_is_up_and_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = set(psutil.pids())
    bad = read(tmp_path, name, monkeypatch, time_limit=2.0)
    assert bad.reason == "took longer than 2 s"
    assert not left_over(before)


def test_a_reader_writes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "elsewhere"
    monkeypatch.setenv("ELSEWHERE", str(target))
    assert read(tmp_path, "write.md", monkeypatch).reason == "cannot be read (OSError)"
    assert not target.exists() or target.stat().st_size == 0


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="Linux tells who waited")
def test_time_without_a_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a crowded machine files are as good as on an idle one."""
    worker: child.Worker[str] = child.Worker.start(0)
    try:
        worker.give("slot", Path("/nowhere"), 1.0, None)
        waited = iter([0.5, 2.0, 2.0])
        worker.starved = 0.0
        monkeypatch.setattr(child.Worker, "_starved", lambda _: next(waited))
        start = worker.deadline - 1.0
        assert not worker.is_late(start + 0.9)
        assert not worker.is_late(start + 1.4)
        assert not worker.is_late(start + 2.9)
        assert worker.is_late(start + 3.1)
    finally:
        worker.stop()


@pytest.mark.parametrize(
    "changed",
    [
        {"sentences": [0]},
        {"sentences": [3, 2]},
        {"sentences": [2, 3, 0, 1]},
        {"sentences": [-1, 2]},
        {"sentences": [0, 1e400]},
        {"blocks": [[0, 99, "paragraph", 0, ""]]},
        {"blocks": [[0, 3, "rubbish", 0, ""]]},
        {"blocks": [[0, 3]]},
        {"page_starts": [None]},
        {"places": 7},
        {"text": None},
    ],
)
def test_answers_are_checked(changed: dict[str, object]) -> None:
    message = {**LIE, "sentences": [0, 3], "text": "abc", **changed}
    with pytest.raises((ValueError, KeyError, TypeError, OverflowError, AttributeError)):
        wire.loaded_from(json.loads(json.dumps(message)) | {"text": message["text"]})


@pytest.mark.parametrize("text", ["", "abc", "ä漢\U0001f600", "lone \udc80 surrogate", "\0"])
def test_messages_carry_any_text(text: str) -> None:
    body = wire.pack({"a": [1, "ä"], "text": text})
    received = bytearray(wire.prefix(body) + body)
    assert wire.unpack(received) == {"a": [1, "ä"], "text": text}


def test_workers_are_a_group_of_their_own() -> None:
    worker: child.Worker[str] = child.Worker.start(0)
    try:
        assert os.getpgid(worker.process.pid) == worker.process.pid != os.getpgid(0)
    finally:
        worker.stop()
    assert sys.executable in worker.process.args
