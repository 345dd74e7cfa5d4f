"""Acronyms and decades, and what a question makes of them."""

from __future__ import annotations

import pytest

from ragcli.cite.evidence import PassageView, weigh
from ragcli.cite.question import keys_in, parse_question
from ragcli.cite.shortforms import decade, spelled_out
from ragcli.text.words import words


@pytest.mark.parametrize(
    ("acronym", "text", "run"),
    [
        ("CEO", "He was its chief executive officer.", "chief executive officer"),
        ("CEOs", "Both were chief executive officers.", "chief executive officers"),
        ("USA", "born in the United States of America", "United States America"),
        ("DOE", "the Department of Energy", "Department of Energy"),
        ("UK", "born in the United Kingdom", "United Kingdom"),
        ("UK", "an unknown keeper", ""),
        ("CEO", "He was its chief accountant.", ""),
    ],
)
def test_spelled_out(acronym: str, text: str, run: str) -> None:
    (word,) = words(f"of {acronym}")[1:]
    assert " ".join(w.text for w in spelled_out(word, words(text))) == run


@pytest.mark.parametrize(
    ("text", "year", "other"),
    [
        ("popular in the 70s", "1973", "1983"),
        ("popular in the 70's", "1973", "1873"),
        ("popular in the 1970s", "1979", "1980"),
        ("popular in the late 1970's", "1979", "1980"),
        ("popular in the 1870s", "1873", "1973"),
        ("popular in the 10s", "2013", "1813"),
    ],
)
def test_a_decade_is_met_by_its_years(text: str, year: str, other: str) -> None:
    term = parse_question(text).terms[-1]
    assert term.kind == "number"
    assert f"#{year}" in term.related
    assert f"#{other}" not in term.related
    assert f"#{year}" not in term.alternatives  # else an answer could not add it


def test_the_forms_of_a_decade_are_one() -> None:
    for asked in ("the 70's", "the 70s", "the 1970s", "the ’70s"):
        for said in ("in the 70s", "in the 1970s"):
            (term,) = parse_question(asked).terms
            assert not keys_in(parse_question(asked), said).isdisjoint(term.alternatives)


@pytest.mark.parametrize(
    "text", ["room 70", "the year 1970", "1970's best film", "the 75s", "x70s"]
)
def test_no_decade(text: str) -> None:
    found = words(text)
    assert all(decade(found, at, text) == ((), frozenset()) for at in range(len(found)))


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("Who is the CEO of Sandholm?", "Ada is chief executive officer of Sandholm.", ()),
        ("Who is the CEO of Sandholm?", "Ada is the accountant of Sandholm.", ("CEO",)),
        ("Who led the National Football League?", "Ada led the NFL.", ()),
        ("Who led the National Football League?", "Ada led the NHL.",
         ("National", "Football", "League")),
        ("Who led the firm in the 70's?", "Ada led the firm from 1972.", ()),
        ("Who led the firm in the 70's?", "Ada led the firm from 1982.", ("70",)),
    ],
)  # fmt: skip
def test_the_other_form_is_not_missing(question: str, text: str, missing: tuple[str, ...]) -> None:
    assert weigh(parse_question(question), [PassageView((text,))]).missing == missing
