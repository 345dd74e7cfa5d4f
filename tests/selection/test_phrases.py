"""Phrases of questions and passages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.phrases import phrases
from ragcli.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What sport does Nobuhiro Ishizaki play?",
         [("content", "sport"), ("name", "Nobuhiro Ishizaki"), ("content", "play")]),
        ("The Torres Strait lies between Australia and which island?",
         [("name", "Torres Strait"), ("content", "lies"), ("name", "Australia"),
          ("content", "island")]),
        ('Who wrote "The Lord of the Rings" in 1954?',
         [("content", "wrote"), ("quoted", "The Lord of the Rings"), ("number", "1954")]),
        ("When was the University of Oxford founded?",
         [("name", "University of Oxford"), ("content", "founded")]),
        ("J. K. Rowling was born where?", [("name", "J. K. Rowling"), ("content", "born")]),
        ("Does a surgical mask help avoid COVID-19?",
         [("content", "surgical mask help avoid"), ("name", "COVID-19")]),
        ("Were Scott Derrickson and Ed Wood of the same nationality?",
         [("name", "Scott Derrickson"), ("name", "Ed Wood"), ("content", "nationality")]),
        ("He lived in Ribe. Copenhagen was far.",
         [("content", "lived"), ("name", "Ribe"), ("content", "Copenhagen"), ("content", "far")]),
        ("", []),
        ("who is the of", []),
    ],
)  # fmt: skip
def test_phrases(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.text) for one in phrases(text)] == expected


TEXTS = st.text(
    alphabet=st.sampled_from("AbcdE fgh.,-'\"“”«»1 9\n\t島ภ<|>éß"), max_size=120
) | st.text(max_size=80)


@given(TEXTS)
def test_phrases_are_spans_in_order_and_hold_every_content_word(text: str) -> None:
    found = phrases(text)
    assert all(one.text == one.span.of(text) and one.text.strip() for one in found)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))
    for word in words(text):
        if word.kind != "stop":
            inside = [p for p in found if p.span.start <= word.start and word.end <= p.span.end]
            touched = [p for p in found if p.span.start < word.end and word.start < p.span.end]
            assert inside or any(p.kind == "quoted" for p in touched), word


def test_long_texts_take_linear_time() -> None:
    assert len(phrases("Ab cd " * 20_000)) > 1000
    assert len(phrases("Ab of the " * 20_000)) > 100
    assert phrases('"' * 50_000) == []
