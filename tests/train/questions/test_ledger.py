"""The files: what a kill leaves, what is foreign, who may write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcli.errors import IndexLocked, UsageError
from ragcli.train.questions.ledger import Ledger


def pair(key: str) -> dict[str, object]:
    return {"id": key, "question": f"Who is {key}?", "answers": [key], "drafted": {"key": key}}


def failed(key: str, reason: str = "garbled") -> dict[str, object]:
    return {"key": key, "reason": reason, "question": "?"}


def test_what_was_tried_is_remembered(tmp_path: Path) -> None:
    file = tmp_path / "new" / "questions.jsonl"
    with Ledger(file) as ledger:
        ledger.keep(pair("a"))
        ledger.drop(failed("b"))
        ledger.drop(failed("c", "invented"))
        assert ledger.outcome("a") == ""
    with Ledger(file) as ledger:
        assert [ledger.outcome(key) for key in "abcd"] == ["", "garbled", "invented", None]
        assert ledger.reasons() == {"garbled": 1, "invented": 1}
    assert sorted(one.name for one in file.parent.iterdir()) == [
        "questions.dropped.jsonl", "questions.jsonl",
    ]  # fmt: skip


def test_a_line_that_a_kill_cut_short_is_taken_out(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    with Ledger(file) as ledger:
        ledger.keep(pair("a"))
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-9])
    with Ledger(file) as ledger:
        assert len(ledger.kept) == 1
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b'{"question": "Who?", "answers": ["I"]}\n',
        b'{"question": "Who?", "drafted": {}}\n',
        b'{"question": "Who?", "drafted": ["key"]}\n',
        b'{"question": 1, "drafted": {"key": "a"}}\n',
        b"[1]\n",
        b"notes\n",
        b"notes without an end",
        b"\x00\xff\n",
        b"\n",
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="drafted"):
        Ledger(file)
    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        Ledger(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write"):
        Ledger(tmp_path / "file" / "q.jsonl")


def test_one_at_a_time(tmp_path: Path) -> None:
    with Ledger(tmp_path / "q.jsonl"), pytest.raises(IndexLocked, match="another run"):
        Ledger(tmp_path / "q.jsonl")
    with Ledger(tmp_path / "q.jsonl"):
        pass


def test_rows_are_json_lines(tmp_path: Path) -> None:
    with Ledger(tmp_path / "q.jsonl") as ledger:
        ledger.keep(pair("ä\ud800"))
    (row,) = (tmp_path / "q.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row.replace("\\ud800", "x"))["id"] == "äx"
