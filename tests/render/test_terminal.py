import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.render import terminal
from ragcli.render.terminal import Printer

from . import records

ESCAPE = re.compile(r"\x1b\[[0-9;:]*m")


def printed(*pieces, width=40, styled=True, **options):
    out = io.StringIO()
    Printer(out, styled=styled, width=width).line(*pieces, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a  b\nc", "a b c"),
        ("\x1b[2Jgone", "[2Jgone"),
        ("sys-\ntem", "system"),
        ("a\x00b\x07", "ab"),
        ("evil\u202etxt", "eviltxt"),
    ],
)
def test_clean(text, shown):
    assert terminal.clean(text) == shown


def test_paths_are_one_safe_line_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert terminal.path_text(tmp_path / "a" / "b.md") == "a/b.md"
    assert terminal.path_text("/elsewhere/[red].md") == "/elsewhere/[red].md"
    assert terminal.path_text("/x/a\nb\tc\x1b.md") == "/x/a\\nb\\tc␛.md"


@pytest.mark.parametrize(
    ("page", "shown"), [(None, "/srv/notes/boiler.md:3"), (7, "/srv/notes/boiler.md p.7")]
)
def test_place(page, shown):
    assert terminal.place(records.document(), records.sentence(page=page)) == shown


def test_pipes_are_never_wrapped_or_styled():
    long = "word " * 100
    assert printed((long, "risk"), styled=False, indent=2) == f"  {long}\n"


def test_terminals_wrap_with_a_hanging_indent():
    lines = ESCAPE.sub("", printed(("[1]", "number"), " " + "word " * 20, hang=4)).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)
    assert lines[0].startswith("[1] word")
    assert all(line.startswith("    word") for line in lines[1:])


def test_markup_in_text_is_text():
    assert ESCAPE.sub("", printed("[bold]x[/bold] :smile: [/]")) == "[bold]x[/bold] :smile: [/]\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=200))
def test_a_terminal_loses_no_character(text):
    shown = ESCAPE.sub("", printed((text, "match"), width=30))
    assert shown.replace("\n", "").replace(" ", "") == text


def test_no_color_keeps_underlines():
    out = io.StringIO()
    Printer(out, styled=True, colorless=True).line(("x", "risk"), ("y", "high-risk"))
    assert "\x1b[4m" in out.getvalue()
    assert "\x1b[1;21my" in out.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())


def test_columns_align():
    out = io.StringIO()
    terminal.columns(Printer(out), [["a", "1"], ["長い", "2"], ["abcd", "3"]])
    assert out.getvalue() == "a     1\n長い  2\nabcd  3\n"


@pytest.mark.parametrize(
    ("number", "shown"), [(1, "1 file"), (0, "0 files"), (1234, "1,234 files")]
)
def test_count(number, shown):
    assert terminal.count(number, "file") == shown


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB")]
)
def test_size(number, shown):
    assert terminal.size(number) == shown
