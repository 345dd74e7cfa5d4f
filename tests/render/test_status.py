"""`ragcli status` stays short, however many files there are."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from ragcli.index.freshness import Freshness
from ragcli.index.records import FileRecord
from ragcli.index.status import IndexStatus
from ragcli.render.status import GROUPS, View, print_status, status_document, unread
from ragcli.render.terminal import Printer
from ragcli.schemas import load
from ragcli.types import FileStatus

STATUS = IndexStatus(
    index_dir=Path("/docs/.ragcli"), generation=3, schema=3, updated="2026-01-02T03:04:05Z",
    encoder={"name": "mini", "sha256": "ab", "dimension": 384, "max_tokens": 256, "languages": "en"},
    analyzer="1", chunking="1", roots=(Path("/docs"),), files={"indexed": 2, "failed": 1},
    kinds={"markdown": 2}, languages={"en": 2}, passages=5, vectors=5, size_bytes=1234,
    dense_tier="flat", missing_pages=0,
)  # fmt: skip


def record(name: str, status: FileStatus = FileStatus.FAILED, reason: str = "") -> FileRecord:
    return FileRecord(
        path=Path("/docs") / name, relative=name, status=status, reason=reason, size=10,
        mtime_ns=0, kind="", length=0, passages=0, page_starts=(), missing_pages=(), notes=(),
        document=None,
    )  # fmt: skip


def lines(view: View, *, width: int = 0) -> list[str]:
    out = io.StringIO()
    print_status(Printer(out, styled=width > 0, colorless=True, width=width or 80), view)
    return out.getvalue().splitlines()


def failing(number: int, reasons: int) -> list[FileRecord]:
    return [record(f"{n}.pdf", reason=f"reason {n % reasons}") for n in range(number)]


@pytest.mark.parametrize(
    ("number", "reasons", "told"),
    [(0, 1, 0), (1, 1, 1), (GROUPS, 3, GROUPS), (50, 3, 3), (10_000, 7, 7), (10_000, 900, 21)],
)
def test_failures_by_file_while_they_are_few_then_by_reason(
    number: int, reasons: int, told: int
) -> None:
    said = lines(View(STATUS, Freshness(), failing(number, reasons)))
    assert len(said) == 11 + told
    if number > GROUPS:
        assert said[11].startswith("failed   ")
        assert "files: reason 0 (/docs/0.pdf, " in said[11]
    if reasons > GROUPS:
        assert said[-1].endswith("files more; --files lists all")


def test_with_files_all_are_listed() -> None:
    files = failing(50, 3)
    assert len(lines(View(STATUS, Freshness(), files, listed=True))) == 11 + 50
    assert len(status_document(View(STATUS, Freshness(), files, listed=True))["files"]) == 50
    assert "files" not in status_document(View(STATUS, Freshness(), files))


def test_what_changed_since() -> None:
    paths = tuple(Path(f"/docs/{n}.md") for n in range(4))
    fresh = Freshness(new=paths, changed=paths[:1], deleted=(), unsure=2)
    row = next(line for line in lines(View(STATUS, fresh, ())) if line.startswith("since"))
    assert row == (
        "since      4 new (/docs/0.md, /docs/1.md, /docs/2.md, …), 1 changed (/docs/0.md), "
        "2 not compared; `ragcli index` brings them up to date"
    )
    document = status_document(
        View(STATUS, fresh, [record("0.md", FileStatus.INDEXED)], listed=True)
    )
    jsonschema.Draft202012Validator(load("status@1")).validate(json.loads(json.dumps(document)))
    assert document["changes"] == {"new": 4, "changed": 1, "deleted": 0, "unsure": 2}
    assert document["files"][0]["stale"] is True


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_terminal_is_never_wider_than_it_is(width: int) -> None:
    files = [record("a" * 300, reason="b" * 300), *failing(30, 2)]
    for line in lines(
        View(STATUS, Freshness(new=(Path("/docs/" + "c" * 90),)), files), width=width
    ):
        assert len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= width


def test_names_and_reasons_are_safe() -> None:
    said = "\n".join(
        lines(View(STATUS, Freshness(), [record("\x1b[31m\n.pdf", reason="\x1b]0;x\x07")]))
    )
    assert "\x1b" not in said
    assert "\x07" not in said


def test_an_index_before_its_first_commit() -> None:
    empty = replace(STATUS, encoder={}, files={}, kinds={}, languages={}, roots=(), updated="")
    text = "\n".join(lines(View(empty, Freshness(), ())))
    assert "encoder    none yet" in text
    assert "folders    none" in text
    assert "updated    never" in text
    jsonschema.Draft202012Validator(load("status@1")).validate(
        status_document(View(empty, Freshness(), ()))
    )


def test_unread() -> None:
    files = [record("a"), record("b", FileStatus.PARTIAL), record("c", FileStatus.SKIPPED)]
    assert [one.relative for one in unread(files)] == ["a", "b"]
