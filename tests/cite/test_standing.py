"""Where a quoted text stands now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.standing import Sentences, comparable, find, same
from ragcli.types import Span

QUOTE = "The door code is 4711."


def test_where_it_stood() -> None:
    assert find(QUOTE, 3, f"On {QUOTE} {QUOTE}") == Span(3, 25)


def test_the_nearest_of_several() -> None:
    text = f"{QUOTE} {'x' * 50} {QUOTE}"
    assert find(QUOTE, 10, text) == Span(0, 22)
    assert find(QUOTE, 60, text) == Span(74, 96)
    assert find(QUOTE, 10**18, text) == Span(74, 96)


def test_wrapped_anew() -> None:
    assert find(QUOTE, 0, "Note.\nThe door\n  code is 4711.") == Span(6, 30)
    assert find("The door\ncode is 4711.", 0, QUOTE) == Span(0, 22)


def test_other_text() -> None:
    assert find(QUOTE, 0, "The door code is 9999.") is None
    assert find(QUOTE, 0, "") is None


def test_the_quote_is_no_pattern() -> None:
    assert find("a.c  (b", 0, "abc (b a.c (b") == Span(7, 13)


def test_the_sentence_in_its_place() -> None:
    text = "It rains. The door code is 9999. The door of the code is blue."
    sentences = [Span(0, 9), Span(10, 32), Span(33, 62)]
    assert Sentences(text, sentences).successor(QUOTE, 0) == Span(10, 32)
    assert Sentences(text, sentences).successor("Fish live in water.", 0) is None


def test_of_equal_ones_the_nearest() -> None:
    text = "The door code is 1111. The door code is 2222."
    assert Sentences(text, [Span(0, 22), Span(23, 45)]).successor(QUOTE, 30) == Span(23, 45)


def test_a_lone_surrogate_is_what_json_holds() -> None:
    assert comparable("a\udc80b") == "a\ufffdb"
    assert find("a\ufffdb", 0, comparable("a\udc80b")) == Span(0, 3)


@given(before=st.text(max_size=40), quote=st.text(min_size=1, max_size=20), after=st.text())
def test_what_stands_is_found(before: str, quote: str, after: str) -> None:
    text = before + quote + after
    assert find(quote, len(before), text) == Span(len(before), len(before) + len(quote))


@given(quote=st.text(max_size=20), start=st.integers(0, 99), text=st.text(max_size=60))
def test_what_is_found_stands(quote: str, start: int, text: str) -> None:
    span = find(quote, start, text)
    assert (span is not None) >= (bool(quote) and quote in text)
    assert span is None or same(span.of(text), quote)
