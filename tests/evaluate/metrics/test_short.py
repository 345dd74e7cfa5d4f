"""Exact match, token F1, contains: by hand, and against torchmetrics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.metrics.short import (
    answer_length,
    contains,
    exact_match,
    normalise,
    token_f1,
)

WORDS = st.lists(
    st.sampled_from(["the", "a", "an", "Rome", "of", "red", "1908", "keeper,", "bees.", "It's"]),
    max_size=8,
)
TEXTS = WORDS.map(" ".join)
ANSWERS = st.lists(TEXTS.filter(normalise), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Lighthouse-keeper's bees!", "lighthousekeepers bees"),
        ("An apple, a pear", "apple pear"),
        ("“Ótimo” – não…", "ótimo não"),
        ("Ro\u0308ntgen", "röntgen"),
        ("theatre", "theatre"),
        ("", ""),
        ("The", "the"),
        ("?!", "?!"),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("said", "answers", "em", "f1", "held"),
    [
        ("the Eiffel Tower", ["Eiffel tower"], 1.0, 1.0, 1.0),
        # 2 of 4 tokens are wanted, 2 of 2 are found: 2 · 0.5 · 1 / 1.5
        ("Eiffel Tower in Paris", ["Eiffel Tower"], 0.0, 2 / 3, 1.0),
        # 1 of 2 and 1 of 3: 2 · 1/2 · 1/3 / (5/6)
        ("red bees", ["red old keeper"], 0.0, 0.4, 0.0),
        # tokens count as often as they stand: 1 of 3, 1 of 1
        ("red red red", ["red"], 0.0, 0.5, 1.0),
        ("northern", ["no"], 0.0, 0.0, 0.0),
        ("no, it was not", ["no"], 0.0, 0.4, 1.0),
        ("", ["Rome"], 0.0, 0.0, 0.0),
        ("The", ["A"], 0.0, 0.0, 0.0),
        ("这是北京大学", ["北京"], 0.0, 0.0, 1.0),
        ("Rome", ["Paris", "Rome, Italy", "Rome"], 1.0, 1.0, 1.0),
    ],
)
def test_by_hand(said: str, answers: list[str], em: float, f1: float, held: float) -> None:
    assert exact_match(said, answers) == em
    assert token_f1(said, answers) == pytest.approx(f1)
    assert contains(said, answers) == held


@pytest.mark.parametrize("metric", [exact_match, token_f1, contains])
def test_no_answer_is_an_error(metric) -> None:
    with pytest.raises(ValueError):
        metric("Rome", [])


def test_length_is_in_words() -> None:
    assert answer_length(" The red  keeper.\n") == 3
    assert answer_length("") == 0


@given(TEXTS.filter(normalise), ANSWERS)
def test_as_torchmetrics_has_it(said: str, answers: list[str]) -> None:
    # what is nothing but articles is kept here and dropped there
    if any(set(normalise(one).split()) <= {"the", "a", "an"} for one in [said, *answers]):
        return
    squad = pytest.importorskip("torchmetrics.functional.text").squad
    theirs = squad(
        [{"prediction_text": said, "id": "1"}],
        [{"answers": {"answer_start": [0] * len(answers), "text": answers}, "id": "1"}],
    )
    assert 100 * exact_match(said, answers) == pytest.approx(float(theirs["exact_match"]))
    assert 100 * token_f1(said, answers) == pytest.approx(float(theirs["f1"]), abs=1e-4)


@given(st.text(max_size=30), st.lists(st.text(max_size=20), min_size=1, max_size=3))
def test_order_of_the_metrics(said: str, answers: list[str]) -> None:
    assert 0 <= exact_match(said, answers) <= token_f1(said, answers) <= 1
    if said.strip():
        assert exact_match(said, answers) <= contains(said, answers)


@given(st.text(max_size=40))
def test_normalising_again_changes_nothing_but_what_was_kept_whole(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert exact_match(text, [text]) == 1.0


@given(TEXTS, TEXTS)
def test_f1_is_symmetric(one: str, other: str) -> None:
    assert token_f1(one, [other]) == pytest.approx(token_f1(other, [one]))
