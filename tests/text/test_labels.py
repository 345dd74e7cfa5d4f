"""Pump A is not Pump B, and phase II is phase 2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.labels import labelled, other_one

QUESTION = "What is the pressure of Pump A?"


@pytest.mark.parametrize(
    ("question", "text", "missed"),
    [
        (QUESTION, "Pump B delivers at 7.1 bar.", "Pump A"),
        (QUESTION, "Pump A delivers at 4.2 bar.", ""),
        (QUESTION, "Pump A at 4.2 bar, Pump B at 7.1 bar.", ""),
        (QUESTION, "The pump has a seal.", ""),
        (QUESTION, "It delivers at 4.2 bar.", ""),
        ("How is the valve in room 20 opened?", "The valve in room 21 opens by hand.", "room 20"),
        ("How is the valve in room 20 opened?", "Room 20: 22 turns.", ""),
        ("What became of phase 2?", "In Phase II all changed.", ""),
        ("Who won World War I?", "World War II ended in 1945.", "War I"),
        ("What happened in 1990?", "In 1991 it closed.", ""),
        ("Is there a pump?", "Pump B.", ""),
    ],
)
def test_other_one(question: str, text: str, missed: str) -> None:
    assert other_one(question, text) == missed


@given(st.text(max_size=200))
def test_a_text_never_misses_its_own(text: str) -> None:
    assert other_one(text, text) == ""
    for what, label in labelled(text, "en"):
        assert what.end <= label.start
