"""Following changes of files, with the real notifications of the system."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexMissing
from ragcli.index import watch
from ragcli.index.update import update
from ragcli.index.watch import Watcher

from .conftest import Bench

LONG = 60.0  # seconds after which a change is not coming any more
SHORT = 0.4  # seconds in which one that must not come would


@pytest.fixture(autouse=True, scope="module")
def _brisk() -> Iterator[None]:
    """Bursts are over sooner: tests write faster than people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "QUIET_MS", 40)
        patch.setattr(watch, "TICK_MS", 80)
        yield


class Follower:
    """What `ragcli index --watch` does, round by round."""

    def __init__(self, bench: Bench, *paths: Path) -> None:
        self.bench = bench
        self.paths = paths or (bench.docs,)
        self.said: list[str] = []
        self.watcher = Watcher(self.paths, self.said.append)
        self.watcher.refresh()
        bench.events(*self.paths)

    def until(self, condition: Callable[[], bool]) -> None:
        """Rounds until the condition holds."""
        end = time.monotonic() + LONG
        while not condition():
            assert self.watcher.wait(until=end), "no change was told"
            self.round()

    def round(self) -> None:
        self.watcher.refresh()
        self.bench.events(*self.paths, following=True)

    def quiet(self) -> bool:
        """Whether nothing is told; what is still under way from before is let pass."""
        while self.watcher.wait(until=time.monotonic() + SHORT):
            self.watcher.refresh()
        return not self.watcher.wait(until=time.monotonic() + SHORT)

    def agrees(self) -> bool:
        """Whether the index holds what a walk would find, with its content."""
        docs = self.bench.docs
        there = {
            file.relative_to(docs).as_posix(): file.read_text("utf-8")
            for file in docs.rglob("*.md")
            if file.is_file() and not any(p.startswith(".") for p in file.relative_to(docs).parts)
        }
        with self.bench.open() as reader:
            held = {document.relative: reader.text(document.id) for document in reader.documents()}
        return held == there


@pytest.fixture
def following(bench: Bench) -> Iterator[Callable[..., Follower]]:
    made: list[Follower] = []

    def start(*paths: Path) -> Follower:
        made.append(Follower(bench, *paths))
        return made[-1]

    yield start
    for one in made:
        one.watcher.__exit__(None, None, None)


