"""What changed on disk since the catalog was written: a stat a file, one query in all."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragcli.errors import IndexUnusable, UsageError
from ragcli.events import FileDone
from ragcli.index.catalog import Catalog
from ragcli.index.schema import REBUILD
from ragcli.index.settled import marked, settled, stored
from ragcli.index.writer import Stamp
from ragcli.paths import shown
from ragcli.types import FileEntry, FileStatus

HASH_AT_MOST = 256 << 20  # a larger file whose stamp changed is read anew without comparing

_STATUS = {status.value: status for status in FileStatus}
INDEXED = (FileStatus.INDEXED, FileStatus.PARTIAL)


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the catalog has it. `place` is its absolute path in bytes."""

    place: bytes
    id: int
    stamp: Stamp
    status: FileStatus
    reason: str
    sha256: str

    @property
    def path(self) -> Path:
        return Path(os.fsdecode(self.place))


@dataclass(frozen=True, slots=True)
class Work:
    """A file to be read. `known` is its row in the catalog, if it has one.

    seen_ns: the time just before `stamp` was taken. sha256: of the content before it is read
    for the index, where the stamp cannot be trusted ("" elsewhere).
    """

    entry: FileEntry
    root: Path
    relative: str
    stamp: Stamp
    known: Known | None
    seen_ns: int
    sha256: str = ""

    @property
    def stored(self) -> Stamp:
        """The stamp as it goes into the catalog."""
        return stored(self.stamp, self.seen_ns)


@dataclass(slots=True)
class Plan:
    """What a run has to do. Every file found is counted in exactly one of
    work, unchanged, known_bad and skipped.

    doubtful: places in `work` of files that a stat cannot judge; `comparing.compare` reads
    them and leaves in `work` only what changed. hidden: how many of those changed under a stamp that
    did not. touched: files with the content that is known, and the stamp to store.
    """

    work: list[Work] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    unchanged: int = 0
    hidden: int = 0
    touched: list[tuple[Known, Stamp]] = field(default_factory=list)
    known_bad: list[FileDone] = field(default_factory=list)
    skipped: list[tuple[FileDone, Path, str, Known | None]] = field(default_factory=list)
    removed: list[Known] = field(default_factory=list)
    absorbed: list[tuple[Path, Path]] = field(default_factory=list)  # root, the root it is now in

    @property
    def found(self) -> int:
        still = self.unchanged + len(self.known_bad)
        return still + len(self.work) + len(self.skipped)

    def keep(self, work: Work) -> None:
        """The file is what the catalog holds."""
        known = work.known
        assert known is not None
        if known.status in INDEXED:
            self.unchanged += 1
        else:
            size = work.stamp.size
            self.known_bad.append(FileDone(work.entry.path, known.status, known.reason, size))


Walk = Callable[[Sequence[Path]], Iterable[FileEntry | FileDone]]


def scan(
    catalog: Catalog,
    paths: Sequence[Path],
    walk: Walk,
    *,
    everything: bool = False,
    verify: bool = False,
) -> Plan:
    """Walks `paths` and compares the files' stamps with the catalog; `comparing.compare` does the rest.

    everything: read each file again, those of the catalog outside `paths` included.
    verify: trust no stamp. Raises UsageError for a path that neither exists nor is known.
    """
    found = _Scan(catalog, everything, verify)
    return found.run([Path(os.path.realpath(p)) for p in paths], walk)


def known_under(catalog: Catalog, path: Path) -> list[Known]:
    """Files of the catalog that are `path` or lie below it, whether they exist or not."""
    known = _load(catalog)
    return [row for place, row in known.items() if _within(place, [os.fsencode(path)])]


