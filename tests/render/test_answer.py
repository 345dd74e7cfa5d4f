import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ragcli.render import risk
from ragcli.render.answer import Searched, print_abstention, print_answer
from ragcli.render.explain import attention_by_source, print_explanation, risk_parts
from ragcli.render.terminal import Printer
from ragcli.types import Risk, Span

from . import records

LEVELS = risk.Levels(risky=0.08, high=0.4)
ESCAPE = re.compile(r"\x1b\[[0-9;:]*m")


def printed(answer, levels=None, **options):
    out = io.StringIO()
    print_answer(Printer(out, **options), answer, levels)
    return out.getvalue()


def test_in_a_pipe():
    assert printed(records.answer()) == (
        "The boiler holds 3 bar. [1] Nobody knows why. (not supported by the documents)\n"
        "\n"
        "[1] /srv/notes/boiler.md:3  “The boiler holds 3 bar.”\n"
    )


def test_risk_in_marks_where_there_are_no_styles():
    text = printed(records.answer(), LEVELS)
    assert "The boiler ‹holds› «3» bar. [1]" in text
    assert "‹risky› «very risky»" in text


def test_risk_in_styles_on_a_terminal():
    text = printed(records.answer(), LEVELS, styled=True, width=200)
    plain = ESCAPE.sub("", text)
    assert "The boiler holds 3 bar. [1]" in plain
    assert "‹" not in plain
    assert re.search(r"\x1b\[[0-9;]*4[0-9;]*mholds\x1b", text)


def test_no_legend_where_nothing_is_risky():
    assert "risky" not in printed(records.answer(), risk.Levels(0.9, 1.0))


@pytest.mark.parametrize(("total", "level"), [(None, 0), (0.05, 0), (0.08, 1), (0.4, 2), (0.9, 2)])
def test_levels(total, level):
    step = replace(records.steps()[0], risk=Risk(1, 1, 1, total))
    assert LEVELS.of(step) == level


def test_unknown_risk_is_not_highlighted():
    assert LEVELS.of(replace(records.steps()[0], risk=None)) == 0


def test_tokens_that_do_not_make_up_the_sentence_are_not_used():
    sentence = records.answer().sentences[0]
    assert len(risk.steps_of(sentence, records.steps())) == 6
    other = replace(sentence, text="Other text.", span=Span(0, 11))
    assert risk.steps_of(other, records.steps()) == []


def test_blanks_and_line_breaks_are_never_marked():
    step = replace(records.steps()[3], text="\n ")
    assert risk.pieces([step], LEVELS, styled=False) == ["\n "]


def test_abstention_says_why():
    out = io.StringIO()
    unread = tuple((Path(f"/d/{n}.pdf"), "no text layer") for n in range(12))
    partial = frozenset({Path("/d/1.pdf")})
    searched = Searched(3, 1200, ("docs/*",), ("pdf",), unread, partial)
    print_abstention(Printer(out), records.abstained(), searched)
    lines = out.getvalue().splitlines()
    assert lines[:4] == [
        "Not in the documents: nothing fits",
        "Searched 3 files, 1,200 passages (--in docs/* --type pdf).",
        "Could not read /d/0.pdf: no text layer",
        "Could not read all of /d/1.pdf: no text layer",
    ]
    assert lines[-1].startswith("… and 2 more")
    assert len(lines) == 13


def test_an_answer_without_documents_is_its_text():
    text = printed(records.answer(sentences=(), selected=(), text="One.\nTwo\x1b."))
    assert text == "One.\nTwo.\n"


def test_false_quotations_are_flagged():
    first = replace(records.answer().sentences[0], false_quotations=("made up",))
    text = printed(records.answer(sentences=(first,)))
    assert "quoted, but in no source: “made up”" in text


def test_a_line_break_of_the_answer_parts_paragraphs():
    answer = records.answer()
    text = answer.text[:23] + "\n" + answer.text[24:]
    assert printed(replace(answer, text=text)).splitlines()[:2] == [
        "The boiler holds 3 bar. [1]",
        "Nobody knows why. (not supported by the documents)",
    ]


def test_hostile_text_is_inert():
    first = replace(records.answer().sentences[0], text="\x1b[2J[bold]x")
    text = printed(records.answer(sentences=(first,)))
    assert "\x1b" not in text
    assert "[bold]x" in text


def test_explanation():
    out = io.StringIO()
    print_explanation(Printer(out), records.answer(), LEVELS)
    text = out.getvalue()
    assert "“ 4” → “ 3”" in text
    assert "“ holds”" in text
    assert "0.500 = lexical 0.80 × attention 0.50 × prediction 0.50" in text
    assert "Calibrated tokens: from, to, risk (1 of 6)" in text
    first, second = re.findall(r"^ *(\d+\.\d)%  \S+:(\d)", text, re.MULTILINE)
    assert (first, second) == (("50.0", "4"), ("25.0", "3"))


def test_explanation_without_a_tap():
    steps = tuple(replace(s, attention=(), risk=Risk(1, None, 0.5, None)) for s in records.steps())
    out = io.StringIO()
    print_explanation(Printer(out), records.answer(steps=steps), LEVELS)
    assert "attention unknown" in out.getvalue()
    assert "Sources by attention" not in out.getvalue()


def test_attention_means():
    assert attention_by_source(records.steps()) == [0.25, 0.5]
    assert attention_by_source(()) == []


def test_risk_parts_of_nothing():
    assert risk_parts(None) == "risk unknown"