@pytest.fixture(params=["told", "polled"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's notifications, and without."""
    if request.param == "polled":
        monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
        monkeypatch.setattr(watch, "POLL_S", 0.05)


@pytest.mark.usefixtures("both")
def test_edits_moves_and_removals(bench: Bench, following: Callable[..., Follower]) -> None:
    bench.write("sub/deep/a.md", "The copper key.")
    bench.write("b.md", "The iron key.")
    follower = following()

    bench.write("new/c.md", "The tin key.")
    follower.until(follower.agrees)
    (bench.docs / "new").rename(bench.docs / "renamed")
    follower.until(follower.agrees)
    bench.write("renamed/d.md", "Written after the folder was renamed.")
    follower.until(follower.agrees)
    bench.write("b.md~", "The golden key.")  # as editors write
    (bench.docs / "b.md~").replace(bench.docs / "b.md")
    follower.until(follower.agrees)
    shutil.rmtree(bench.docs / "sub")
    follower.until(follower.agrees)
    bench.write("sub/deep/a.md", "The folders are there again.")
    follower.until(follower.agrees)
    bench.write("sub/deep/a.md", "And are followed.")
    follower.until(follower.agrees)


@pytest.mark.usefixtures("both")
def test_a_folder_that_goes_and_comes_back(
    bench: Bench, following: Callable[..., Follower]
) -> None:
    bench.write("a.md", "The copper key.")
    follower = following()
    shutil.rmtree(bench.docs)
    follower.until(lambda: bench.names() == [])
    bench.write("b.md", "The iron key.")
    follower.until(lambda: bench.names() == ["b.md"])
    bench.write("b.md", "The golden key.")
    follower.until(follower.agrees)


def test_hundreds_of_files_at_once(bench: Bench, following: Callable[..., Follower]) -> None:
    follower = following()
    for number in range(600):
        bench.write(f"{number % 60}/{number % 7}/{number}.md", f"Note {number}.")
    follower.until(lambda: len(bench.names()) == 600)
    (bench.docs / "3").rename(bench.docs / "moved")
    for number in range(0, 600, 3):
        if (bench.docs / f"{number % 60}").exists():
            bench.write(f"{number % 60}/x.md", "Late.")
    follower.until(follower.agrees)


def test_a_change_during_a_run_is_followed_by_another(
    bench: Bench, following: Callable[..., Follower]
) -> None:
    bench.write("a.md", "The copper key.")
    follower = following()
    bench.write("b.md", "The iron key.")
    assert follower.watcher.wait(until=time.monotonic() + LONG)
    follower.watcher.refresh()
    for event in update(bench.index_dir, [bench.docs], encoder=bench.encoder, following=True):
        if type(event).__name__ == "Scanned":  # the walk is over
            bench.write("late/c.md", "Written while the run was under way.")
    assert bench.names() == ["a.md", "b.md"]
    follower.until(follower.agrees)


@pytest.mark.usefixtures("both")
def test_what_a_walk_does_not_read_wakes_nobody(
    bench: Bench, following: Callable[..., Follower], tmp_path: Path
) -> None:
    bench.write("a.md", "The copper key.")
    bench.write(".gitignore", "build/\n*.log\n")
    bench.write("build/x.md", "Built.")
    bench.write(".git/HEAD", "ref")
    follower = following()
    assert follower.quiet()
    bench.write("build/y.md", "Built again.")
    bench.write("build/deep/y.md", "Built again.")
    bench.write("run.log", "A line.")
    bench.write(".git/index.md", "Hidden.")
    bench.write(".hidden.md", "Hidden.")
    (tmp_path / "beside.md").write_text("Beside the folder.")
    (bench.index_dir / "note.md").write_text("In the index.")
    (bench.docs / "a.md").read_text()
    assert follower.quiet()
    bench.write(".gitignore", "build/\n")  # but the rules themselves count
    follower.until(lambda: "run.log" in bench.names())


@pytest.mark.usefixtures("both")
def test_of_a_file_only_that_file(bench: Bench, following: Callable[..., Follower]) -> None:
    file = bench.write("a.md", "The copper key.")
    bench.write("b.md", "The iron key.")
    follower = following(file)
    assert bench.names() == ["a.md"]
    bench.write("b.md", "Edited.")
    bench.write("c.md", "New.")
    assert follower.quiet()
    file.unlink()
    follower.until(lambda: bench.names() == [])
    bench.write("a.md", "There again.")
    follower.until(lambda: bench.names() == ["a.md"])


@pytest.mark.skipif(os.name != "posix", reason="paths are bytes on POSIX only")
def test_names_that_are_not_utf8(bench: Bench, following: Callable[..., Follower]) -> None:
    bench.write("a.md", "The copper key.")
    follower = following()
    odd = bench.docs / os.fsdecode(b"b\xff.md")
    odd.write_text("The iron key.")
    follower.until(lambda: len(bench.names()) == 2)
    assert not follower.said
    odd.write_text("The golden key.")
    follower.until(lambda: bench.found("golden")[0] == odd.name)
    folder = bench.docs / os.fsdecode(b"\xff")
    folder.mkdir()
    (folder / "c.md").write_text("The tin key.")
    follower.until(lambda: len(bench.names()) == 3)
    assert follower.said == [
        "a folder's name is not UTF-8: the files are looked at again and again instead"
    ]


def test_a_reason_for_polling(
    bench: Bench, following: Callable[..., Follower], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object, **__: object) -> Iterator[set[object]]:
        raise OSError("OS file watch limit reached. about [...]")
        yield set()

    monkeypatch.setattr("watchfiles.watch", no_more)
    monkeypatch.setattr(watch, "POLL_S", 0.05)
    bench.write("a.md", "The copper key.")
    follower = following()
    assert len(follower.said) == 1
    assert "fs.inotify.max_user_watches) is reached: the files are" in follower.said[0]
    bench.write("b.md", "The iron key.")
    follower.until(follower.agrees)
    assert len(follower.said) == 1


def test_an_index_that_is_gone_is_not_made_again(
    bench: Bench, following: Callable[..., Follower]
) -> None:
    bench.write("a.md", "The copper key.")
    follower = following()
    shutil.rmtree(bench.index_dir)
    with pytest.raises(IndexMissing):
        follower.round()
    assert not bench.index_dir.exists()


NAMES = st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z/c.md"])
FOLDERS = st.sampled_from(["x", "x/y", "z"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.integers(0, 99)),
    st.tuples(st.just("remove"), st.one_of(NAMES, FOLDERS), st.none()),
    st.tuples(st.just("rename"), FOLDERS, FOLDERS),
    st.tuples(st.just("round"), st.none(), st.none()),
)


def change(bench: Bench, step: tuple[str, str, object]) -> None:
    kind, name, other = step
    path = bench.docs / name
    if kind == "write" and not any(parent.is_file() for parent in path.parents):
        bench.write(name, f"Number {other} of {name}.")
    elif kind == "remove":
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    elif kind == "rename" and path.is_dir() and not str(other).startswith(name):
        target = bench.docs / str(other)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            path.rename(target)


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=6, deadline=None)
def test_whatever_happens_the_index_follows(steps: list[tuple[str, str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        follower = Follower(bench)
        with follower.watcher:
            for step in steps:
                if step[0] == "round":
                    follower.round()
                else:
                    change(bench, step)
            follower.until(follower.agrees)
