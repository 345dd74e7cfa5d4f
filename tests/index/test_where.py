"""--in GLOB and --type T."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from ragcli.errors import UsageError
from ragcli.index.where import Where, matching

BASE = Path("/home/me")
ROOT = BASE / "docs"
FILES = [
    "a.md",
    "notes/b.md",
    "notes/deep/c.txt",
    "n/Gr\u00f6\u00dfe.md",
    "n/Gro\u0308\u00dfe.txt",
    "log.pdf",
]
KINDS = ["markdown", "markdown", "text", "markdown", "text", "pdf"]

TABLE = [
    ((), (), set(FILES)),
    (("*.md",), (), {"a.md", "notes/b.md", "n/Gr\u00f6\u00dfe.md"}),
    (("notes",), (), {"notes/b.md", "notes/deep/c.txt"}),
    (("notes/",), (), {"notes/b.md", "notes/deep/c.txt"}),
    (("notes/**/*.txt",), (), {"notes/deep/c.txt"}),
    (("notes/*.md",), (), {"notes/b.md"}),
    (("./notes/*.md",), (), {"notes/b.md"}),
    (("/home/me/docs/notes",), (), {"notes/b.md", "notes/deep/c.txt"}),
    (("/home/me/docs/n*/*.md",), (), {"notes/b.md", "n/Gr\u00f6\u00dfe.md"}),
    (("docs/notes/",), (), {"notes/b.md", "notes/deep/c.txt"}),
    (("docs",), (), set(FILES)),
    (("/a.md",), (), {"a.md"}),
    (("!*.md",), (), {"notes/deep/c.txt", "n/Gro\u0308\u00dfe.txt", "log.pdf"}),
    (("*.md", "!a.md"), (), {"notes/b.md", "n/Gr\u00f6\u00dfe.md"}),
    (("Gr\u00f6\u00dfe.*",), (), {"n/Gr\u00f6\u00dfe.md", "n/Gro\u0308\u00dfe.txt"}),
    (("Gro\u0308\u00dfe.*",), (), {"n/Gr\u00f6\u00dfe.md", "n/Gro\u0308\u00dfe.txt"}),
    ((), ("pdf",), {"log.pdf"}),
    ((), ("PDF", ".md"), {"log.pdf", "a.md", "notes/b.md", "n/Gr\u00f6\u00dfe.md"}),
    (("notes",), ("text",), {"notes/deep/c.txt"}),
    (("nowhere",), (), set()),
    ((), ("docx",), set()),
]  # fmt: skip


@pytest.mark.parametrize(("globs", "kinds", "expected"), TABLE)
def test_matching(globs: tuple[str, ...], kinds: tuple[str, ...], expected: set[str]) -> None:
    candidates = [(n, ROOT, f, k) for n, (f, k) in enumerate(zip(FILES, KINDS, strict=True))]
    assert {FILES[n] for n in matching(Where(globs, kinds), candidates, BASE)} == expected


def test_names_that_are_not_utf8() -> None:
    name = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    assert matching(Where(globs=("*.md",)), [(1, ROOT, name, "markdown")], BASE) == [1]


@pytest.mark.parametrize("glob", ["", "!", "[", "***", "a\nb", "\\", "/"])
def test_odd_patterns_match_nothing_or_are_a_usage_error(glob: str) -> None:
    with suppress(UsageError):
        assert matching(Where(globs=(glob,)), [(1, ROOT, "b/c.txt", "text")], BASE) in ([], [1])


def test_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a shell completes in a folder below the root means the same file."""
    here = tmp_path / "docs" / "notes"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    candidates = [(1, tmp_path, "docs/notes/deep/c.txt", "text"), (2, tmp_path, "a.txt", "text")]
    assert matching(Where(globs=("deep/*.txt",)), candidates, tmp_path) == [1]
