import os
import socket
import sys
from pathlib import Path

import pytest

from ragcli.errors import UsageError
from ragcli.events import FileDone
from ragcli.sources.walk import walk
from ragcli.types import FileEntry, FileStatus


def make(root: Path, *files: str, **contents: str) -> Path:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents.get(name, name))
    return root


def names(*paths: Path, excludes: tuple[str, ...] = ()) -> list[str]:
    return [
        found.relative for found in walk(paths, excludes=excludes) if isinstance(found, FileEntry)
    ]


def done(*paths: Path) -> dict[str, tuple[FileStatus, str]]:
    return {
        found.path.name: (found.status, found.reason)
        for found in walk(paths)
        if isinstance(found, FileDone)
    }


def test_sorted_and_deterministic(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a/b/c.md", "a.md", "c/d.md")
    assert names(tmp_path) == ["a/b/c.md", "a/z.md", "a.md", "b.md", "c/d.md"]
    assert names(tmp_path) == names(tmp_path)


def test_hidden_and_index_folders_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, ".git/config", ".ragcli/catalog", ".hidden.md", "seen.md")
    assert names(tmp_path) == ["seen.md"]
    assert done(tmp_path) == {}


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ({".gitignore": "*.log\n!keep.log"}, ["a.md", "keep.log", "sub/d.md"]),
        ({".gitignore": "sub/"}, ["a.md", "b.log", "keep.log"]),
        ({".gitignore": "*.log", "sub/.gitignore": "!c.log"}, ["a.md", "sub/c.log", "sub/d.md"]),
        ({".gitignore": "/a.md\n# note\n\n!"}, ["b.log", "keep.log", "sub/c.log", "sub/d.md"]),
        ({".gitignore": "*.log", ".ragcliignore": "!b.log"}, ["a.md", "b.log", "sub/d.md"]),
        ({".ragcliignore": "sub\n*.log"}, ["a.md"]),
        ({"sub/.ragcliignore": "/d.md"}, ["a.md", "b.log", "keep.log", "sub/c.log"]),
    ],
)
def test_ignore_rules(tmp_path: Path, rules: dict[str, str], kept: list[str]) -> None:
    make(tmp_path, "a.md", "b.log", "keep.log", "sub/c.log", "sub/d.md")
    for name, text in rules.items():
        (tmp_path / name).write_text(text)
    assert names(tmp_path) == kept


def test_excludes_are_strongest(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c.md")
    (tmp_path / "b" / ".ragcliignore").write_text("!c.md")
    assert names(tmp_path, excludes=("a.md",)) == ["b/c.md"]


def test_an_ignored_file_is_read_when_named(tmp_path: Path) -> None:
    make(tmp_path, "a.md", ".secret.md")
    (tmp_path / ".gitignore").write_text("*")
    assert names(tmp_path / "a.md", tmp_path / ".secret.md") == ["a.md", ".secret.md"]


def test_links_below_a_root_are_not_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "leak.md")
    root = make(tmp_path / "root", "a/own.md")
    (root / "a" / "up").symlink_to("..")
    (root / "linked").symlink_to(outside)
    (root / "file.md").symlink_to(outside / "leak.md")
    (root / "twin.md").symlink_to(root / "a" / "own.md")
    assert names(root) == ["a/own.md"]
    assert done(root) == {}


def test_a_link_named_as_argument_is_followed(tmp_path: Path) -> None:
    make(tmp_path / "real", "a.md")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    (found,) = walk([link])
    assert found.path == link / "a.md"


def test_each_file_once(tmp_path: Path) -> None:
    make(tmp_path, "a/b.md", "c.md")
    everything = [tmp_path / "c.md", tmp_path, tmp_path / "a", tmp_path, tmp_path / "a" / "b.md"]
    paths = [found.path for found in walk(everything)]
    assert sorted(paths) == [tmp_path / "a" / "b.md", tmp_path / "c.md"]


def test_roots(tmp_path: Path) -> None:
    make(tmp_path, "a/b.md")
    (folder,) = walk([tmp_path])
    (file,) = walk([tmp_path / "a" / "b.md"])
    assert isinstance(folder, FileEntry)
    assert isinstance(file, FileEntry)
    assert (folder.root, folder.relative) == (tmp_path, "a/b.md")
    assert (file.root, file.relative) == (tmp_path / "a", "b.md")
    assert file.size == len("a/b.md")


def test_special_files_are_accounted_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(str(tmp_path / "sock"))
        assert done(tmp_path) == {
            "pipe": (FileStatus.SKIPPED, "a FIFO, not a file"),
            "sock": (FileStatus.SKIPPED, "a socket, not a file"),
        }
    finally:
        server.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_and_folders_fail_with_a_reason(tmp_path: Path) -> None:
    make(tmp_path, "no.md", "shut/a.md", "yes.md")
    (tmp_path / "no.md").chmod(0)
    (tmp_path / "shut").chmod(0)
    try:
        assert done(tmp_path) == {
            "no.md": (FileStatus.FAILED, "permission denied"),
            "shut": (FileStatus.FAILED, "folder: permission denied"),
        }
        assert names(tmp_path) == ["yes.md"]
    finally:
        (tmp_path / "shut").chmod(0o700)


@pytest.mark.parametrize("name", ["missing", "a.md/b"])
def test_a_path_that_does_not_exist_is_named_at_once(tmp_path: Path, name: str) -> None:
    make(tmp_path, "a.md")
    with pytest.raises(UsageError, match=name):
        walk([tmp_path, tmp_path / name])


def test_an_index_is_no_document(tmp_path: Path) -> None:
    make(tmp_path, ".ragcli/catalog")
    with pytest.raises(UsageError, match="is an index"):
        walk([tmp_path / ".ragcli"])


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such names")
def test_odd_names_survive(tmp_path: Path) -> None:
    odd = [b"\xff\xfe.md", "🐘.md".encode(), b"[.md", b"a\nb.md", b"my file.md", b"u\xcc\x88.md"]
    for name in odd:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("x")  # noqa: PTH118
    found = names(tmp_path)
    assert sorted(map(os.fsencode, found)) == sorted(odd)
    assert all((tmp_path / name).exists() for name in found)


def test_walking_writes_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a/b.md")
    before = [(path, path.stat().st_mtime_ns) for path in sorted(tmp_path.rglob("*"))]
    names(tmp_path)
    assert [(path, path.stat().st_mtime_ns) for path in sorted(tmp_path.rglob("*"))] == before
