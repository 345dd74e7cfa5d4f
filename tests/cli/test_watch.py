"""`ragcli index --watch` and its kin, as processes and in this one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ragcli.index.lock import writer_lock
from ragcli.schemas import load

from .harness import invoke, process

LONG = 120.0  # seconds; a machine may be busy
EVENTS = jsonschema.Draft202012Validator(load("event@1"))


class Watching:
    """A running `ragcli index --watch --jsonl`; its lines are collected as they come."""

    def __init__(self, folder: Path, *argv: str, before: tuple[str, ...] = ()) -> None:
        self.out: list[dict[str, Any]] = []
        self.err: list[str] = []
        self._told = threading.Condition()
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "ragcli", "index", *argv, "--watch", "--jsonl"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self._take_event)),
            threading.Thread(target=self._read, args=(self.process.stderr, self.err.append)),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any, take: Callable[[str], None]) -> None:
        with stream:
            for line in stream:
                with self._told:
                    take(line.rstrip("\n"))
                    self._told.notify_all()
        with self._told:
            self._told.notify_all()

    def _take_event(self, line: str) -> None:
        event = json.loads(line)
        if event["schema"] == "ragcli/event@1":
            EVENTS.validate(event)
        self.out.append(event)

    def until(self, condition: Callable[[], bool]) -> None:
        with self._told:
            told = self._told.wait_for(
                lambda: condition() or self.process.poll() is not None, timeout=LONG
            )
            assert told, (self.out[-3:], self.err)
            assert condition(), (self.process.poll(), self.out[-3:], self.err)

    def until_said(self, text: str, times: int = 1) -> None:
        self.until(lambda: sum(text in line for line in self.err) >= times)

    def runs(self) -> list[dict[str, Any]]:
        return [event for event in self.out if event["event"] == "indexed"]

    def files(self, run: int) -> dict[str, str]:
        """Names of the files of a run, and what became of them."""
        ends = [n for n, event in enumerate(self.out) if event["event"] == "indexed"]
        begin = ends[run - 1] + 1 if run else 0
        found = {}
        for event in self.out[begin : ends[run]]:
            if event["event"] == "filedone":
                found[Path(event["file"]["path"]).name] = event["file"]["status"]
            elif event["event"] == "removed":
                found.setdefault(Path(event["path"]).name, "removed")
        return found

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(LONG)
        for reader in self._readers:
            reader.join(LONG)
        return code


@pytest.fixture
def watching(tmp_path: Path, bundled_encoder_dir: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*argv: str, before: tuple[str, ...] = ()) -> Watching:
        started.append(Watching(tmp_path, *argv, before=before))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.ended()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("The boiler holds 3 bar.\n")
    return folder


@pytest.mark.model
def test_changes_are_followed_while_others_use_the_index(
    docs: Path, tmp_path: Path, watching: Callable[..., Watching]
) -> None:
    watch = watching("notes")
    watch.until_said("watching notes; Ctrl-C ends it")
    assert watch.files(0) == {"a.md": "indexed"}

    (docs / "b.md").write_text("The lantern burns colza oil.\n")
    watch.until(lambda: len(watch.runs()) == 2)
    assert watch.files(1) == {"b.md": "indexed"}
    found = process(["search", "lantern", "--json", "-k", "1"], cwd=tmp_path).json("search@1")
    assert found["hits"][0]["relative"] == "b.md"

    # Nothing is locked between two runs; what another process did is no news.
    (tmp_path / "c.md").write_text("The tide gauge stands at the pier.\n")
    assert process(["index", "c.md"], cwd=tmp_path).code == 0
    (docs / "a.md").rename(docs / "z.md")
    watch.until(lambda: len(watch.runs()) == 3)
    assert watch.files(2) == {"z.md": "indexed", "a.md": "removed"}
    assert watch.runs()[2]["moved"] == 1
    watch.until_said("1 indexed (notes/z.md), 1 gone (notes/a.md), 1 of them moved")

    assert watch.end() == 130
    assert watch.err[-1] == "ragcli: interrupted"
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in watch.err[1:-1])
    assert process(["index"], cwd=tmp_path).code == 0


@pytest.mark.model
def test_another_writer_is_waited_for(
    docs: Path, tmp_path: Path, watching: Callable[..., Watching]
) -> None:
    (tmp_path / ".ragcli").mkdir()
    with writer_lock(tmp_path / ".ragcli"):
        watch = watching("notes")
        watch.until_said("waiting: another process is writing this index")
        assert watch.out == []
    watch.until_said("watching notes")
    with writer_lock(tmp_path / ".ragcli"):
        (docs / "b.md").write_text("The lantern burns colza oil.\n")
        watch.until_said("waiting: another process", times=2)
    watch.until(lambda: len(watch.runs()) == 2)
    assert sum("waiting" in line for line in watch.err) == 2  # once each time
    assert watch.end(signal.SIGTERM) == 130


@pytest.mark.model
def test_an_index_that_is_gone_ends_it(
    docs: Path, tmp_path: Path, watching: Callable[..., Watching]
) -> None:
    watch = watching("notes")
    watch.until_said("watching notes")
    shutil.rmtree(tmp_path / ".ragcli")
    (docs / "b.md").write_text("The lantern burns colza oil.\n")
    assert watch.ended() == 3
    assert watch.out[-1]["code"] == "no-index"
    assert not (tmp_path / ".ragcli").exists()


LIMITED = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"', "sh",
)  # fmt: skip


@pytest.mark.model
def test_the_system_s_limit_of_watched_folders(
    docs: Path, watching: Callable[..., Watching]
) -> None:
    tried = shutil.which("unshare") and subprocess.run([*LIMITED, "true"], capture_output=True)
    if not tried or tried.returncode:
        pytest.skip("no user namespaces here")
    for number in range(5):
        (docs / str(number)).mkdir()
    watch = watching("notes", before=LIMITED)
    watch.until_said("watching notes")
    limits = [line for line in watch.err if "max_user_watches" in line]
    assert len(limits) == 1
    (docs / "3" / "b.md").write_text("The lantern burns colza oil.\n")
    watch.until(lambda: len(watch.runs()) == 2)
    assert watch.files(1) == {"b.md": "indexed"}
    assert watch.end() == 130


# Without --watch, in this process


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--watch", "--json", "."], "--watch has no end, and --json is one document"),
        (["--verify", "--rebuild", "."], "nothing to verify"),
        ([], "nothing is indexed yet: name a file or folder"),
        (["--rebuild"], "nothing is indexed yet"),
        (["--watch", "nowhere"], "no such file or folder"),
    ],
)
def test_what_cannot_be_done(argv: list[str], said: str) -> None:
    result = invoke("index", *argv)
    assert result.code == 2
    assert said in result.err
    assert len(result.err.splitlines()) <= 2


def change_unseen(file: Path, text: str, index: Path) -> None:
    """Other content of the same length; the catalog is given the file's new times."""
    import sqlite3

    assert len(text) == file.stat().st_size
    file.write_text(text)
    status = file.stat()
    with sqlite3.connect(index / "catalog.sqlite") as sql:
        sql.execute(
            "UPDATE files SET mtime_ns = ?, ctime_ns = ? WHERE path = ?",
            (status.st_mtime_ns, status.st_ctime_ns, os.fsencode(file.name)),
        )
    sql.close()


