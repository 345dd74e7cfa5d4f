"""What a run left in its folder: which rows are of it, what was asked, the whole answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragcli.errors import UsageError
from ragcli.evaluate.store import ANSWERS, ROWS, Row, read_answers, read_rows, read_run
from ragcli.paths import shown

_NEEDED = {"arm": str, "question_id": str, "question": str, "answer": str, "scores": dict}


@dataclass(frozen=True, slots=True)
class Kept:
    """A run. arms and questions: in order. rows: by arm, then question id.

    known: of a question, what is known of its answer, where that was kept. answers: by key.
    run: what was run on what; empty for a folder that does not say. planned: answers in all.
    """

    folder: Path
    arms: tuple[str, ...]
    questions: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Row]]
    answers: Mapping[str, Mapping[str, Any]]
    planned: int
    run: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows, arm by arm."""
        return tuple(row for arm in self.arms for row in self.rows[arm].values())


def read(folder: Path) -> Kept:
    """The last run of a folder; of one that does not say what it ran, the last row of each
    arm and question. Raises UsageError for a folder that holds no rows of `eval run`.
    """
    if not folder.is_dir():
        raise UsageError(f"no such folder: {shown(folder)}", hint="name the --out of `eval run`")
    rows = {row["key"]: _checked(folder, row) for row in read_rows(folder)}
    if not rows:
        raise UsageError(
            f"no rows of `ragcli eval run` in {shown(folder)}",
            hint=f"its --out is such a folder: it holds {ROWS}",
        )
    answers = _answers(folder)
    run = read_run(folder)
    kept = _of_run(folder, rows, answers, run) if run else _of_rows(folder, rows, answers)
    if not kept.arms:
        raise UsageError(f"the run in {shown(folder)} has answered nothing yet")
    return kept


def _checked(folder: Path, row: Row) -> Row:
    whole = all(isinstance(row.get(name), kind) for name, kind in _NEEDED.items())
    if not (whole and all(map(_is_number, row["scores"].values()))):
        raise UsageError(
            f"{shown(folder / ROWS)} holds rows of another kind than `eval run` makes",
            hint="a report is made of the --out of `ragcli eval run`",
        )
    return row


def _is_number(score: object) -> bool:
    return isinstance(score, (int, float)) and math.isfinite(score)


def _answers(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    foreign = UsageError(f"{shown(folder / ANSWERS)}: not the answers of an evaluation")
    try:
        answers = read_answers(folder)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise foreign from error
    if not all(_is_answer(one) for one in answers.values()):
        raise foreign
    return answers


def _is_answer(value: object) -> bool:
    return isinstance(value, dict) and value.get("schema") == "ragcli/answer@1"


def _of_run(
    folder: Path,
    rows: Mapping[str, Row],
    answers: Mapping[str, Mapping[str, Any]],
    run: Mapping[str, Any],
) -> Kept:
    try:
        known = {one["id"]: one for one in run["questions"]}
        table = {
            arm: {id: {**rows[key], "arm": arm} for id, key in keys.items() if key in rows}
            for arm, keys in run["keys"].items()
        }
        planned = sum(len(keys) for keys in run["keys"].values())
        about = dict(run["about"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{shown(folder)}: what it ran is not told as `eval run` does") from error
    asked = tuple(id for id in known if any(id in of for of in table.values()))
    arms = tuple(arm for arm, of in table.items() if of)
    return Kept(folder, arms, asked, table, answers, planned, about, known)


def _of_rows(
    folder: Path, rows: Mapping[str, Row], answers: Mapping[str, Mapping[str, Any]]
) -> Kept:
    table: dict[str, dict[str, Row]] = {}
    for row in rows.values():
        table.setdefault(row["arm"], {})[row["question_id"]] = row
    questions = tuple(dict.fromkeys(row["question_id"] for row in rows.values()))
    count = sum(len(of) for of in table.values())
    return Kept(folder, tuple(table), questions, table, answers, count)
