"""Rows survive a kill: whole lines stay, a torn one goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcli.errors import IndexLocked, UsageError
from ragcli.evaluate.store import ROWS, Store, read_answers, read_rows


def test_rows_are_found_again_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add({"key": "a", "n": 1}, {"text": "first"})
        store.add({"key": "b", "n": 2})
        store.add({"key": "a", "n": 3}, {"text": "second"})
        assert store.get("a") == {"key": "a", "n": 3}
    with Store(tmp_path) as store:
        assert (store.get("a"), store.get("c")) == ({"key": "a", "n": 3}, None)
    assert [row["n"] for row in read_rows(tmp_path)] == [3, 2]
    assert read_answers(tmp_path) == {"a": {"text": "second"}}


@pytest.mark.parametrize("torn", [b'{"key": "b", "n"', b'{"key": "b"}', b"\xc3"])
def test_a_torn_line_is_dropped(torn: bytes, tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add({"key": "a"})
    file = tmp_path / ROWS
    file.write_bytes(file.read_bytes() + torn)
    with Store(tmp_path) as store:
        assert store.get("b") is None
        store.add({"key": "c"})
    assert [row["key"] for row in read_rows(tmp_path)] == ["a", "c"]


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / ROWS
    file.write_text("not a row\n")
    with pytest.raises(UsageError, match="line 1: not a row"), Store(tmp_path):
        pass
    assert file.read_text() == "not a row\n"


def test_two_writers_are_one_too_many(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(IndexLocked, match="another evaluation"), Store(tmp_path):
        pass


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with (
            pytest.raises(UsageError, match=r"cannot keep rows in .*file") as caught,
            Store(folder),
        ):
            pass
        assert "--out" in caught.value.hint


def test_a_folder_in_place_of_the_rows_is_refused_and_the_lock_let_go(tmp_path: Path) -> None:
    (tmp_path / ROWS).mkdir()
    with pytest.raises(UsageError, match=r"rows\.jsonl is no file"), Store(tmp_path):
        pass
    (tmp_path / ROWS).rmdir()
    with Store(tmp_path) as store:
        assert store.get("a") is None
