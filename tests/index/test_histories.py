"""Whatever happened to the files, an index brought up to date equals one made anew, hit for hit."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from numpy.typing import NDArray

from ragcli.encoders.base import Encoder
from ragcli.errors import UsageError
from ragcli.events import Indexed
from ragcli.index.reader import Reader
from ragcli.index.update import forget, update
from ragcli.types import SearchMode

from .conftest import WordsEncoder

WORDS = ("boiler", "valve", "tower", "copper", "seven", "north", "harbour", "lamp")
QUERIES = ("boiler valve", "north tower lamp", "seven", "Notes harbour")
FOLDERS = ("", "a", "a/b", "c")
NAMES = ("x.md", "y.txt", "z.html", "w.bin")
IGNORED = ("*.txt", "b/", "/a", "x.md", "!x.md", "**/z.html")

folders = st.sampled_from(FOLDERS)
names = st.sampled_from(NAMES)
which = st.integers(0, 99)
sentences = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(" ".join), max_size=5
)


class QuickEncoder(WordsEncoder):
    """Each text is worked out once for all indexes."""

    def _vector(self, text: str) -> NDArray[np.float64]:
        return _vector(text)


@lru_cache(None)
def _vector(text: str) -> NDArray[np.float64]:
    return WordsEncoder()._vector(text)


def composed(name: str, lines: list[str]) -> bytes:
    """A file with a heading and these sentences; nothing of it is text if it is a .bin."""
    if name.endswith(".bin"):
        return b"\x7fELF\0\1" + "\0".join(lines).encode()
    body = "\n\n".join(f"The {line} is here." for line in lines)
    if name.endswith(".html"):
        body = "".join(f"<p>The {line} is here.</p>" for line in lines)
        return f"<html><body><h1>Notes</h1>{body}</body></html>".encode()
    return (f"# Notes on {lines[0]}\n\n{body}\n" if lines else "").encode()


class Folder:
    """A folder of documents, the index that follows it, and fresh ones to compare with."""

    def __init__(self, base: Path, encoder: Encoder) -> None:
        self.base, self.docs, self.index_dir = base, base / "docs", base / ".ragcli"
        self.encoder = encoder
        self.docs.mkdir()
        self.fresh = 0

    def run(self, index_dir: Path, path: Path, **options: Any) -> Indexed:
        events = list(
            update(index_dir, [path], encoder=lambda: self.encoder,
                   identity=self.encoder.identity, **options)
        )  # fmt: skip
        summary = events[-1]
        assert isinstance(summary, Indexed)
        done = summary.indexed + summary.unchanged + summary.skipped + summary.failed
        assert summary.found == done
        return summary

    def contents(self, index_dir: Path, under: Path) -> dict[str, Any]:
        """What an index holds and finds, without anything that depends on its history."""
        with Reader.open(index_dir, lambda: self.encoder) as reader:
            files = sorted(
                (str(one.path), one.status, one.reason, one.kind, one.size, one.length,
                 one.passages, one.document.sha256 if one.document else "")
                for one in reader.files() if one.path.is_relative_to(under)
            )  # fmt: skip
            texts = {
                str(one.path): (reader.text(one.id), [
                    (p.start, p.end, p.text, p.heading, p.line, len(p.sentences))
                    for p in reader.passages(one.id)
                ])
                for one in reader.documents() if one.path.is_relative_to(under)
            }  # fmt: skip
            status = reader.status()
            assert status.vectors <= status.passages
            whole = under == self.docs
            hits = [self._hits(reader, query, mode) for query in QUERIES for mode in SearchMode]
        return {"files": files, "texts": texts, "hits": hits if whole else None}

    def _hits(self, reader: Reader, query: str, mode: SearchMode) -> list[tuple[Any, ...]]:
        return [
            (hit.document.relative, hit.passage.start, hit.passage.text, round(hit.score, 5),
             hit.lexical and hit.lexical.rank, hit.dense and hit.dense.rank,
             hit.best_sentence and hit.best_sentence.text)
            for hit in reader.search(query, k=50, mode=mode)
        ]  # fmt: skip

    def check(self, path: Path, **options: Any) -> None:
        """The index after a run equals a fresh one of the same path."""
        self.run(self.index_dir, path, **options)
        self.fresh += 1
        other = self.base / f"fresh{self.fresh}" / ".ragcli"
        self.run(other, path)
        assert self.contents(self.index_dir, path) == self.contents(other, path)
        shutil.rmtree(other.parent)
        again = self.run(self.index_dir, path)
        assert (again.indexed, again.removed) == (0, 0)


class Histories(RuleBasedStateMachine):
    """What people do to a folder, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="histories"))
        self.folder = Folder(self.base, QuickEncoder())
        self.docs = self.folder.docs

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    def files(self) -> list[Path]:
        found = (Path(at) / name for at, _, names in os.walk(self.docs) for name in names)
        return sorted(one for one in found if not one.name.startswith("."))

    def pick(self, number: int) -> Path:
        files = self.files()
        return files[number % len(files)]

    def has_files(self) -> bool:
        return bool(self.files())

    def place(self, folder: str, name: str) -> Path:
        (self.docs / folder).mkdir(parents=True, exist_ok=True)
        return self.docs / folder / name

    @rule(folder=folders, name=names, lines=sentences)
    def write(self, folder: str, name: str, lines: list[str]) -> None:
        self.place(folder, name).write_bytes(composed(name, lines))

    @precondition(has_files)
    @rule(number=which, line=st.sampled_from(WORDS))
    def append(self, number: int, line: str) -> None:
        with self.pick(number).open("ab") as file:
            file.write(f"\n\nA {line} was added.\n".encode())

    @precondition(has_files)
    @rule(number=which)
    def edit_under_the_old_stamp(self, number: int) -> None:
        """Size and modification time stay: `touch -r`."""
        file = self.pick(number)
        before = file.stat()
        file.write_bytes(file.read_bytes().replace(b"boiler", b"copper").replace(b"lamp", b"door"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    @precondition(has_files)
    @rule(number=which, time=st.sampled_from([0, 10**9, 2 * 10**9, 2**40]))
    def touch(self, number: int, time: int) -> None:
        os.utime(self.pick(number), (time, time))

    @precondition(has_files)
    @rule(number=which)
    def delete(self, number: int) -> None:
        self.pick(number).unlink()

    @precondition(has_files)
    @rule(number=which, folder=folders, name=names)
    def move(self, number: int, folder: str, name: str) -> None:
        self.pick(number).replace(self.place(folder, name))

    @precondition(has_files)
    @rule(number=which, folder=folders, name=names)
    def copy(self, number: int, folder: str, name: str) -> None:
        source, target = self.pick(number), self.place(folder, name)
        if source != target:
            shutil.copy2(source, target)

    @precondition(lambda self: len(self.files()) > 1)
    @rule(first=which, second=which)
    def swap(self, first: int, second: int) -> None:
        one, other = self.pick(first), self.pick(second)
        if one != other:
            aside = self.base / "aside"
            one.rename(aside)
            other.rename(one)
            aside.rename(other)

    @rule(old=folders.filter(bool), new=st.sampled_from(["a", "c", "d", "c/e"]))
    def rename_folder(self, old: str, new: str) -> None:
        source, target = self.docs / old, self.docs / new
        if source.is_dir() and not target.exists() and not target.is_relative_to(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    @rule(folder=folders)
    def delete_folder(self, folder: str) -> None:
        if folder:
            shutil.rmtree(self.docs / folder, ignore_errors=True)

    @rule(folder=folders, name=st.sampled_from([".gitignore", ".ragcliignore"]),
          lines=st.lists(st.sampled_from(IGNORED), max_size=2))  # fmt: skip
    def ignore(self, folder: str, name: str, lines: list[str]) -> None:
        self.place(folder, name).write_text("\n".join(lines))

    @rule(folder=folders)
    def index_folder(self, folder: str) -> None:
        if (self.docs / folder).is_dir():
            self.folder.check(self.docs / folder)

    @precondition(has_files)
    @rule(number=which)
    def index_file(self, number: int) -> None:
        self.folder.check(self.pick(number))

    @rule(how=st.sampled_from(["rebuild", "verify"]))
    def index_thoroughly(self, how: str) -> None:
        self.folder.run(self.folder.index_dir, self.docs)
        self.folder.check(self.docs, **{how: True})

    @rule(folder=folders)
    def forget(self, folder: str) -> None:
        path = self.docs / folder
        if not (self.folder.index_dir / "catalog.sqlite").exists():
            return
        try:
            list(forget(self.folder.index_dir, path))
        except UsageError:
            return
        held = self.folder.contents(self.folder.index_dir, path)
        assert (held["files"], held["texts"]) == ([], {})

    @rule()
    def index_all(self) -> None:
        self.folder.check(self.docs)


Histories.TestCase.settings = settings(
    max_examples=int(os.environ.get("RAGCLI_HISTORIES", "12")),
    stateful_step_count=15,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
)
TestHistories = Histories.TestCase


@pytest.mark.model
def test_with_the_real_encoder(tmp_path: Path, bundled_encoder_dir: Path) -> None:
    """One history with the bundled encoder: edits, moves, copies, a folder renamed, one deleted."""
    from ragcli.encoders import open_encoder, resolve_encoder

    folder = Folder(tmp_path, open_encoder(resolve_encoder(str(bundled_encoder_dir)), threads=1))
    for number, word in enumerate(WORDS):
        part = folder.docs / f"part{number % 3}"
        part.mkdir(exist_ok=True)
        (part / f"{word}.md").write_bytes(composed("x.md", [f"{word} of {n}" for n in range(4)]))
    folder.check(folder.docs)
    (folder.docs / "part0" / "boiler.md").write_bytes(composed("x.md", ["new boiler", "old lamp"]))
    (folder.docs / "part1" / "valve.md").rename(folder.docs / "moved.md")
    shutil.copy2(folder.docs / "part2" / "tower.md", folder.docs / "copied.md")
    folder.check(folder.docs)
    (folder.docs / "part2").rename(folder.docs / "other")
    (folder.docs / "part1" / "seven.md").unlink(missing_ok=True)
    shutil.rmtree(folder.docs / "part0")
    folder.check(folder.docs)


@pytest.mark.parametrize("time", [-(2**31), 0, 2**40])
def test_a_time_that_no_clock_shows(tmp_path: Path, time: int) -> None:
    """Some file systems keep any time; 2**40 seconds are more nanoseconds than 63 bits hold."""
    folder = Folder(tmp_path, QuickEncoder())
    for name in ("x.md", "w.bin"):
        (folder.docs / name).write_bytes(composed(name, ["boiler valve"]))
        os.utime(folder.docs / name, (time, time))
    folder.check(folder.docs)
    (folder.docs / "x.md").write_bytes(composed("x.md", ["copper lamp"]))
    os.utime(folder.docs / "x.md", (time, time))
    folder.check(folder.docs)
    with Reader.open(folder.index_dir, lambda: folder.encoder) as reader:
        (document,) = reader.documents()
        assert "copper lamp" in reader.text(document.id)
        assert reader.stale([document]) == ()
