"""Means, paired differences and tables of made-up rows."""

from __future__ import annotations

from typing import Any

import pytest

from ragcli.evaluate.summary import comparison, document, summarise, table


def row(arm: str, question: str, **scores: float) -> dict[str, Any]:
    return {"key": f"{arm}{question}", "arm": arm, "question_id": question, "answer": "",
            "scores": scores}  # fmt: skip


ROWS = [
    row("a", "1", em=0.0, f1=0.2), row("a", "2", em=1.0, f1=1.0), row("a", "3", em=0.0, f1=0.0),
    row("b", "1", em=1.0, f1=1.0), row("b", "2", em=1.0, f1=1.0),
]  # fmt: skip


def test_means_and_differences_are_over_common_questions() -> None:
    a, b = summarise(ROWS, ["a", "b", "unseen"])
    assert (a.questions, b.questions) == (3, 2)
    assert a.metrics["em"].estimate == pytest.approx(1 / 3)
    assert a.against == {}
    assert b.against["em"].estimate == pytest.approx(0.5)
    assert b.against["f1"].estimate == pytest.approx(0.4)
    assert b.against["em"].n == 2


def test_derived_numbers_are_of_the_means() -> None:
    rows = [
        row("a", "1", citation_recall=1.0, citation_precision=0.0),
        row("a", "2", citation_recall=0.0, citation_precision=1.0),
    ]
    (a,) = summarise(rows, ["a"])
    assert a.metrics["citation_f1"].estimate == pytest.approx(0.5)
    other = [row("b", "1", citation_recall=1.0, citation_precision=1.0),
             row("b", "2", citation_recall=1.0, citation_precision=1.0)]  # fmt: skip
    _, b = summarise([*rows, *other], ["a", "b"])
    assert b.against["citation_f1"].estimate == pytest.approx(0.5)


def test_tables_name_what_is_there() -> None:
    summaries = summarise(ROWS, ["a", "b"])
    assert table(summaries)[0] == ["", "n", "EM", "F1"]
    assert table(summaries)[2][:3] == ["b", "2", "1.00 [1.00, 1.00]"]
    assert comparison(summaries)[1][0] == "b"
    assert comparison(summaries[:1]) == []


def test_a_difference_whose_interval_holds_no_zero_is_marked() -> None:
    rows = [row(arm, str(n), f1=float(arm == "b")) for arm in "ab" for n in range(5)]
    assert comparison(summarise(rows, ["a", "b"]))[1] == ["b", "+1.00 [+1.00, +1.00]*"]


def test_a_single_question_has_no_interval() -> None:
    found = document(summarise(ROWS[:1], ["a"]), {}, ROWS[:1])
    assert found["arms"][0]["metrics"]["em"] == {"mean": 0.0, "low": None, "high": None, "n": 1}
    assert table(summarise(ROWS[:1], ["a"]))[1][2] == "0.00"
