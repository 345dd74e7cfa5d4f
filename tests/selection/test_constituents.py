"""Questions taken apart by hand, and what holds for any text."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.constituents import KINDS, MOST, constituents

TABLE = [
    (
        "Who was the first keeper of the Sandholm light?",
        "predicative:Who subject:the first keeper attribute:of the Sandholm light",
    ),
    ("When did Mira Oskan die?", "adverbial:When subject:Mira Oskan predicate:die"),
    (
        "Who directed a movie written by Ken Hixon?",
        "subject:Who predicate:directed object:a movie attribute:written by Ken Hixon",
    ),
    (
        "How many goals did Pele score in 1958?",
        "object:How many goals subject:Pele predicate:score adverbial:in 1958",
    ),
    (
        "In which year was the lighthouse at Sandholm built?",
        "adverbial:In which year subject:the lighthouse attribute:at Sandholm predicate:built",
    ),
    (
        "Was Mira Oskan, the keeper, born in 1850?",
        "subject:Mira Oskan apposition:the keeper predicate:born adverbial:in 1850",
    ),
    (
        "How does the tide gauge measure water levels?",
        "subject:the tide gauge predicate:measure object:water levels",
    ),
    (
        "Who was elected mayor of Bergen in 1850?",
        "subject:Who predicate:elected complement:mayor attribute:of Bergen adverbial:in 1850",
    ),
    ("What is the name of the ship?", "attribute:of the ship"),
    ("boiler pressure limit", "subject:boiler pressure limit"),
    ("What is it?", ""),
    ("", ""),
    ("???", ""),
]


@pytest.mark.parametrize(("question", "expected"), TABLE)
def test_by_hand(question: str, expected: str) -> None:
    assert " ".join(f"{one.kind}:{one.text}" for one in constituents(question)) == expected


@pytest.mark.parametrize(
    ("question", "word", "expects"),
    [
        ("When did it open?", "When", "time"),
        ("Who kept the light?", "Who", "name"),
        ("Where is the light?", "Where", "name"),
        ("How many bees are there?", "How many bees", "number"),
        ("What year did the light open?", "What year", "time"),
    ],
)
def test_what_a_question_word_asks_for(question: str, word: str, expects: str) -> None:
    (asked,) = [one for one in constituents(question) if one.expects != "any"]
    assert (asked.text, asked.expects) == (word, expects)


def test_another_language_is_cut_at_its_function_words() -> None:
    parts = constituents("Wer war der erste Leuchtturmwärter von Sandholm im Jahr 1850?", "de")
    assert [one.text for one in parts] == ["erste Leuchtturmwärter", "Sandholm", "Jahr 1850"]


_WORDS = (
    "who what when which how many did was is the a of in by that first keeper Sandholm built 1850 "
    "written called , ; ( and Mira die water don't C++"
)
WORDS = st.sampled_from(_WORDS.split())
TEXTS = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=80))


@given(TEXTS, st.sampled_from(["en", "de", "", "xx"]))
def test_constituents_are_spans_of_the_question(question: str, language: str) -> None:
    parts = constituents(question, language)
    assert len(parts) <= MOST
    for one in parts:
        assert one.kind in KINDS
        assert one.text
        assert question[one.start : one.end] == one.text
    for one, after in pairwise(parts):
        assert one.end <= after.start


def test_a_huge_question_is_cut_in_bounded_time() -> None:
    start = time.perf_counter()
    constituents("the keeper of " * 100_000 + "?" * 100_000)
    assert time.perf_counter() - start < 5
