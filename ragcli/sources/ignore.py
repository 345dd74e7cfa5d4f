"""Rules of .gitignore and .ragcliignore files, nested as in git."""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import PathSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

NAMES = (".gitignore", ".ragcliignore")
_LIMIT = 1 << 20  # bytes of rules read from one file
_MOST_RULES = 10_000  # of one file; each is tried on every path
_STAR = "[^/]*"  # what pathspec makes of a star
_ANY_DEPTH = 2  # places in a rule that stand for any number of folders; each is a loop
_NEGATED = re.compile(r"\[\^(?!/)")  # no set matches a slash; pathspec forgets it
_TOKEN = re.compile(r"\\.|\[\^?\]?[^\]]*\]|.", re.DOTALL)


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
    """Rules that can be read; one that is no pattern, or too costly, is left out."""
    patterns = []
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of odd sets
        for line in lines[:_MOST_RULES]:
            try:
                pattern = GitIgnoreSpecPattern(line)
            except ValueError:
                continue
            if _made_quick(pattern):
                patterns.append(pattern)
    return PathSpec(patterns)


def _made_quick(pattern: GitIgnoreSpecPattern) -> bool:
    """Whether a rule can be matched in bearable time; those with many stars are rewritten.

    Rules come with the documents: `*a*a*a*a*b` on a long name would take minutes.
    """
    if pattern.regex is None:  # a blank line or a comment
        return True
    text = pattern.regex.pattern
    if text.count("/.+") + text.count(".+/") > _ANY_DEPTH:
        return False
    if text.count(_STAR) > 1:
        pattern.regex = re.compile(_without_backtracking(text))
    return True


def _without_backtracking(regex: str) -> str:
    """The same language, each star but the last of a name bound to its first match.

    That is all a match needs: what a later start would leave to the rest of the name, an
    earlier one leaves too.
    """
    first, *rest = _NEGATED.sub("[^/", regex).split(_STAR)
    out = [first]
    for number, piece in enumerate(rest):
        last = number == len(rest) - 1 or not _within_a_name(piece)
        out.append(_STAR + piece if last else f"(?>{_STAR}?{piece})" if piece else "")
    return "".join(out)


def _within_a_name(piece: str) -> bool:
    return not {"/", "(", "$"} & set(_TOKEN.findall(piece))


def _read(path: Path, base: str) -> _Rules | None:
    """Opened without blocking: it may be a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
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
