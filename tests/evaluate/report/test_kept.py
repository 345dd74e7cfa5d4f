"""Which rows are the run's; folders that hold none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcli.errors import UsageError
from ragcli.evaluate.report.build import build
from ragcli.evaluate.report.kept import read
from ragcli.evaluate.store import ANSWERS, ROWS, RUN, Store

from .kept_run import ARMS, about, known, row, write


def test_rows_of_another_run_are_left_out(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for key, arm in (("old", "plain"), ("new", "plain"), ("other", "fke")):
            store.add(row(key, arm, "one", 0.5))
        keys = {"as named now": {"one": "new", "two": "not yet"}}
        store.tell({"about": about(), "questions": [known("one"), known("two")], "keys": keys})
    kept = read(tmp_path)
    assert (kept.arms, kept.questions, kept.planned) == (("as named now",), ("one",), 2)
    assert [(one["key"], one["arm"]) for one in kept.all_rows] == [("new", "as named now")]


def test_without_a_record_the_last_row_counts(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(row("old", "plain", "one", 0.0))
        store.add(row("new", "plain", "one", 1.0))
    assert [one["key"] for one in read(tmp_path).all_rows] == ["new"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no rows of `ragcli eval run`"),
        ({ROWS: ""}, "no rows of `ragcli eval run`"),
        ({ROWS: "{}\n{}\n"}, "line 1: not a row"),
        ({ROWS: '{"key": "a", "p_gold": 0.5}\n'}, "rows of another kind"),
        ({ROWS: '{"key": "a"}\n', RUN: "[1]\n"}, "rows of another kind"),
    ],
)
def test_foreign_folders_are_refused(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message) as raised:
        read(tmp_path)
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (RUN, "[1]", "not the record"),
        (RUN, "{", "not the record"),
        (RUN, '{"keys": {}}', "is not told as `eval run` does"),
        (RUN, json.dumps({"keys": {"a": 1}, "questions": [], "about": {}}), "is not told"),
        (RUN, "[" * 100_000, "not the record"),
        (ROWS, "[" * 100_000 + "\n\n", "line 1: not a row"),
        (
            ROWS,
            json.dumps({**row("a", "plain", "one", 0.5), "scores": {"f1": "x"}}),
            "another kind",
        ),
        (ROWS, json.dumps(row("a", "plain", "one", float("nan"))), "another kind"),
        (ANSWERS, "[" * 100_000 + "\n", "not the answers"),
        (ANSWERS, "[]\n", "not the answers"),
        (ANSWERS, '{"key": "k00", "answer": {"text": "other"}}\n', "not the answers"),
    ],
)
def test_damaged_files_are_named(name: str, text: str, message: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        read(tmp_path)


def test_a_run_without_answers_yet(tmp_path: Path) -> None:
    write(tmp_path)
    keys = {arm: {"one": "unknown"} for arm in ARMS}
    (tmp_path / RUN).write_text(
        json.dumps({"about": about(), "questions": [known("one")], "keys": keys})
    )
    with pytest.raises(UsageError, match="nothing yet"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("file", "value"),
    [
        (RUN, {"model": {"name": 3}}),
        (RUN, {"dataset": [1]}),
        (RUN, {"settings": 3}),
        (ANSWERS, {"sentences": 3}),
        (ANSWERS, {"tokens": [{}]}),
        (ANSWERS, {"parameters": {"drag.delta": "x"}}),
    ],
)
def test_records_of_another_form_are_told(
    file: str, value: dict[str, object], tmp_path: Path
) -> None:
    write(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / file).read_text("utf-8").splitlines()]
    for line in lines:
        line["about" if file == RUN else "answer"].update(value)
    (tmp_path / file).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match="is damaged") as raised:
        build(read(tmp_path), high=2.0)
    assert raised.value.hint
