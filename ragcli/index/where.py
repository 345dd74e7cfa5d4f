"""Restricting a search to some documents: `--in GLOB`, `--type T`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError


@dataclass(frozen=True, slots=True)
class Where:
    """Which documents take part; empty means all.

    globs: patterns as in a .gitignore, relative to a document's root ("docs/", "*.md",
    "a/**/b.txt", "!*.log"), or absolute; a document must match the last that speaks of it.
    kinds: kinds of documents ("pdf", "markdown") or file name endings ("md").
    """

    globs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.globs or self.kinds)


EVERYWHERE = Where()

Candidate = tuple[int, Path, str, str]  # id, root, relative path, kind


def matching(where: Where, candidates: Iterable[Candidate]) -> list[int]:
    """Ids of the documents that `where` lets in. Raises UsageError for a bad pattern."""
    tests: dict[Path, Callable[[str], bool]] = {}
    kinds = {kind.lower().lstrip(".") for kind in where.kinds}
    out = []
    for id, root, relative, kind in candidates:
        if kinds and kind not in kinds and Path(relative).suffix.lower().lstrip(".") not in kinds:
            continue
        if where.globs:
            if root not in tests:
                tests[root] = _compile(where.globs, root)
            if not tests[root](_composed(relative)):
                continue
        out.append(id)
    return out


def _compile(globs: tuple[str, ...], root: Path) -> Callable[[str], bool]:
    import pathspec

    try:
        spec = pathspec.GitIgnoreSpec.from_lines([_local(_composed(g), root) for g in globs])
    except ValueError as error:
        raise UsageError(f"not a pattern: {error}") from error
    return spec.match_file


def _local(glob: str, root: Path) -> str:
    """A pattern as it reads from the root: absolute ones lose the root, "./" goes."""
    negated, pattern = glob.startswith("!"), glob.removeprefix("!")
    prefix = _composed(os.fspath(root)).rstrip("/") + "/"
    if pattern.startswith(prefix):
        pattern = "/" + pattern.removeprefix(prefix)
    pattern = pattern.removeprefix("./")
    return ("!" if negated else "") + pattern


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
