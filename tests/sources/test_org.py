import pytest

from ragcli.sources.org import load_org
from tests.sources.checks import check, only_blocks, sentences, shown


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("* One\nText.\n** TODO [#A] Two :work:home:\n", [("heading", 1, "One"), ("paragraph", 0, "Text."), ("heading", 2, "Two")]),
        ("*bold* is no headline", [("paragraph", 0, "*bold* is no headline")]),
        ("*\n* \nText.", [("paragraph", 0, "*"), ("paragraph", 0, "Text.")]),
        ("* A\nSCHEDULED: <2024-01-01 Mon>\n:PROPERTIES:\n:ID: abc\n:END:\nText.", [("heading", 1, "A"), ("paragraph", 0, "Text.")]),
        (":PROPERTIES:\nnever closed", [("paragraph", 0, ":PROPERTIES:\nnever closed")]),
        ("#+begin_src c\nint x;\n\nint y;\n#+end_src\nText.", [("code", 0, "int x;"), ("code", 0, "int y;"), ("paragraph", 0, "Text.")]),
        ("#+BEGIN_QUOTE\nWords.\n\nMore.\n#+END_QUOTE", [("paragraph", 0, "Words."), ("paragraph", 0, "More.")]),
        ("#+begin_comment\nsecret\n#+end_comment\nText.", [("paragraph", 0, "Text.")]),
        ("#+begin_quote\nnever closed", [("paragraph", 0, "never closed")]),
        ("#+author: Me\n# a comment\nText.\n#+caption: A caption.\n| 1 | 2 |\n", [("paragraph", 0, "Text."), ("paragraph", 0, "A caption."), ("table", 0, "| 1 | 2 |")]),
        ("Intro:\n- one\n  goes on\n+ two\n1. three\n| a |\nafter", [("paragraph", 0, "Intro:"), ("list", 0, "- one\n  goes on\n+ two\n1. three"), ("table", 0, "| a |"), ("paragraph", 0, "after")]),
        (": fixed width", [("code", 0, ": fixed width")]),
        (":PROPERTIES:\n:EMPTY:\n:ID: abc\n:END:\nText.", [("paragraph", 0, "Text.")]),
        (":LOGBOOK:\n" + "- Note\n" * 300 + ":END:\nText.", [("paragraph", 0, "Text.")]),
        ("- item\n  :NOTES:\n  * star\n  :end:\n  more", [("list", 0, "- item"), ("paragraph", 0, "  more")]),
        (":OPEN:\nText.\n* A\n:ID:\n:x: 1\n:END:\nMore.", [("paragraph", 0, ":OPEN:\nText."), ("heading", 1, "A"), ("paragraph", 0, "More.")]),
        ("#+begin_quote\nWords.\n# secret\n:D:\nx\n:END:\n#+end_quote", [("paragraph", 0, "Words.")]),
        ("", []),
    ],
)  # fmt: skip
def test_blocks(text: str, blocks: list[tuple[str, int, str]]) -> None:
    found = load_org(text.encode(), ".org")
    only_blocks(found, text)
    check(found)
    assert shown(found) == blocks


def test_title() -> None:
    assert load_org(b"#+TITLE: The boiler book\n* A", ".org").title == "The boiler book"
    assert load_org(b"* A", ".org").title == ""


def test_what_is_left_out_is_not_in_the_text() -> None:
    text = "Text.\n# okapi\n#+attr_html: okapi\n:D:\nokapi\n:END:\n#+begin_comment\nokapi\n#+end_comment\n| a | b |\n|---+---|\n| 1 | 2 |\n"
    found = load_org(text.encode(), ".org")
    assert "okapi" not in found.text
    assert sentences(found) == [(1, "Text."), (10, "| a | b |"), (12, "| 1 | 2 |")]


def test_drawers_that_never_end_take_no_time() -> None:
    found = load_org(b":A:\n" * 100_000, ".org")
    assert len(found.text) == 400_000
