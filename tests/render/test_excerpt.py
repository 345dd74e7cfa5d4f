import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import NothingFound
from ragcli.render import excerpt as ex
from ragcli.render.terminal import Printer
from ragcli.types import Span

from . import records

TEXT = "one\ntwo two\nthree\nfour\n"


@pytest.mark.parametrize(("number", "span"), [(1, Span(0, 3)), (2, Span(4, 11)), (4, Span(18, 22))])
def test_lines(number, span):
    assert ex.span_of_line(TEXT, number) == span


def test_a_line_that_is_none():
    with pytest.raises(NothingFound, match="no line 5: the text has 4"):
        ex.span_of_line(TEXT, 5)


@given(st.text(st.sampled_from("ab\n")), st.data())
def test_every_line_has_its_text(text, data):
    lines = text.split("\n")
    starts = ex.line_starts(text)
    number = data.draw(st.integers(1, len(starts)))
    assert ex.span_of_line(text, number).of(text) == lines[number - 1]


def test_pages_by_their_sentences():
    starts = (0, 12, 12)  # page 2 has no text
    assert ex.span_of_page(TEXT, starts, 1) == Span(0, 11)
    assert ex.span_of_page(TEXT, starts, 3) == Span(12, 22)
    assert [ex.page_at(starts, n) for n in (0, 5, 12, 20)] == [1, 1, 3, 3]
    for page, message in ((2, "page 2 has no text"), (4, "no page 4: the document has 3")):
        with pytest.raises(NothingFound, match=message):
            ex.span_of_page(TEXT, starts, page)
    with pytest.raises(NothingFound, match="no pages"):
        ex.span_of_page(TEXT, (), 1)
    assert ex.page_at((), 3) is None


def test_context_and_marks():
    shown = ex.excerpt(records.document(), TEXT, [], Span(5, 9), context=1)
    assert [(line.number, line.text, line.marked) for line in shown.lines] == [
        (1, "one", False), (2, "two two", True), (3, "three", False),
    ]  # fmt: skip


def test_a_span_outside():
    with pytest.raises(NothingFound, match="no text at 10-99"):
        ex.excerpt(records.document(), TEXT, [], Span(10, 99), context=1)


def test_an_empty_text_shows_one_empty_line():
    shown = ex.excerpt(records.document(), "", [], Span(0, 0), context=3)
    assert [line.text for line in shown.lines] == [""]


def test_printed():
    out = io.StringIO()
    document = replace(records.document(), title="")
    shown = ex.excerpt(document, "a\n\x1b[2Jb\nc\n", [], Span(2, 3), context=1)
    ex.print_excerpt(Printer(out), shown)
    assert out.getvalue() == "/srv/notes/boiler.md\n 1  a\n>2  ␛[2Jb\n 3  c\n"
