"""Rules of .gitignore and .ragcliignore files, nested as in git."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import PathSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

NAMES = (".gitignore", ".ragcliignore")
_LIMIT = 1 << 20  # bytes of rules read from one file


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of one folder; `base` is its path relative to the root, "" or "a/b/"."""

    base: str
    spec: PathSpec[GitIgnoreSpecPattern]


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What is ignored below one folder: rules of it and of its parents up to the root.

    Within a kind of file the last matching rule of the deepest folder decides, as in
    git. .ragcliignore is stronger: where it has a matching rule, .gitignore is not asked.
    """

    git: tuple[_Rules, ...] = ()
    own: tuple[_Rules, ...] = ()

    @staticmethod
    def start(excludes: Sequence[str] = ()) -> IgnoreRules:
        """Rules from the command line, strongest of all, relative to the root."""
        if not excludes:
            return IgnoreRules()
        return IgnoreRules(own=(_Rules("", _spec(excludes)),))

    def below(self, folder: Path, base: str) -> IgnoreRules:
        """These rules with the ones `folder` holds; unreadable rule files count as empty."""
        git, own = (_read(folder / name, base) for name in NAMES)
        if git is None and own is None:
            return self
        return IgnoreRules(
            self.git if git is None else (*self.git, git),
            self.own if own is None else (*self.own, own),
        )

    def ignores(self, relative: str, *, folder: bool) -> bool:
        """Whether a path relative to the root (POSIX separators) is ignored."""
        path = relative + "/" if folder else relative
        for rules in (self.own, self.git):
            verdict = _verdict(rules, path)
            if verdict is not None:
                return verdict
        return False


def _spec(lines: Sequence[str]) -> PathSpec[GitIgnoreSpecPattern]:
    """Rules that can be read; one that is no pattern is left out, as git does."""
    patterns = []
    for line in lines:
        try:
            patterns.append(GitIgnoreSpecPattern(line))
        except ValueError:
            continue
    return PathSpec(patterns)


def _read(path: Path, base: str) -> _Rules | None:
    try:
        with path.open("rb") as file:
            lines = file.read(_LIMIT).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    return _Rules(base, _spec(lines))


def _verdict(rules: tuple[_Rules, ...], path: str) -> bool | None:
    for one in reversed(rules):
        if path.startswith(one.base):
            found = one.spec.check_file(path[len(one.base) :]).include
            if found is not None:
                return found
    return None
