"""Files and folders that are traps: what is under a name, what it is called, who may read it,
and what happens to it meanwhile. One bad file costs one line."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragcli.errors import UsageError
from ragcli.events import FileDone
from ragcli.sources.load import Parsed
from ragcli.sources.walk import walk
from ragcli.types import FileEntry, FileStatus
from tests.plain_pdf import pdf

from .hostile import docx, extract, paragraph

ROOT = Path(__file__).resolve().parents[2]
# What is under a name


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_endless_devices(tmp_path: Path) -> None:
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    for argument in (Path("/dev/zero"), tmp_path / "zero.txt"):
        (found,) = walk([argument])
        assert isinstance(found, FileDone)
        assert (found.status, found.reason) == (FileStatus.SKIPPED, "a device, not a file")
    assert list(walk([tmp_path])) == []
    (read,) = extract(FileEntry(tmp_path, "zero.txt", 10, 0))
    assert isinstance(read, FileDone)
    assert read.reason == "a link, not a file"
    (read,) = extract(FileEntry(Path("/dev"), "zero", 10, 0))
    assert isinstance(read, FileDone)
    assert read.reason == "a device, not a file"


def test_pipes_and_sockets_as_arguments(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        found = list(walk([tmp_path / "pipe", tmp_path / "sock"]))
    assert [each.reason for each in found if isinstance(each, FileDone)] == [
        "a FIFO, not a file", "a socket, not a file",
    ]  # fmt: skip


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "note.md").write_text("x")
    assert [found.path.name for found in walk([tmp_path])] == ["note.md"]
    for name in ("a", "gone"):
        with pytest.raises(UsageError, match=name):
            walk([tmp_path / name])


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (lambda path, _: os.mkfifo(path), "a FIFO, not a file"),
        (lambda path, _: path.mkdir(), "a folder, not a file"),
        (lambda path, secret: path.symlink_to(secret), "a link, not a file"),
        (lambda path, _: None, "no such file or directory"),
        (lambda path, _: path.write_bytes(b""), "empty"),
    ],
)
def test_replaced_between_the_walk_and_the_reading(
    tmp_path: Path, turn: Callable[[Path, Path], object], reason: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("The secret outside of the root.")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("A note.")
    found = [entry for entry in walk([root]) if isinstance(entry, FileEntry)]
    (root / "a.md").unlink()
    turn(root / "a.md", secret)
    (result,) = extract(*found)
    assert isinstance(result, FileDone)
    assert result.reason == reason


def test_a_folder_that_becomes_a_link_or_goes_during_the_walk(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    for folder in (outside, root / "b", root / "c", root / "d"):
        folder.mkdir(parents=True)
    (outside / "secret.md").write_text("x")
    (root / "a.md").write_text("x")
    (root / "d" / "last.md").write_text("x")
    found = walk([root])
    first = next(iter(found))
    (root / "b").rmdir()
    (root / "b").symlink_to(outside)
    (root / "c").rmdir()
    assert [each.path.name for each in (first, *found)] == ["a.md", "last.md"]


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("The first line is here.\n")
    stop = threading.Event()

    def grow() -> None:
        while not stop.is_set():
            with file.open("a") as log:
                log.write("Another line comes.\n" * 50)
            time.sleep(0.001)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        results = extract(*[FileEntry(tmp_path, "log.txt", 24, 0)] * 5, size_limit=50 << 20)
    finally:
        stop.set()
        thread.join()
    for result in results:
        assert isinstance(result, Parsed)
        text = result.extracted.text
        assert hashlib.sha256(text.encode()).hexdigest() == result.sha256
        assert all(span.end <= len(text) for span in result.sentences)


# Names

NAMES = [
    b"\xff\xfe.md", b"a\nb.md", b"\x1b[2J.md", b"--help.md", b"-rf", b" leading.md", b"trailing ",
    b"\xe2\x80\xaegpj.md", b"[bold]x.md", b"%s{}.md", b"'; rm -rf.md", b"a\\b.md", b"a\tb.md",
    b"x" * 252 + b".md", b"*.md", b"\xc3\xbc.md", b"u\xcc\x88.md", b"con.md", b"...md",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such names")
def test_any_name_is_read_and_can_be_printed(tmp_path: Path) -> None:
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("A note with a name.")
    found = [entry for entry in walk([tmp_path]) if isinstance(entry, FileEntry)]
    assert sorted(os.fsencode(entry.relative) for entry in found) == sorted(
        name for name in NAMES if not name.startswith(b".")
    )
    assert all(isinstance(result, Parsed) for result in extract(*found))


def test_folders_deeper_than_a_path_may_be_long(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    name = "d" * 200
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(25):  # 5,000 bytes
            os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        with os.fdopen(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor), "w"):
            pass
        found = list(walk([tmp_path]))
        assert isinstance(found[0], FileEntry)
        (too_deep,) = [each for each in found if isinstance(each, FileDone)]
        assert too_deep.reason == "folder: file name too long"
    finally:
        os.close(descriptor)
        shutil.rmtree(tmp_path / name)


def test_very_many_files_in_a_folder(tmp_path: Path) -> None:
    for n in range(5000):
        (tmp_path / f"{n}.md").touch()
    started = time.process_time()
    assert sum(1 for _ in walk([tmp_path])) == 5000
    assert time.process_time() - started < 5


# Permissions. Root may read everything, so a child of root becomes somebody else.

SOMEBODY = """
import json, os, sys
from pathlib import Path
from ragcli.sources.walk import walk
from ragcli.events import FileDone
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
found = [(each.path.name, each.reason if isinstance(each, FileDone) else "") for each in walk([Path(sys.argv[1])])]
print(json.dumps(found))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may enter (pytest's own are closed)."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        for path in Path(name).rglob("*"):
            path.chmod(0o700)


def test_what_may_not_be_read_is_one_line_each(open_folder: Path) -> None:
    for name in ("no.md", "shut/a.md", "unlisted/b.md", "yes.md"):
        (open_folder / name).parent.mkdir(exist_ok=True)
        (open_folder / name).write_text("x")
        (open_folder / name).chmod(0o644)
    (open_folder / "no.md").chmod(0)
    (open_folder / "shut").chmod(0)
    (open_folder / "unlisted").chmod(0o311)
    done = subprocess.run(
        [sys.executable, "-c", SOMEBODY, str(open_folder)], capture_output=True, text=True,
        cwd=ROOT, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [
        ["no.md", "permission denied"],
        ["shut", "folder: permission denied"],
        ["unlisted", "folder: permission denied"],
        ["yes.md", ""],
    ]


def test_reading_leaves_bytes_times_and_modes(tmp_path: Path) -> None:
    files = {"a.md": b"# A\n", "b.pdf": pdf(["A lock."]), "c.docx": docx(paragraph("x")),
             "d.html": b"<p>x", "e.pdf": b"%PDF-1.4", "f.docx": b"PK\x03\x04"}  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(0o440)
        os.utime(tmp_path / name, ns=(1, 2))

    def seen() -> list[tuple[str, int, int, int, bytes]]:
        return [
            (p.name, p.stat().st_mode, p.stat().st_mtime_ns, p.stat().st_ctime_ns, p.read_bytes())
            for p in sorted(tmp_path.iterdir())
        ]

    before = seen()
    found = [entry for entry in walk([tmp_path]) if isinstance(entry, FileEntry)]
    assert len(extract(*found)) == len(files)
    assert seen() == before
