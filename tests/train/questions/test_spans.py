"""Answers are spans of their sentence: which ones, and exactly where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.normalise import readable
from ragcli.text.words import fold
from ragcli.train.questions.spans import MOST_WORDS, answer_spans

CASES = [
    ("Kestrel Bridge was built in 1904 by the engineer Dora Lindqvist.",
     ["name Kestrel Bridge", "date 1904", "name Dora Lindqvist"]),
    ("Honda, Toyota and Nissan opened plants in 1982.", ["date 1982"]),
    ("Norman knights came to Sicily with 22 ships.", ["name Sicily", "number 22"]),
    ("The boiler must be drained when its pressure rises above 3 bar.", ["amount 3 bar"]),
    ("On 12 May 1705 the assembly met.", ["date 12 May 1705"]),
    ("It cost $1.5 million and 40 percent of the budget.",
     ["amount $1.5 million", "amount 40 percent"]),
    ("Anna Lund's boat lay there from 1921–1930.", []),
    ("She was born in Ribe, Denmark, on June 3, 1950.", ["date June 3, 1950"]),
    ("He called it “the grey lady” for years, as all people did.", ["quoted the grey lady"]),
    ("Paris met Paris in spring when all was well.", []),
    ("The entire conflict is known as the Seven Years' War.", []),
    ("The First Coast was hit by a major hurricane.", ["content major hurricane"]),
    ("This may be so everywhere.", []),
    ("About 2 million people and four dogs saw 1 cat.", ["number 2 million", "number four"]),
    ("The keeper was paid by Mira\nOskan from the start.", []),  # no name across lines
    ("The 1981 restraints kept cars out when winds of 180 km/h came.", ["amount 180 km/h"]),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "found"), CASES)
def test_what_can_be_asked_for(sentence: str, found: list[str]) -> None:
    assert [f"{one.kind} {one.text}" for one in answer_spans(sentence)] == found


def test_rivals_may_be_parts_of_an_answer() -> None:
    sentence = "Honda, Toyota and Nissan opened plants in 1982."
    texts = [one.text for one in answer_spans(sentence, partial=True)]
    assert {"Toyota", "Nissan", "1982"} <= set(texts)


PIECES = st.sampled_from(
    ["Anna Lund", "the", "in", "1904", "12 May 1705", "3 bar", "%", "$5", ",", "and", "'s", "“x y”",
     "\n", "won", "a major storm", ".", "É", "中文", "\u200b", "sys-\ntem", "[3]", "–"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map(" ".join), st.booleans())
def test_spans_are_where_they_say(sentence: str, partial: bool) -> None:
    end = 0
    for one in answer_spans(sentence, partial=partial):
        assert one.span.start >= end
        end = one.span.end
        assert readable(sentence[one.span.start : one.span.end]) == one.text
        assert fold(readable(sentence)).count(fold(one.text)) == 1
        assert 1 <= len(one.text.split()) <= MOST_WORDS
