import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ragcli.errors import SourceError
from ragcli.events import FileDone
from ragcli.sources import child as child_process
from ragcli.sources.load import Extractor, NotADocument, Parsed, load
from ragcli.types import FileEntry, FileStatus

# A worker with a loader that misbehaves on files of certain names.
BAD_LOADER = """
import os, signal, sys, time
sys.path[:] = {path!r}
from ragcli.sources import worker
real = worker.load_whole
def load_whole(path, limit=None):
    if path.stem == "hang":
        time.sleep(600)
    if path.stem == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if path.stem == "leave":
        os._exit(3)
    if path.stem == "eat":
        bytearray(1 << 40)
    if path.stem == "bug":
        raise ZeroDivisionError
    if path.stem == "print":
        print("on stdout", flush=True)
    return real(path, limit=limit)
worker.load_whole = load_whole
worker.main({memory}, {parent})
"""


@pytest.fixture
def bad_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "PROGRAM", BAD_LOADER)


def entries(root: Path, *names: str) -> list[FileEntry]:
    for name in names:
        shown = name.encode(errors="replace").decode()
        (root / name).write_text(f"# {shown}\n\nThe valve of {shown} is open. It was shut.\n")
    return [FileEntry(root, name, (root / name).stat().st_size, 0) for name in names]


def run(found: list[FileEntry], **options: float) -> list[Parsed | FileDone]:
    with Extractor(2, **options) as extractor:  # type: ignore[arg-type]
        return list(extractor.run(found))


def test_files_come_in_order_with_text_sentences_language_and_hash(tmp_path: Path) -> None:
    names = [f"{number:02}.md" for number in range(20)]
    results = run(entries(tmp_path, *names))
    assert [result.entry.relative for result in results if isinstance(result, Parsed)] == names
    first = results[0]
    assert isinstance(first, Parsed)
    text = (tmp_path / "00.md").read_text()
    assert first.extracted.text == text
    assert first.extracted == load(tmp_path / "00.md")
    assert first.language == "en"
    assert [span.of(text) for span in first.sentences] == [
        "00.md",
        "The valve of 00.md is open.",
        "It was shut.",
    ]
    assert first.sha256 == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.usefixtures("bad_loader")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("crash.md", "the reader was ended by SIGSEGV"),
        ("leave.md", "the reader stopped (exit code 3)"),
        ("eat.md", "needs too much memory"),
        ("bug.md", "cannot be read (ZeroDivisionError)"),
    ],
)
def test_a_bad_file_costs_one_line(tmp_path: Path, name: str, reason: str) -> None:
    results = run(entries(tmp_path, "a.md", "b.md", name, "c.md", "print.md", "d.md"))
    bad = results.pop(2)
    assert isinstance(bad, FileDone)
    assert (bad.path, bad.status, bad.reason) == (tmp_path / name, FileStatus.FAILED, reason)
    assert all(isinstance(result, Parsed) for result in results)


@pytest.mark.usefixtures("bad_loader")
def test_a_file_that_hangs_is_given_up(tmp_path: Path) -> None:
    results = run(entries(tmp_path, "hang.md", "a.md"), time_limit=5.0)
    assert isinstance(results[0], FileDone)
    assert results[0].reason == "took longer than 5 s"
    assert isinstance(results[1], Parsed)


def test_a_worker_that_does_not_start_fails_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "PROGRAM", "import os; os._exit(9)")
    results = run(entries(tmp_path, "a.md", "b.md"))
    assert [type(result) for result in results] == [FileDone, FileDone]


@pytest.mark.parametrize(
    "answer", ["b'\\\\0' * 7 + b'\\\\x03no!'", "b'\\\\xff' * 8", "b'\\\\0' * 7 + b'\\\\x02{{}}'"]
)
def test_nonsense_from_a_worker_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    answer = answer.replace("\\\\", "\\")
    program = (
        f"import sys, time; sys.stdout.buffer.write({answer}); sys.stdout.flush(); time.sleep(9)"
    )
    monkeypatch.setattr(child_process, "PROGRAM", program)
    (result,) = run(entries(tmp_path, "a.md"))
    assert isinstance(result, FileDone)
    assert result.status is FileStatus.FAILED


def test_no_more_than_a_few_files_are_taken_ahead(tmp_path: Path) -> None:
    taken = 0

    def counted() -> Iterator[FileEntry]:
        nonlocal taken
        for entry in entries(tmp_path, *(f"{n:02}.md" for n in range(40))):
            taken += 1
            yield entry

    with Extractor(1) as extractor:
        for done, _ in enumerate(extractor.run(counted()), 1):
            assert taken - done <= 4


