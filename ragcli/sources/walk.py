"""Finding files: sorted, each once, nothing outside the roots.

Symbolic links below a root are never followed: a link that stays inside points at
something seen anyway, one that leads out would bring in files nobody asked for, so
neither loops nor doubles can happen. Links are not counted as files. A path given
as an argument may itself be a link: then it was asked for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError
from ragcli.events import FileDone
from ragcli.paths import INDEX_DIR, shown
from ragcli.sources.ignore import IgnoreRules
from ragcli.sources.nodes import special
from ragcli.types import FileEntry, FileStatus

Found = FileEntry | FileDone


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that a walk enters. rules: what is ignored in it; inode: (device, inode)."""

    root: Path
    base: str  # relative to the root, "" or "a/b/"
    rules: IgnoreRules
    inode: tuple[int, int]

    @property
    def path(self) -> Path:
        return self.root / self.base

    def passes(self, name: str, *, folder: bool) -> bool:
        """Whether a walk looks at this entry, if it is no link."""
        hidden = name.startswith(".")
        return not hidden and not self.rules.ignores(self.base + name, folder=folder)


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _file(root: Path, relative: str, info: os.stat_result) -> Found:
    path = root / relative
    if name := special(info.st_mode):
        return FileDone(path, FileStatus.SKIPPED, f"{name}, not a file")
    if not os.access(path, os.R_OK):
        return FileDone(path, FileStatus.FAILED, "permission denied", info.st_size)
    return FileEntry(root, relative, info.st_size, info.st_mtime_ns)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: os.fsencode(entry.name))


class _Walker:
    """folders: instead of files it lists where it has been."""

    def __init__(self, folders: list[Folder] | None = None) -> None:
        self.seen: set[tuple[int, int]] = set()  # (device, inode) of folders and argument files
        self.given: set[str] = set()
        self.folders = folders

    def folder(self, root: Path, base: str, rules: IgnoreRules) -> Iterator[Found]:
        """Everything below root/base, depth first, files and folders in one order."""
        stack = [iter(self._list(root, base, rules))]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
            elif isinstance(found, tuple):
                stack.append(iter(self._list(root, *found)))
            else:
                yield found

    def _list(
        self, root: Path, base: str, rules: IgnoreRules
    ) -> Iterator[Found | tuple[str, IgnoreRules]]:
        """Files of one folder, and its sub-folders as (base, rules) still to be listed."""
        folder = root / base if base else root
        try:
            place = self._new_place(folder, below=bool(base))
            if place is None:
                return
            entries = _entries(folder)
        except FileNotFoundError:
            return  # gone since its parent was listed
        except OSError as error:
            yield FileDone(folder, FileStatus.FAILED, f"folder: {_why(error)}")
            return
        rules = rules.below(folder, base)
        if self.folders is not None:
            self.folders.append(Folder(root, base, rules, place))
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            relative = base + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules.ignores(relative, folder=is_folder):
                continue
            if is_folder:
                yield relative + "/", rules
            elif self.folders is None:
                yield from self._entry(root, relative, entry)

    def _new_place(self, folder: Path, *, below: bool) -> tuple[int, int] | None:
        """(device, inode) of a folder not met before; of one that became a link, None."""
        info = folder.lstat() if below else folder.stat()
        place = (info.st_dev, info.st_ino)
        if place in self.seen or (below and not stat.S_ISDIR(info.st_mode)):
            return None
        self.seen.add(place)
        return place

    def _entry(self, root: Path, relative: str, entry: os.DirEntry[str]) -> Iterator[Found]:
        if self.given and os.path.realpath(entry.path) in self.given:
            return  # named as an argument of its own before
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # gone since the folder was listed
        except OSError as error:
            yield FileDone(root / relative, FileStatus.FAILED, _why(error))
            return
        yield _file(root, relative, info)

    def argument(self, path: Path, rules: IgnoreRules) -> Iterator[Found]:
        try:
            info = path.stat()
        except OSError as error:
            raise _no_such(path, error) from error
        absolute = path.absolute()
        absolute = Path(os.path.normpath(absolute))
        if stat.S_ISDIR(info.st_mode):
            yield from self.folder(absolute, "", rules)
            return
        real = os.path.realpath(absolute)
        if real in self.given or (info.st_dev, info.st_ino) in self.seen:
            return
        self.given.add(real)
        yield _file(absolute.parent, absolute.name, info)


def _no_such(path: Path, error: OSError) -> UsageError:
    if isinstance(error, FileNotFoundError):
        return UsageError(f"no such file or folder: {shown(path)}")
    return UsageError(f"cannot open {shown(path)}: {_why(error)}")


def walk(paths: Sequence[Path], *, excludes: Sequence[str] = ()) -> Iterator[Found]:
    """Files below `paths` in a fixed order: those to read, and those done with at once.

    A folder argument is its own root, a file argument has its folder as root; a file
    is seen once however often it is reached. Hidden files and folders (.git and
    .ragcli among them) and ignored ones are passed over and not counted; FIFOs,
    sockets, devices and unreadable files come as FileDone. `excludes` are patterns
    as in .gitignore. An ignored or hidden path named as an argument is read.

    Raises UsageError before anything is yielded if one of the paths does not exist.
    """
    for path in paths:
        try:
            path.stat()
        except OSError as error:
            raise _no_such(path, error) from error
        if path.name == INDEX_DIR:
            raise UsageError(f"{shown(path)} is an index, not documents")
    return _walk(paths, IgnoreRules.start(excludes))


def folders(paths: Sequence[Path], *, excludes: Sequence[str] = ()) -> list[Folder]:
    """The folders that `walk` enters; paths that do not exist or are files lead nowhere."""
    found: list[Folder] = []
    walker = _Walker(found)
    for path in paths:
        if path.is_dir():
            for _ in walker.argument(path, IgnoreRules.start(excludes)):
                pass  # a folder that cannot be listed
    return found


def _walk(paths: Sequence[Path], rules: IgnoreRules) -> Iterator[Found]:
    walker = _Walker()
    files = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()]
    for path in [*files, *folders]:
        yield from walker.argument(path, rules)