class _Scan:
    def __init__(self, catalog: Catalog, everything: bool, verify: bool) -> None:
        self.roots = [root.path for root in catalog.roots().values()]
        self.known = _load(catalog)
        self.everything = everything
        self.verify = verify
        self.plan = Plan()
        self.seen: set[bytes] = set()
        self.unread: list[bytes] = []  # folders that could not be listed: nothing is known of them
        self.outer: dict[Path, tuple[Path, str]] = {}

    def run(self, paths: Sequence[Path], walk: Walk) -> Plan:
        present = [path for path in paths if os.path.lexists(path)]
        for path in paths:
            if path not in present and not self._was_known(path):
                raise UsageError(f"no such file or folder: {shown(path)}")
        self.roots += [path if path.is_dir() else path.parent for path in present]
        for found in walk(present) if present else ():
            self._take(found)
        if self.everything:
            self._take_the_rest()
        self._find_removed([os.fsencode(path) for path in paths])
        self._find_absorbed()
        return self.plan

    def _was_known(self, path: Path) -> bool:
        return any(_within(place, [os.fsencode(path)]) for place in self.known)

    def _take(self, found: FileEntry | FileDone) -> None:
        place = os.fsencode(found.path)
        if place in self.seen:
            return
        self.seen.add(place)
        if isinstance(found, FileDone):
            self._take_skipped(found, place)
            return
        now = time.time_ns()
        try:
            stamp = Stamp.of(os.stat(found.path))  # noqa: PTH116 - one call, no Path in between
        except OSError:
            stamp = Stamp(found.size, 0, 0)  # gone since: reading it will say so
        root, prefix = self._outermost(found.root)
        known = self.known.get(place)
        self._compare(Work(found, root, prefix + found.relative, stamp, known, now))

    def _compare(self, work: Work) -> None:
        known = work.known
        if known is not None and not self.everything:
            if self._is_settled(known, work):
                self.plan.keep(work)
                return
            if self._has_hash_to_compare(known, work):
                self.plan.doubtful.append(len(self.plan.work))
        self.plan.work.append(work)

    def _is_settled(self, known: Known, work: Work) -> bool:
        """Whether the stamp alone says that the file is what the catalog holds."""
        if known.stamp != work.stamp or self.verify:
            return False
        return not known.sha256 or settled(work.stamp.mtime_ns, work.seen_ns)

    def _has_hash_to_compare(self, known: Known, work: Work) -> bool:
        """Whether the content decides. What could not be read is tried again once touched."""
        if not known.sha256 or known.stamp.size != work.stamp.size:
            return False
        same_times = known.stamp in (work.stamp, marked(work.stamp))
        small = work.stamp.size <= HASH_AT_MOST or self.verify
        return small and (known.status in INDEXED or same_times)

    def _take_skipped(self, done: FileDone, place: bytes) -> None:
        root, prefix = self._outermost(self._root_over(done.path))
        inner = done.path.relative_to(self._root_over(done.path)).as_posix()
        self.plan.skipped.append((done, root, prefix + inner, self.known.get(place)))
        if done.status is FileStatus.FAILED:
            self.unread.append(place)

    def _root_over(self, path: Path) -> Path:
        over = [root for root in self.roots if path != root and path.is_relative_to(root)]
        return max(over, key=lambda root: len(root.parts), default=path.parent)

    def _outermost(self, root: Path) -> tuple[Path, str]:
        """The widest known root that holds `root`, and the way from there ("a/b/")."""
        if root not in self.outer:
            over = [other for other in self.roots if root.is_relative_to(other)]
            widest = min(over, key=lambda other: len(other.parts), default=root)
            inner = root.relative_to(widest).as_posix()
            self.outer[root] = (widest, "" if inner == "." else inner + "/")
        return self.outer[root]

    def _take_the_rest(self) -> None:
        """Files of the catalog that the walk did not meet and that still exist."""
        for place in self.known:
            path = Path(os.fsdecode(place))
            if place in self.seen or not path.is_file():
                continue
            root = self._root_over(path)
            stat = path.stat()
            relative = path.relative_to(root).as_posix()
            self._take(FileEntry(root, relative, stat.st_size, stat.st_mtime_ns))

    def _find_removed(self, covered: list[bytes]) -> None:
        for place, known in self.known.items():
            if place in self.seen or not _within(place, covered) or _within(place, self.unread):
                continue
            self.plan.removed.append(known)

    def _find_absorbed(self) -> None:
        for root in self.roots:
            widest, prefix = self._outermost(root)
            if prefix and (root, widest) not in self.plan.absorbed:
                self.plan.absorbed.append((root, widest))


def _load(catalog: Catalog) -> dict[bytes, Known]:
    """Every file of the catalog by its absolute path."""
    prefixes = {
        id: os.fsencode(root.path).rstrip(b"/") + b"/" for id, root in catalog.roots().items()
    }
    rows = catalog.connection.execute(
        "SELECT id, root_id, path, size, mtime_ns, ctime_ns, status, reason, sha256 FROM files"
    )
    try:
        return {
            (place := prefixes[root] + path): Known(
                place, id, Stamp(size, mtime, ctime), _STATUS[status], reason, sha256
            )
            for id, root, path, size, mtime, ctime, status, reason, sha256 in rows
        }
    except (KeyError, TypeError) as error:
        raise IndexUnusable("the catalog's files are damaged", hint=REBUILD) from error


def _within(place: bytes, folders: Iterable[bytes]) -> bool:
    return any(
        place == folder or place.startswith(folder.rstrip(b"/") + b"/") for folder in folders
    )


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hexadecimal; "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