def test_workers_end_with_the_extractor(tmp_path: Path) -> None:
    with Extractor(2) as extractor:
        results = extractor.run(entries(tmp_path, "a.md", "b.md", "c.md"))
        next(results)
        children = psutil.Process().children()
        assert children
    assert not any(child.is_running() and child.status() != "zombie" for child in children)


ORPHAN = """
import sys, time
from pathlib import Path
import psutil
from ragcli.sources.load import Extractor
from ragcli.sources.walk import walk
extractor = Extractor(1)
next(extractor.run(walk([Path(sys.argv[1])])))
print(psutil.Process().children()[0].pid, flush=True)
time.sleep(60)
"""


def test_workers_end_when_the_parent_is_killed(tmp_path: Path) -> None:
    entries(tmp_path, "a.md")
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while worker.is_running() and worker.status() != "zombie" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not worker.is_running() or worker.status() == "zombie"


def test_workers_ignore_interrupts(tmp_path: Path) -> None:
    found = entries(tmp_path, *(f"{n}.md" for n in range(12)))
    with Extractor(1) as extractor:
        results = extractor.run(found)
        assert isinstance(next(results), Parsed)
        for child in psutil.Process().children():
            child.send_signal(signal.SIGINT)
        assert all(isinstance(result, Parsed) for result in results)


def test_workers_stay_light() -> None:
    """A worker for notes imports nothing heavy: starting is most of the work for a few files."""
    code = "import sys, ragcli.sources.worker; print(*sorted(sys.modules))"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {
        "pypdfium2",
        "docx",
        "lxml",
        "selectolax",
        "numpy",
        "pysbd",
        "rich",
        "typer",
        "asyncio",
    }
    assert not heavy & set(modules.stdout.split())


@pytest.mark.parametrize(
    ("name", "data", "status", "reason"),
    [
        ("empty.txt", b"", FileStatus.SKIPPED, "empty"),
        ("blank.md", b" \n\n", FileStatus.SKIPPED, "empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n", FileStatus.SKIPPED, "binary (PNG image)"),
        ("a.mobi", b"PK", FileStatus.SKIPPED, "format not supported yet: mobi"),
        ("a.pdf", b"%PDF-1.4 nothing", FileStatus.FAILED, "damaged PDF"),
        ("a.docx", b"PK\x03\x04", FileStatus.FAILED, "damaged DOCX (not a whole zip archive)"),
        ("a.html", b"<html><script>x</script>", FileStatus.FAILED, "no text in it"),
    ],
)
def test_statuses(tmp_path: Path, name: str, data: bytes, status: FileStatus, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    (result,) = run([FileEntry(tmp_path, name, len(data), 0)])
    assert isinstance(result, FileDone)
    assert (result.status, result.reason) == (status, reason)
    with pytest.raises(SourceError, match=re.escape(reason)) as error:
        load(tmp_path / name)
    assert isinstance(error.value, NotADocument) == (status is FileStatus.SKIPPED)


def test_large_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse.txt").open("wb") as file:
        file.write(b"text")
        file.truncate(2 << 30)
    (tmp_path / "small.txt").write_text("a" * 2000)
    (large,) = run([FileEntry(tmp_path, "sparse.txt", 2 << 30, 0)])
    (small,) = run([FileEntry(tmp_path, "small.txt", 2000, 0)], size_limit=1024)
    assert isinstance(large, FileDone)
    assert (large.status, large.reason) == (FileStatus.SKIPPED, "larger than 64 MiB")
    assert isinstance(small, FileDone)
    assert small.reason.startswith("larger than")


def test_a_file_gone_or_turned_into_a_pipe_fails(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    gone, pipe = run([FileEntry(tmp_path, "gone.md", 5, 0), FileEntry(tmp_path, "pipe.md", 5, 0)])
    assert isinstance(gone, FileDone)
    assert gone.reason == "no such file or directory"
    assert isinstance(pipe, FileDone)


def test_undecodable_names(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.md")
    (result,) = run(entries(tmp_path, name))
    assert isinstance(result, Parsed)
    assert result.entry.relative == name


def test_reading_leaves_the_times_alone(tmp_path: Path) -> None:
    found = entries(tmp_path, "a.md")
    before = (tmp_path / "a.md").stat()
    run(found)
    after = (tmp_path / "a.md").stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
