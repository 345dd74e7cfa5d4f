"""Words, their kinds and their keys."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.words import alike, key_of, keys_of, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("four", "4"),
        ("second", "2nd"),
        ("1,200", "1200"),
        ("Keeper's", "keepers"),
        ("don’t", "don't"),
        ("cafe\u0301", "caf\u00e9"),
        ("ﬁre", "fire"),
        ("valves", "valve"),
    ],
)
def test_words_that_share_a_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Who was the second keeper", ["stop", "stop", "stop", "ordinal", "word"]),
        ("Bees liked 3:1", ["word", "word", "number"]),
        ("Mira Oskan liked NASA", ["name", "name", "word", "name"]),
        ("Rest. Bees, Mira", ["word", "word", "name"]),
        ("NATO said", ["name", "stop"]),
        ("one of the 15th century", ["stop", "stop", "stop", "ordinal", "word"]),
        ("room 20", ["word", "number"]),
    ],
)
def test_kinds(text: str, kinds: list[str]) -> None:
    assert [word.kind for word in words(text)] == kinds


def test_german_nouns_are_no_names() -> None:
    assert [w.kind for w in words("das Prüfstück", "de")] == ["stop", "word"]


def test_scripts_without_blanks_are_cut_into_pairs() -> None:
    assert [w.text for w in words("東京都は")] == ["東京", "京都", "都は"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("keeper", "keep", True),  # 4 of 6 letters
        ("pressure", "pressur", True),
        ("italy", "italian", False),
        ("#2015", "#2016", False),
        ("war", "warsaw", False),
    ],
)
def test_alike(one: str, other: str, expected: bool) -> None:
    assert alike(one, other) is expected
    assert alike(other, one) is expected


@given(st.text(max_size=80))
def test_every_word_is_where_it_says(text: str) -> None:
    found = words(text)
    assert all(text[w.start : w.end] == w.text and w.text for w in found)
    assert all(a.start < b.start for a, b in pairwise(found))
    assert keys_of(text) == {w.key for w in found if w.kind != "stop"}
