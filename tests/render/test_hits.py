import io

from ragcli.render.hits import highlighted, one_line, print_hits
from ragcli.render.terminal import Printer

from . import records


def test_a_line_a_hit_in_a_pipe():
    assert one_line(records.hit()) == (
        "/srv/notes/boiler.md:3: The boiler holds 3 bar.  [Boiler > Limits]"
        "  (#1 0.0328, lexical 5.210 #1, dense 0.620 #2)"
    )


def test_pages_are_named():
    assert one_line(records.hit("/a.pdf", page=4)).startswith("/a.pdf p.4: ")


def test_long_paths_are_whole_in_a_pipe():
    path = "/srv/" + "long-" * 80 + "name.md"
    out = io.StringIO()
    print_hits(Printer(out, width=40), [records.hit(path)], lambda word: False)
    assert out.getvalue().startswith(path + ":3: ")
    assert out.getvalue().count("\n") == 1


def test_words_that_match_are_highlighted():
    pieces = highlighted("A boiler, boilers.", lambda word: word.startswith("boiler"))
    assert pieces == ["A ", ("boiler", "match"), ", ", ("boilers", "match"), "."]


def test_a_terminal_gets_blocks_and_no_raw_escapes():
    out = io.StringIO()
    hostile = records.hit(text="\x1b]0;owned\x07 [red]x[/red] rest.")
    print_hits(Printer(out, styled=True, width=60), [hostile], lambda word: False)
    assert "\x1b]0;" not in out.getvalue()
    assert "[red]x[/red]" in out.getvalue()
    assert len(out.getvalue().splitlines()) >= 3
