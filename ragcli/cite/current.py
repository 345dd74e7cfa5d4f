"""Files as they are now: what a cited file holds today, and where it went if it is not there.

Paths come from a saved answer, so nothing is opened that is no regular file below its root,
and files are read by the loaders' worker processes, with their limits.
"""

from __future__ import annotations

import os
import stat
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from ragcli.cite.standing import Sentences, comparable
from ragcli.errors import RagcliError
from ragcli.index.lookup import paths_of
from ragcli.index.scan import HASH_AT_MOST, file_hash
from ragcli.sources.load import Extractor, Parsed
from ragcli.sources.walk import walk
from ragcli.text.lines import LineIndex
from ragcli.text.passages import section_name
from ragcli.types import Extracted, FileEntry, FileStatus, Span

WALKED_AT_MOST = 200_000  # files looked at when a file is searched for, in at most
WALK_SECONDS = 30.0  # and
HASHED_AT_MOST = 2 << 30  # bytes of them that are hashed
# Files that are none: reading them can block, or does something.
_SYSTEM = tuple(map(Path, ("/dev", "/proc", "/sys")))
SAME_NAME_AT_MOST = 20  # files of the same name whose text is looked into


@dataclass(frozen=True, slots=True)
class Spot:
    """A file to be read: `path` must lie below `root`, links followed."""

    path: Path
    root: Path


@dataclass(frozen=True)
class Now:
    """A file as it is now. Lone surrogates of its text are U+FFFD, as in JSON."""

    spot: Spot
    sha256: str
    extracted: Extracted
    sentences: tuple[Span, ...]

    @cached_property
    def text(self) -> str:
        return comparable(self.extracted.text)

    @cached_property
    def by_words(self) -> Sentences:
        return Sentences(self.text, self.sentences)

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self.extracted.text)

    def line(self, offset: int) -> int:
        return self._lines.line(offset)

    def page(self, offset: int) -> int | None:
        starts = self.extracted.page_starts
        return max(1, bisect_right(starts, offset)) if starts else None

    def place(self, offset: int) -> str:
        """ "slide 3", "Budget!A5"; "" for formats that need none."""
        places = self.extracted.places
        at = bisect_right(places, offset, key=lambda place: place[0]) - 1
        return places[at][1] if at >= 0 else ""

    def headings(self, offset: int) -> tuple[str, ...]:
        """Headings that the text at `offset` stands under, outermost first."""
        stack: list[tuple[int, str]] = []
        for block in self.extracted.blocks:
            if block.start > offset:
                break
            if block.level or block.kind == "heading":
                while stack and stack[-1][0] >= block.level:
                    stack.pop()
                stack.append((block.level, section_name(self.extracted.text, block)))
        return tuple(name for _, name in stack if name)


@dataclass(frozen=True, slots=True)
class Gone:
    """There is nothing to read. there: a file is at the place, but it holds no text."""

    reason: str
    there: bool = False


def barred(spot: Spot) -> Gone | None:
    """Why a file is not opened, None where it may be: a regular file below its root."""
    try:
        info = spot.path.stat()
        real, root = spot.path.resolve(), spot.root.resolve()
    except OSError as error:
        return Gone((error.strerror or "cannot be found").lower())
    except ValueError:
        return Gone("not a path")
    if not real.is_relative_to(root):
        return Gone("it leads out of its root")
    if _system(real) or not stat.S_ISREG(info.st_mode):
        return Gone("not a regular file")
    return None


def _system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def read(spots: Sequence[Spot], workers: int) -> Iterator[Now | Gone]:
    """The files, in order. One at a time is held, whatever they are."""
    found = [barred(spot) for spot in spots]
    entries = [
        FileEntry(spot.path.parent, spot.path.name, _size(spot.path), 0)
        for spot, gone in zip(spots, found, strict=True)
        if gone is None
    ]
    if not entries:
        yield from (gone for gone in found if gone is not None)
        return
    with Extractor(workers=max(1, min(workers, len(entries)))) as extractor:
        results = extractor.run(entries)
        for spot, gone in zip(spots, found, strict=True):
            if gone is not None:
                yield gone
                continue
            result = next(results)
            if isinstance(result, Parsed):
                yield Now(spot, result.sha256, result.extracted, result.sentences)
            else:
                there = result.status is FileStatus.SKIPPED or _readable(spot.path)
                yield Gone(result.reason, there)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK)


class Search:
    """Looks for files that are not where they were: in an index, then below the roots.

    confined: what the index knows elsewhere does not count. warn: told, in words for people,
    where the search was cut short.
    """

    def __init__(
        self,
        roots: Iterable[Path],
        index_dir: Path | None,
        warn: Callable[[str], None],
        *,
        confined: bool,
    ) -> None:
        self._roots = list(dict.fromkeys(Path(os.path.abspath(root)) for root in roots))  # noqa: PTH100 - keeps links
        self._index_dir = index_dir
        self._warn = warn
        self._confined = confined
        self._hashed: dict[Path, str] = {}
        self._left = HASHED_AT_MOST

    @cached_property
    def _files(self) -> list[tuple[Spot, int]]:
        """Every file below the roots, as far as ragcli would index it."""
        files: list[tuple[Spot, int]] = []
        end = time.monotonic() + WALK_SECONDS
        for entry, root in self._entries():
            if len(files) >= WALKED_AT_MOST or time.monotonic() > end:
                self._warn(f"only the first {len(files):,} files were looked at")
                break
            files.append((Spot(entry.path, root), entry.size))
        return files

    def _entries(self) -> Iterator[tuple[FileEntry, Path]]:
        for root in self._roots:
            if root.is_dir() and not _system(root.resolve()):
                for found in walk([root]):
                    if isinstance(found, FileEntry) and found.size and not _system(found.path):
                        yield found, root

    def of_content(self, sha256: str, name: str) -> Spot | None:
        """A file with this content: files of the same name or suffix are tried first."""
        for path in self._indexed(sha256):
            root = next((root for root in self._roots if path.is_relative_to(root)), None)
            if root is None and self._confined:
                continue
            spot = Spot(path, root or path.parent)
            if barred(spot) is None and self._hash(path, _size(path)) == sha256:
                return spot
        suffix = Path(name).suffix
        ranked = sorted(
            self._files,
            key=lambda one: (one[0].path.name != name, one[0].path.suffix != suffix),
        )
        for spot, size in ranked:
            if self._hash(spot.path, size) == sha256 and barred(spot) is None:
                return spot
        return None

    def of_name(self, name: str) -> list[Spot]:
        """Files of this name below the roots."""
        found = (spot for spot, _ in self._files if spot.path.name == name)
        return list(islice(found, SAME_NAME_AT_MOST))

    def _indexed(self, sha256: str) -> list[Path]:
        """Where the index saw this content."""
        if self._index_dir is None:
            return []
        try:
            return paths_of(self._index_dir, sha256)
        except RagcliError as error:
            self._warn(f"the index was not asked: {error.message}")
            self._index_dir = None
            return []

    def _hash(self, path: Path, size: int) -> str:
        """The file's hash, "" where it is not worked out: too large, or too much in all."""
        if path not in self._hashed:
            if size > min(HASH_AT_MOST, self._left):
                self._warn("not every file was compared: there is too much to read")
                return ""
            self._left -= size
            self._hashed[path] = file_hash(path)
        return self._hashed[path]
