"""An index before an action that writes it, and what may be found there after a fault."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import IndexMissing
from ragcli.index.reader import Reader
from ragcli.index.update import forget, update
from ragcli.index.writer import Writer

from .conftest import Bench
from .faulty import with_lists

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
