"""Several short answers: by hand, and against counting written the other way round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.metrics import several
from ragcli.evaluate.metrics.several import list_items, str_em, str_hit

PARTS = (("Ali Daei", "Daei"), ("Josef Bican",), ("Pelé", "Pele"))
NAMES = st.sampled_from(["ann", "bob", "cid", "dan", "eve", "fay", "gus"])


def test_str_em_by_hand() -> None:
    # Daei and Pele are there, Bican is not: 2 of 3
    assert str_em("Daei leads with 109 goals; Pele follows.", PARTS) == pytest.approx(2 / 3)
    assert str_hit("Daei leads with 109 goals; Pele follows.", PARTS) == 0
    assert str_hit("Daei, Josef Bican and Pelé.", PARTS) == 1
    assert str_em("", PARTS) == 0


def test_str_em_counts_inside_words_as_alce_does() -> None:
    assert str_em("Germany", [["German"]]) == 1


def test_an_answer_of_marks_is_not_everywhere() -> None:
    assert str_em("Rome", [["!"], ["The"], [""]]) == 0


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Ann, Bob, the Cid.", ("ann", "bob", "cid")),
        ("Ann,, Bob,", ("ann", "bob")),
        ("- Ann\n- Bob, Jr.\n", ("ann", "bob jr")),
        ("The players are:\n1. Ann\n2) Bob", ("ann", "bob")),
        ("", ()),
        (" . ", ()),
        ("Ann", ("ann",)),
    ],
)
def test_items(text: str, items: tuple[str, ...]) -> None:
    assert list_items(text) == items


def test_lists_by_hand() -> None:
    parts = [
        [name] for name in ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
    ]  # 8 answers
    said = "Ann, Bob, Cid, Dan, Eve, Fay, Xan, Yan"  # 8 items, 6 right
    assert several.list_precision(said, parts) == pytest.approx(6 / 8)
    assert several.list_recall(said, parts) == pytest.approx(6 / 8)
    assert several.list_recall_5(said, parts) == 1  # min(5, 6) / min(5, 8)
    assert several.list_f1(said, parts) == pytest.approx(0.75)
    assert several.list_f1_5(said, parts) == pytest.approx(2 * 0.75 / 1.75)
    few = [["ann"], ["bob", "bobby"], ["cid"]]
    assert several.list_recall_5("Bobby", few) == pytest.approx(1 / 3)  # min(5, 1) / min(5, 3)
    assert several.list_f1("", few) == several.list_precision("", few) == 0


@pytest.mark.parametrize(
    "metric",
    [several.str_em, several.str_hit, several.list_precision, several.list_recall,
     several.list_recall_5, several.list_f1, several.list_f1_5],
)  # fmt: skip
def test_no_parts_is_an_error(metric) -> None:
    with pytest.raises(ValueError):
        metric("Ann", [])


@given(
    st.lists(NAMES, max_size=9),
    st.lists(st.lists(NAMES, min_size=1, max_size=2), min_size=1, max_size=8),
)
def test_against_counting_by_table(items: list[str], parts: list[list[str]]) -> None:
    table = [[item in part for part in parts] for item in items]  # items × answers
    right = sum(1 for row in table if any(row))
    answered = sum(1 for column in range(len(parts)) if any(row[column] for row in table))
    precision = right / len(items) if items else 0
    top = min(answered, 5) / min(len(parts), 5)
    said = ", ".join(items)
    assert several.list_precision(said, parts) == pytest.approx(precision)
    assert several.list_recall(said, parts) == pytest.approx(answered / len(parts))
    assert several.list_recall_5(said, parts) == pytest.approx(top)
    expected = 2 * precision * top / (precision + top) if precision + top else 0
    assert several.list_f1_5(said, parts) == pytest.approx(expected)
    assert several.list_recall(said, parts) <= several.list_recall_5(said, parts)


@given(st.text(max_size=40), st.lists(st.lists(st.text(max_size=8), max_size=3), min_size=1))
def test_hit_is_all_of_em(said: str, parts: list[list[str]]) -> None:
    assert str_hit(said, parts) == (str_em(said, parts) == 1)
