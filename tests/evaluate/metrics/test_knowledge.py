"""Knowledge and labels: by hand, and against counting characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.metrics.knowledge import (
    Piece,
    are_found,
    are_gold,
    knowledge_f1,
    knowledge_precision,
    knowledge_recall,
)
from ragcli.evaluate.metrics.labels import label_f1, label_precision, label_recall


@st.composite
def pieces(draw) -> Piece:
    start = draw(st.integers(0, 30))
    return Piece(draw(st.sampled_from("ab")), start, start + draw(st.integers(1, 12)))


PIECES = st.lists(pieces(), max_size=6)
GOLD = [Piece("a", 0, 40), Piece("a", 100, 140), Piece("b", 0, 20)]


def test_by_hand() -> None:
    # two of four selected are gold, two of three gold are selected
    selected = [Piece("a", 0, 40), Piece("a", 40, 100), Piece("b", 0, 20), Piece("c", 0, 9)]
    assert knowledge_precision(selected, GOLD) == 0.5
    assert knowledge_recall(selected, GOLD) == pytest.approx(2 / 3)
    assert knowledge_f1(selected, GOLD) == pytest.approx(4 / 7)  # 2 · 1/2 · 2/3 / (7/6)


def test_an_empty_selection_counts_nothing() -> None:
    assert (knowledge_precision([], GOLD), knowledge_recall([], GOLD)) == (0, 0)
    assert knowledge_f1([], GOLD) == 0


@pytest.mark.parametrize("metric", [knowledge_recall, knowledge_f1, label_recall, label_f1])
def test_no_gold_is_an_error(metric) -> None:
    with pytest.raises(ValueError):
        metric([Piece("a", 0, 4)], [])


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (Piece("a", 20, 60), True),  # half of it is gold
        (Piece("a", 21, 61), False),  # 19 of 40, and 19 of the 40 gold ones
        (Piece("a", 20, 90), True),  # it holds half of a gold piece
        (Piece("a", 10, 12), True),  # a part of a gold piece
        (Piece("c", 0, 40), False),
    ],
)
def test_borders_may_differ(piece: Piece, expected: bool) -> None:
    assert are_gold([piece], GOLD) == [expected]


def test_gold_in_two_halves_is_found() -> None:
    halves = [Piece("a", 0, 12), Piece("a", 25, 40)]  # 27 of 40 together, neither half alone
    assert are_found(GOLD[:1], halves) == [True]
    assert are_found(GOLD[:1], halves[:1]) == [False]
    assert are_found(GOLD[:1], [Piece("a", 0, 12)] * 3) == [False]  # the same twice is once


@pytest.mark.parametrize("borders", [(3, 3), (4, 3), (-1, 3)])
def test_a_piece_holds_something(borders: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        Piece("a", *borders)


@given(PIECES, PIECES.filter(bool))
def test_against_sets_of_characters(selected: list[Piece], gold: list[Piece]) -> None:
    def letters(some: list[Piece]) -> set[tuple[str, int]]:
        return {(one.document, at) for one in some for at in range(one.start, one.end)}

    def half(one: Piece, others: list[Piece]) -> bool:
        return 2 * len(letters([one]) & letters(others)) >= one.end - one.start

    assert are_found(gold, selected) == [half(one, selected) for one in gold]
    assert are_gold(selected, gold) == [
        half(one, gold) or any(half(other, [one]) for other in gold) for one in selected
    ]


@given(PIECES.filter(bool))
def test_gold_itself_is_perfect(gold: list[Piece]) -> None:
    assert knowledge_precision(gold, gold) == knowledge_recall(gold, gold) == 1
    assert label_f1(gold, gold) == 1


@given(PIECES, PIECES, PIECES.filter(bool))
def test_more_is_never_less_recall(some: list[Piece], more: list[Piece], gold: list[Piece]) -> None:
    assert knowledge_recall(some, gold) <= knowledge_recall(some + more, gold)


def test_labels_count_a_place_once() -> None:
    # gold cited twice is one place of two, and one of three gold places
    cited = [GOLD[0], GOLD[0], Piece("c", 0, 9)]
    assert label_precision(cited, GOLD) == 0.5
    assert label_recall(cited, GOLD) == pytest.approx(1 / 3)
    assert label_f1(cited, GOLD) == pytest.approx(0.4)
    assert label_precision([], GOLD) == 0


def test_the_place_of_an_answer_lies_within_the_sentence_cited() -> None:
    answer = [Piece("a", 57, 60)]  # three letters, as `answer_start` gives them
    assert label_precision([Piece("a", 0, 90)], answer) == 1
    assert label_recall([Piece("a", 0, 90)], answer) == 1
    assert label_precision([Piece("a", 60, 90)], answer) == 0
