"""Readers beside a writer see whole generations; a second writer learns who the first one is."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragcli.errors import ExitCode, IndexLocked
from ragcli.index.lock import writer_lock
from ragcli.index.reader import Reader
from ragcli.types import SearchMode

from .conftest import Bench

ROOT = Path(__file__).resolve().parents[2]
NOTES = 12

# Writes version after version of the notes; each run is one commit.
WRITER = """
import sys
from pathlib import Path
from ragcli.index import run
from ragcli.index.update import update
from tests.index.conftest import InlineExtractor, WordsEncoder

run.Extractor = InlineExtractor
index, docs = Path(sys.argv[1]), Path(sys.argv[2])
print("started", flush=True)
for version in range(1, int(sys.argv[3]) + 1):
    for file in sorted(docs.iterdir()):
        text = file.read_text().replace(f"version{version - 1} ", f"version{version} ")
        file.write_text(text)
    list(update(index, [docs], encoder=WordsEncoder(), rebuild=version % 3 == 0))
    print("committed", version, flush=True)
"""
# Holds the lock until it is killed.
HOLDER = """
import sys, time
from pathlib import Path
from ragcli.index.lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def python(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has said its first line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
        cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def noted(bench: Bench) -> Bench:
    for n in range(NOTES):
        bench.write(f"{n:02}.md", f"Note {n}: version0 of the tower and the bell.")
    bench.update()
    return bench


def version_of(reader: Reader, mode: SearchMode) -> int:
    """The one version of all hits; their texts, passages and documents fit together."""
    hits = reader.search("version tower bell", k=100, mode=mode, score_sentences=False)
    assert len({hit.document.relative for hit in hits}) == len(hits) == NOTES
    versions = set()
    for hit in hits:
        text = reader.text(hit.document.id)
        assert text[hit.passage.start : hit.passage.end] == hit.passage.text
        versions.add(int(re.findall(r"version(\d+)", text)[0]))
    assert len(versions) == 1, versions
    return versions.pop()


def test_each_result_is_of_one_generation(noted: Bench) -> None:
    seen: list[tuple[int, int]] = []
    with python(WRITER, noted.index_dir, noted.docs, 4) as writer:
        while writer.poll() is None:
            with noted.open() as reader:
                for mode in SearchMode:
                    version = version_of(reader, mode)
                    seen.append((int(reader.identity["generation"]), version))
        assert writer.returncode == 0
    assert len(set(seen)) > 2
    assert len({generation for generation, _ in seen}) == len(set(seen))
    assert [version for _, version in seen] == sorted(version for _, version in seen)
    with noted.open() as reader:
        assert version_of(reader, SearchMode.HYBRID) == 4


def test_an_open_reader_keeps_its_generation(noted: Bench) -> None:
    """However many commits pass, and even when its files have been removed."""
    with noted.open() as reader:
        before = reader.search("version0 tower", k=50)
        with python(WRITER, noted.index_dir, noted.docs, 4) as writer:
            while writer.poll() is None:
                assert version_of(reader, SearchMode.HYBRID) == 0
        assert writer.returncode == 0
        assert not (noted.index_dir / "generations" / "1").exists()
        assert reader.search("version0 tower", k=50) == before
    with noted.open() as reader:
        assert version_of(reader, SearchMode.LEXICAL) == 4


def test_readers_in_threads_beside_a_writer(noted: Bench) -> None:
    failed: list[BaseException] = []
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                with noted.open() as reader:
                    version_of(reader, SearchMode.HYBRID)
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    with python(WRITER, noted.index_dir, noted.docs, 2) as writer:
        writer.wait()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
    assert writer.returncode == 0


def test_a_second_writer_is_told_who_and_since_when(noted: Bench) -> None:
    with python(HOLDER, noted.index_dir) as holder:
        with pytest.raises(IndexLocked) as caught:
            noted.events()
        assert caught.value.exit_code == ExitCode.INDEX
        told = re.search(r"process (\d+) on .+, since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)",
                         caught.value.message)  # fmt: skip
        assert told is not None
        assert int(told[1]) == holder.pid
        since = time.mktime(time.strptime(told[2], "%Y-%m-%d %H:%M:%S"))
        assert abs(time.time() - since) < 600
        assert noted.found("tower bell")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert (noted.index_dir / "writer.json").exists()
    assert noted.update().unchanged == NOTES
    assert not (noted.index_dir / "writer.json").exists()


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "{",
        "[]",
        '{"pid": "x"}',
        '{"pid": 1e99, "host": 1, "since": []}',
        "\x1b[2J",
        '{"pid": 1e999}',
        '{"pid": 1, "host": "\\u001b[2J", "since": "now"}',
    ],
)
def test_a_signature_that_says_nothing(noted: Bench, signature: str) -> None:
    with writer_lock(noted.index_dir):
        (noted.index_dir / "writer.json").write_text(signature)
        with pytest.raises(IndexLocked, match="another process is writing") as caught:
            noted.events()
    assert "\x1b" not in caught.value.message


def test_the_name_of_a_dead_writer_is_not_told(noted: Bench) -> None:
    """Its signature stays when it is killed, and the next writer may not have signed yet."""
    with python(HOLDER, noted.index_dir) as holder:
        pid = holder.pid
    with writer_lock(noted.index_dir):
        dead = f'{{"pid": {pid}, "host": "{os.uname().nodename}", "since": "2001-01-01 00:00:00"}}'
        (noted.index_dir / "writer.json").write_text(dead)
        with pytest.raises(IndexLocked) as caught:
            noted.events()
    assert str(pid) not in caught.value.message
