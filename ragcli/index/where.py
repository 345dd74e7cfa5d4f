"""Restricting a search to some documents: `--in GLOB`, `--type T`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError


@dataclass(frozen=True, slots=True)
class Where:
    """Which documents take part; empty means all.

    globs: patterns as in a .gitignore ("docs/", "*.md", "a/**/b.txt"), relative to a
    document's root, to the folder that holds the index or to the working directory, or absolute. A document must
    match one of them, and none that starts with "!".
    kinds: kinds of documents ("pdf", "markdown") or file name endings ("md").
    """

    globs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.globs or self.kinds)


EVERYWHERE = Where()

Candidate = tuple[int, Path, str, str]  # id, root, relative path, kind


def matching(where: Where, candidates: Iterable[Candidate], base: Path) -> list[int]:
    """Ids of the documents that `where` lets in. Raises UsageError for a bad pattern.

    base: the folder that holds the index.
    """
    kinds = {kind.lower().lstrip(".") for kind in where.kinds}
    wanted = _compile([glob for glob in where.globs if not glob.startswith("!")])
    unwanted = _compile([glob[1:] for glob in where.globs if glob.startswith("!")])
    bases = {base, Path.cwd()}
    out = []
    for id, root, relative, kind in candidates:
        if kinds and kind not in kinds and Path(relative).suffix.lower().lstrip(".") not in kinds:
            continue
        names = _spellings(root, relative, bases)
        if (wanted is None or wanted(names)) and not (unwanted and unwanted(names)):
            out.append(id)
    return out


def _spellings(root: Path, relative: str, bases: Iterable[Path]) -> list[str]:
    """The path as patterns may mean it: from the root, from one of the bases, absolute."""
    path = root / relative
    names = [relative, os.fspath(path)]
    names += [os.fspath(path.relative_to(base)) for base in bases if path.is_relative_to(base)]
    return [_composed(name) for name in names]


def _compile(globs: Sequence[str]) -> Callable[[list[str]], bool] | None:
    """Whether one of some spellings matches; None for no patterns."""
    if not globs:
        return None
    import pathspec

    patterns = [_composed(glob.removeprefix("./")) for glob in globs]
    try:
        spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise UsageError(f"not a pattern: {error}") from error
    return lambda names: any(spec.match_file(name) for name in names)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
