"""`ragcli eval report`, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.harness import invoke
from ragcli.evaluate.store import Store

PREFIX = "<!DOCTYPE html>"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    row = {
        "key": "k", "arm": "plain", "question_id": "1", "question": "Who kept it?",
        "answer": "Mira", "scores": {"em": 1.0, "f1": 1.0, "seconds": 2.0}, "verifier": "lexical",
    }  # fmt: skip
    with Store(tmp_path / "run") as store:
        store.add(row)
    return tmp_path / "run"


def test_a_page_is_written_beside_the_rows(kept: Path) -> None:
    done = invoke("eval", "report", str(kept))
    assert (done.code, done.out, done.err) == (0, f"{kept / 'report.html'}\n", "")
    text = (kept / "report.html").read_text("utf-8")
    assert text.startswith(PREFIX)
    assert "Who kept it?" in text


def test_out_and_json(kept: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    document = invoke("eval", "report", str(kept), "--out", str(file), "--json").json("report@1")
    assert document == {
        "schema": "ragcli/report@1", "path": str(file), "questions": 1, "arms": ["plain"],
        "bytes": file.stat().st_size,
    }  # fmt: skip
    assert file.read_text("utf-8").startswith(PREFIX)
    assert not (kept / "report.html").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["page.html", "run"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["missing"], "no such folder"),
        (["empty"], "no rows of `ragcli eval run`"),
        (["other"], "rows of another kind"),
        (["run", "--out", "empty"], "cannot write empty: it is a folder"),
        (["run", "--out", "nowhere/page.html"], "cannot write nowhere/page.html"),
    ],
)
def test_errors_are_one_line(
    argv: list[str], message: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "rows.jsonl").write_text(json.dumps({"key": "a", "kr": 1.0}) + "\n")
    done = invoke("eval", "report", *argv)
    assert done.code == 2
    assert message in done.err.splitlines()[0]
    assert len(done.err.splitlines()) <= 2
    assert done.out == ""
