"""A question can say what its source says, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.train.questions.wording import OPENINGS, Wording, openings, vocabulary

SENTENCE = "Kestrel Bridge was bought over the river Omm in 1904 by Dora Lindqvist."


def letters(text: str) -> list[int]:
    """A letter a token, as the worst of vocabularies would have it."""
    return [ord(one) for one in text]


def test_words_of_the_source_but_the_answer() -> None:
    found = vocabulary("Old_Bridges", SENTENCE, "Dora Lindqvist", "en")
    assert {"Kestrel", "Omm", "1904", "Old_Bridges", "Bridges", "Who", "who"} - found == {"Who"}
    assert "buy" in found  # "What did she buy?"
    assert not {"Dora", "Lindqvist", "by Dora"} & found


def test_no_blanks_between_words_no_words() -> None:
    assert vocabulary("", "橋は1904年に建てられた。", "1904", "ja") == frozenset()


def test_other_languages_have_their_own_function_words() -> None:
    assert "wurde" in vocabulary("", "Die Brücke steht seit 1904.", "1904", "de")
    assert "made" not in vocabulary("", "Die Brücke steht seit 1904.", "1904", "de")


@given(st.data())
def test_whole_words_only(data: st.DataObject) -> None:
    words = ["was", "wash", "a", "as", "Omm"]
    wording = Wording(words, letters, letters("?"))
    state, said = wording.start, ""
    for _ in range(data.draw(st.integers(0, 30))):
        token = data.draw(st.sampled_from(wording.allowed(state)))
        said += chr(token)
        if said.endswith("?"):
            break
        state = wording.after(state, token)
    plain = said.removesuffix("?").replace(",", "").replace("'s", "").replace("'", "")
    whole, _, begun = plain.rpartition(" ")
    assert set(whole.split()) <= set(words)
    assert any(word.startswith(begun) for word in [*words, ""])
    if said.endswith("?"):
        assert begun in [*words, ""]


def test_what_is_not_allowed_is_refused() -> None:
    wording = Wording(["was"], letters, letters("?"))
    assert wording.allowed(wording.start) == sorted(letters(" ?,'"))
    with pytest.raises(KeyError):
        wording.after(wording.start, ord("x"))


@pytest.mark.parametrize(
    ("kind", "answer", "language", "first"),
    [
        ("date", "1904", "en", ("When", "In what year")),
        ("date", "12 May 1705", "en", ("When",)),
        ("amount", "40 percent", "en", ("What percentage", "How much")),
        ("amount", "3 bar", "en", OPENINGS["amount"]),
        ("name", "Ribe", "de", ("",)),
    ],
)
def test_openings(kind: str, answer: str, language: str, first: tuple[str, ...]) -> None:
    assert openings(kind, answer, language) == first