@pytest.mark.model
def test_verify(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    invoke("index")
    before = (copied / "boiler.md").read_text()
    change_unseen(copied / "boiler.md", before.replace("3 bar", "9 bar"), copied / ".ragcli")
    time.sleep(0.05)  # the file's times settle
    assert "5 unchanged" in invoke("index").out
    document = invoke("index", "--verify", "--json").json("index@1")
    assert document["verified"] == {"files": 5, "changed": 1, "mended": []}
    assert document["indexed"] == 1
    assert "9 bar" in invoke("search", "boiler", "-k", "1").out

    for file in (copied / ".ragcli" / "generations").rglob("dense.bin"):
        file.write_bytes(file.read_bytes()[:-4] + bytes(4))
    result = invoke("index", "--verify")
    assert (
        "  5 files compared by content, 0 of them changed under the same size and times"
        in result.out
    )
    assert (
        "  mended: the dense index holds other vectors than the catalog: written anew" in result.out
    )
    assert "  the index is whole" in invoke("index", "--verify").out


@pytest.mark.model
def test_without_a_path_everything_asked_for_is_brought_up_to_date(
    copied: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(copied)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "asked.md").write_text("The ferry leaves at noon.\n")
    (outside / "beside.md").write_text("Nobody asked for this.\n")
    invoke("index", str(outside / "asked.md"))
    (copied / "keepers.txt").unlink()
    (outside / "asked.md").write_text("The ferry leaves at nine.\n")
    document = invoke("index", "--json").json("index@1")
    assert (document["found"], document["indexed"], document["removed"]) == (7, 1, 1)
    rebuilt = invoke("index", "--rebuild", "--json").json("index@1")
    assert (rebuilt["found"], rebuilt["indexed"], rebuilt["failed"]) == (7, 5, 1)
    assert (
        invoke("search", "nobody", "--json").json("search@1")["hits"][0]["relative"] != "beside.md"
    )


@pytest.mark.model
def test_status_says_what_changed(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    assert "since      nothing changed" in invoke("status").out
    (copied / "keepers.txt").unlink()
    (copied / "boiler.md").write_text("Nothing about bars.\n")
    (copied / "new.md").write_text("New.\n")
    status = invoke("status", "--files", "--json").json("status@1")
    assert status["changes"] == {"new": 1, "changed": 1, "deleted": 1, "unsure": 0}
    assert [Path(one["path"]).name for one in status["new"]] == ["new.md"]
    assert {one["relative"] for one in status["files"] if one["stale"]} == {
        "boiler.md",
        "keepers.txt",
    }
    assert "1 new (new.md), 1 changed (boiler.md), 1 deleted (keepers.txt);" in invoke("status").out
