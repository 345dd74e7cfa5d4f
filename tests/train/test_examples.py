"""Candidates of a question, the development part, fuzzy matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.train.examples import RANDOM, Candidate, Example, choose, says, split


def some(prefix: str, n: int) -> list[Candidate]:
    return [Candidate(f"{prefix} {at}") for at in range(n)]


def test_needed_best_and_random_ones() -> None:
    ranked = some("ranked", 40)
    gold = [Candidate("needed", gold=True), ranked[30]]
    found = choose(gold, ranked, some("pool", 50), "q1")
    assert len(found) == 24
    assert set(gold) <= set(found)
    assert sum(one.text.startswith("pool") for one in found) == RANDOM
    assert list(found[:18]) == ranked[:18]
    assert found[18] == ranked[30]


def test_the_same_draw_for_the_same_question() -> None:
    draws = [choose([], some("r", 3), some("pool", 50), id) for id in ("a", "a", "b")]
    assert draws[0] == draws[1] != draws[2]


@given(st.integers(0, 30), st.integers(0, 40), st.integers(0, 40), st.integers(1, 30))
def test_never_more_than_asked_for_and_none_twice(gold, ranked, pool, most) -> None:
    texts = [
        one.text for one in choose(some("a", gold), some("b", ranked), some("a", pool), "s", most)
    ]
    assert len(texts) == len(set(texts)) <= most


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=40), st.floats(0, 1))
def test_a_split_holds_all_and_leaves_something_to_learn(ids: list[int], share: float) -> None:
    examples = [Example(str(id), "q", ("a",), ()) for id in ids]
    training, development = split(examples, share, 0)
    assert sorted(one.id for one in (*training, *development)) == sorted(map(str, ids))
    assert training or not ids
    again = split(examples[::-1], share, 0)
    assert again == (training, development)


@pytest.mark.parametrize(
    ("text", "answers", "held"),
    [
        ("It was Mira Oskan, the keeper.", ["mira oskan"], True),
        ("Mira's boat", ["Mira"], True),
        ("The 1904 bridge", ["190"], False),
        ("Amira Oskan", ["Mira Oskan"], False),
        ("It is in São Paulo.", ["São  Paulo"], True),
        ("anything", [""], False),
        ("anything", ["?"], False),
        ("anything", [], False),
    ],
)
def test_fuzzy_matches(text: str, answers: list[str], held: bool) -> None:
    assert says(text, answers) is held
