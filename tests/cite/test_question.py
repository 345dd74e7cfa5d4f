"""Constituents of a question and what it expects."""

from __future__ import annotations

import pytest

from ragcli.cite.question import meets, parse_question


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Who was the second keeper of the Sandholm light?",
         [("second", "ordinal"), ("keeper", "word"), ("Sandholm", "name"), ("light", "word")]),
        ("How is the valve in room 23 opened?",
         [("valve", "word"), ("room", "word"), ("23", "number"), ("opened", "word")]),
        ("Who was the last keeper?", [("last", "ordinal"), ("keeper", "word")]),
        ("Who is the oldest, Sid or Vic?",
         [("oldest", "word"), ("Sid", "name"), ("Vic", "name")]),
        ("What is the last name of the keeper?", [("last", "word"), ("keeper", "word")]),
        ("How long did the war last?", [("long", "word"), ("war", "word"), ("last", "word")]),
        ("???", []),
    ],
)  # fmt: skip
def test_terms(text: str, terms: list[tuple[str, str]]) -> None:
    assert [(term.text, term.kind) for term in parse_question(text).terms] == terms


def test_a_selector_is_met_by_its_row() -> None:
    (last, _) = parse_question("Who was the last keeper?").terms
    assert {"last", "final", "latest"} <= set(last.alternatives)


@pytest.mark.parametrize(
    ("text", "expects", "strict"),
    [
        ("When did Mira Oskan die?", "time", True),
        ("Since when is it open?", "time", True),
        ("In what year was it built?", "time", True),
        ("What happened when it opened?", "any", False),
        ("How many children had she?", "number", True),
        ("How tall is the light?", "number", True),
        ("How long is it open?", "number", False),
        ("Who kept bees?", "person", False),
        ("What is the capital of Italy?", "any", False),
    ],
)
def test_expectations(text: str, expects: str, strict: bool) -> None:
    question = parse_question(text)
    assert (question.expects, question.strict) == (expects, strict)


@pytest.mark.parametrize(
    ("expects", "text", "known", "met"),
    [
        ("time", "It must be drained in October.", (), True),
        ("time", "She kept bees.", (), False),
        ("number", "It has 22 steps.", (), True),
        ("number", "The valve in room 20.", ("#20",), False),
        ("number", "There were several.", (), True),
        ("number", "She kept bees.", (), False),
        ("person", "Mira Oskan was first.", (), True),
        ("person", "the keeper was first.", (), False),
        ("any", "", (), True),
    ],
)
def test_meets(expects: str, text: str, known: tuple[str, ...], met: bool) -> None:
    assert meets(expects, text, frozenset(known)) is met  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Which band was formed first, Alder or Birch?", True),
        ("Between Alder and Birch, which band came first?", True),
        ("Of Alder and Birch, who was first?", True),
        ("Who was the first keeper?", False),
        ("Was Alder or Birch first?", False),
    ],
)
def test_choice(text: str, choice: bool) -> None:
    question = parse_question(text)
    assert question.choice is choice
    if choice:
        assert all(term.kind != "ordinal" for term in question.terms)
