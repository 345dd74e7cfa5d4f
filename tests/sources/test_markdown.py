import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.sources.code import load_code
from ragcli.sources.markdown import load_markdown
from ragcli.sources.plain import load_text
from ragcli.types import Extracted


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, extracted.text[b.start : b.end]) for b in extracted.blocks]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (
            "# One #\n\ntext\n## Two\nmore",
            [
                ("heading", 1, "One"),
                ("paragraph", 0, "text"),
                ("heading", 2, "Two"),
                ("paragraph", 0, "more"),
            ],
        ),
        (
            "Title\n=====\n\nSub\n---\nx",
            [("heading", 1, "Title"), ("heading", 2, "Sub"), ("paragraph", 0, "x")],
        ),
        ("a\n\n---\n\nb", [("paragraph", 0, "a"), ("paragraph", 0, "b")]),
        (
            "```py\n# no heading\n\nx\n```\ny",
            [("code", 0, "# no heading"), ("code", 0, "x"), ("paragraph", 0, "y")],
        ),
        ("~~~\nnever closed", [("code", 0, "never closed")]),
        ("- a\n- b\n\n1. c", [("list", 0, "- a\n- b"), ("list", 0, "1. c")]),
        ("|a|b|\n|-|-|\n|1|2|", [("table", 0, "|a|b|\n|-|-|\n|1|2|")]),
        ("---\ntitle: T\n---\n\nbody", [("paragraph", 0, "body")]),
        ("#hashtag is no heading", [("paragraph", 0, "#hashtag is no heading")]),
        ("    indented", [("code", 0, "    indented")]),
        ("#\n##\n", []),
        ("", []),
    ],
)
def test_blocks(text: str, blocks: list[tuple[str, int, str]]) -> None:
    assert shown(load_markdown(text.encode(), ".md")) == blocks


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 'The manual'\n---\n# Other", "The manual"),
        ('+++\ntitle = "The manual"\n+++\nx', "The manual"),
        ("# First\n\n# Second", "First"),
        ("## Only a second level", ""),
    ],
)
def test_title(text: str, title: str) -> None:
    assert load_markdown(text.encode(), ".md").title == title


def test_the_text_is_the_file() -> None:
    extracted = load_markdown(b"\xef\xbb\xbf# A\r\n\r\nb\0c\r\n", ".md")
    assert extracted.text == "# A\n\nb c\n"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\ntwo\n\nthree", [("paragraph", 0, "one\ntwo"), ("paragraph", 0, "three")]),
        (
            "Title\n=====\nbody\n\nPart\n----\n\nx",
            [
                ("heading", 1, "Title"),
                ("paragraph", 0, "body"),
                ("heading", 2, "Part"),
                ("paragraph", 0, "x"),
            ],
        ),
        ("+---+\n| a |\n+---+", [("paragraph", 0, "+---+\n| a |\n+---+")]),
    ],
)
def test_plain_text(text: str, blocks: list[tuple[str, int, str]]) -> None:
    assert shown(load_text(text.encode(), ".txt")) == blocks


def test_code_and_tables_are_read_line_by_line() -> None:
    code = load_code(b"def f():\n    return 1\n\n    # why\n    x = 2\n", ".py")
    assert shown(code) == [
        ("code", 1, "def f():\n    return 1"),
        ("code", 0, "    # why\n    x = 2"),
    ]
    assert shown(load_text(b"a,b\n1,2\n", ".csv")) == [("table", 0, "a,b\n1,2")]


@given(st.text(alphabet=st.sampled_from(list("ab#-=`~|\n .>1*\t")), max_size=200))
def test_blocks_are_ordered_and_lose_nothing_but_markup(text: str) -> None:
    for load, ending in ((load_markdown, ".md"), (load_text, ".txt"), (load_code, ".py")):
        extracted = load(text.encode(), ending)
        last = 0
        for block in extracted.blocks:
            assert last <= block.start < block.end <= len(extracted.text)
            assert extracted.text[block.start : block.end].strip()
            last = block.end
        if ending == ".md":
            continue
        outside = "".join(
            extracted.text[a.end : b.start]
            for a, b in zip(extracted.blocks, extracted.blocks[1:], strict=False)
        )
        assert not set(outside) & set("ab1")


@pytest.mark.parametrize("line", ["--\n", "# x #\n", "|-|-|\n", "```\n", "- \n", "a\n--\n"])
def test_large_files_of_one_kind_of_line(line: str) -> None:
    assert load_markdown((line * 20_000).encode(), ".md").text == line * 20_000


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- one\ntwo -->\nb", "a\n\n\nb"),
        ("  <!-- a --> <!-- b -->rest", "   rest"),
        ("<!-- a --><!--\nb\n--> c <!-- d -->", "\n\n c "),
        ("The shop <!-- sells\n44 --> opens at nine.", "The shop \n opens at nine."),
        ("see <!-- this\n\nand --> that", "see <!-- this\n\nand --> that"),
        (r"write \<!-- so -->", r"write \<!-- so -->"),
        ("`` a ` <!-- x --> `` <!-- y -->b", "`` a ` <!-- x --> `` b"),
        ("a ` b <!-- y -->c", "a ` b c"),
        ("<!---> c", " c"),
        ("say `<!-- x -->`\n\n    <!-- code -->", "say `<!-- x -->`\n\n    <!-- code -->"),
        ("```\n<!-- code -->\n```\n<!-- x -->", "```\n<!-- code -->\n```\n"),
        ("a\n<!-- never closed", "a\n<!-- never closed"),
        ("<!-->\nb -->c", "\nb -->c"),
    ],
)
def test_comments_are_left_out(text: str, left: str) -> None:
    found = load_markdown(text.encode(), ".md")
    assert found.text == left
    assert text.count("\n") == left.count("\n")


@given(st.lists(st.sampled_from([*"a`~<!-> \n", "<!--", "-->", "```"]), max_size=60).map("".join))
def test_comments_keep_the_lines(text: str) -> None:
    found = load_markdown(text.encode(), ".md")
    assert found.text.count("\n") == text.count("\n")


def test_many_comments_take_no_time() -> None:
    assert not load_markdown(b"<!-- a -->" * 100_000, ".md").text
    assert load_markdown(b"<!-- a\n" * 100_000, ".md").text
    assert load_markdown(b"a <!-- b\n" * 100_000 + b"\n\n-->", ".md").text
    assert load_markdown(b"a `<!-- b" * 100_000, ".md").text
