import pytest

from ragcli.sources.rst import load_rst
from ragcli.text.passages import cut_passages
from ragcli.text.sentences import split_sentences
from tests.sources.checks import check, only_blocks, sentences, shown


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("=====\nTitle\n=====\n\nText.\n\nSub\n---\n", [("heading", 1, "Title"), ("paragraph", 0, "Text."), ("heading", 2, "Sub")]),
        ("A\n=\n\nToo short a rule.", [("paragraph", 0, "A\n="), ("paragraph", 0, "Too short a rule.")]),
        ("A title\n=======\nB\n~~~\nC title\n=======", [("heading", 1, "A title"), ("heading", 2, "B"), ("heading", 1, "C title")]),
        ("a\n\n----\n\nb", [("paragraph", 0, "a"), ("paragraph", 0, "b")]),
        ("- a\n  b\n- c", [("list", 0, "- a\n  b\n- c")]),
        (":Author: Me\n:Date: now", [("list", 0, ":Author: Me\n:Date: now")]),
        (".. code-block:: c\n   :linenos:\n\n   int x;\n\n   int y;\n\nText.", [("code", 0, "   int x;"), ("code", 0, "   int y;"), ("paragraph", 0, "Text.")]),
        (".. code::\n   x = 1\n", [("code", 0, "   x = 1")]),
        ("Like this::\n\n   x = 1\n\nText.", [("paragraph", 0, "Like this::"), ("code", 0, "   x = 1"), ("paragraph", 0, "Text.")]),
        ("Text\n::\n\n  x\n", [("paragraph", 0, "Text"), ("code", 0, "  x")]),
        (".. warning:: Do not open\n   the valve.\n\n   It is hot.", [("paragraph", 0, "Do not open\n   the valve."), ("paragraph", 0, "   It is hot.")]),
        (".. note::\n   - one\n   - two", [("list", 0, "   - one\n   - two")]),
        (".. figure:: a.png\n   :width: 3\n\n   The caption.", [("paragraph", 0, "a.png"), ("paragraph", 0, "   The caption.")]),
        (".. toctree::\n   :maxdepth: 2\n\n   intro\n   usage\n\nText.", [("paragraph", 0, "Text.")]),
        (".. include:: /etc/passwd\n.. raw:: html\n\n   <b>no</b>\n\nText.", [("paragraph", 0, "Text.")]),
        (".. a comment\n   goes on\n\n.. _target: http://x.org\n.. |s| replace:: text\n\nText.", [("paragraph", 0, "Text.")]),
        (".. [1] A footnote\n   of two lines.\n.. [2] Another.", [("paragraph", 0, "A footnote\n   of two lines."), ("paragraph", 0, "Another.")]),
        ("term\n  Its definition.", [("paragraph", 0, "term"), ("paragraph", 0, "  Its definition.")]),
        (">>> f()\n1", [("code", 0, ">>> f()\n1")]),
        ("+---+---+\n| a | b |\n+---+---+\n", [("table", 0, "+---+---+\n| a | b |\n+---+---+")]),
        ("=== ===\na   b\n=== ===\n1   2\n\n3   4\n=== ===\n\nText.", [("table", 0, "=== ===\na   b\n=== ===\n1   2\n\n3   4\n=== ==="), ("paragraph", 0, "Text.")]),
        ("=== ===\nno table\n\nText.", [("paragraph", 0, "=== ===\nno table"), ("paragraph", 0, "Text.")]),
        (".. csv-table:: The title\n\n   1, 2\n   3, 4\n", [("paragraph", 0, "The title"), ("table", 0, "   1, 2\n   3, 4")]),
        (".. figure:: a.png\n   :alt: A pump\n     behind a wall\n   :width: 3\n\n   The caption.", [("paragraph", 0, "a.png"), ("paragraph", 0, "   The caption.")]),
        ("..\n   A comment.\n\nText.\n\n- item\n\n  .. a comment\n\n  more", [("paragraph", 0, "Text."), ("list", 0, "- item"), ("paragraph", 0, "  more")]),
        ("", []),
    ],
)  # fmt: skip
def test_blocks(text: str, blocks: list[tuple[str, int, str]]) -> None:
    found = load_rst(text.encode(), ".rst")
    only_blocks(found, text)
    check(found)
    assert shown(found) == blocks


def test_title_and_lines() -> None:
    text = "=======\nPumps\n=======\n\nThe pump of the cellar runs all the night. It is\n*very* loud.\n\n- first\n- second\n"
    found = load_rst(text.encode(), ".rst")
    assert (found.kind, found.title) == ("rst", "Pumps")
    assert sentences(found) == [
        (2, "Pumps"), (5, "The pump of the cellar runs all the night."), (5, "It is *very* loud."), (8, "- first"), (9, "- second"),
    ]  # fmt: skip


def test_what_is_left_out_is_in_no_passage() -> None:
    text = (
        "Pumps\n=====\n\nThe pump runs.\n\n.. The okapi is secret.\n\n   So is the tapir.\n\n.. note::\n   :class: okapi\n\n"
        "   It is loud.\n\n.. image:: okapi.png\n   :alt: okapi\n\n.. _okapi: http://okapi.org\n\nIt stands below.\n"
    )
    found = load_rst(text.encode(), ".rst")
    spans = split_sentences(found.text, found.blocks)
    (cut,) = cut_passages(
        found.text, found.blocks, spans, lambda texts: [len(t) // 4 for t in texts], 200
    )
    assert cut.span.of(found.text).split() == [
        "Pumps",
        "The",
        "pump",
        "runs.",
        "It",
        "is",
        "loud.",
        "It",
        "stands",
        "below.",
    ]
    assert sentences(found) == [
        (1, "Pumps"),
        (4, "The pump runs."),
        (13, "It is loud."),
        (20, "It stands below."),
    ]


def test_a_file_of_comments_has_no_text() -> None:
    assert not load_rst(b".. only a comment\n   of two lines\n", ".rst").text.strip()


@pytest.mark.parametrize(
    "table",
    ["=== ===\na   b\n=== ===\n1   2\n=== ===", "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+", "--- ---\na   b\n--- ---\n1   2"],
)  # fmt: skip
def test_rules_of_tables_are_in_no_sentence(table: str) -> None:
    found = [text for _, text in sentences(load_rst(table.encode(), ".rst"))]
    assert [text.replace("|", "").split() for text in found] == [["a", "b"], ["1", "2"]]
