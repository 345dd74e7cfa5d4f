from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.sources.html import declared_charset, load_html
from ragcli.types import Extracted

FILLER = "The valve of the boiler is opened by hand, and it is shut by hand as well. " * 8


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, extracted.text[b.start : b.end]) for b in extracted.blocks]


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        (
            "<h2>T</h2><p>a<b>b</b>\n c &amp; d<br>e",
            [("heading", 2, "T"), ("paragraph", 0, "ab c & d e")],
        ),
        ("<table><tr><th>x<th>y<tr><td>1<td>2</table>", [("table", 0, "x | y\n1 | 2")]),
        ("<ul><li>one<li>two <p>three</ul>", [("list", 0, "one\ntwo\nthree")]),
        ("<pre>a\n  b</pre>", [("code", 0, "a\n  b")]),
        ("<p>x<script>no()</script><style>no</style></p>", [("paragraph", 0, "x")]),
        (
            "<table><tr><td><table><tr><td>a<td>b</table><td><p>c</table>",
            [("table", 0, "a | b"), ("paragraph", 0, "c")],
        ),
        ("<td><script>no</script>1</td>", [("paragraph", 0, "1")]),
        ('<p>a<img src="data:image/png;base64,AAAA" alt="x">b', [("paragraph", 0, "ab")]),
        (
            "<div>a<div>b</div>c</div>",
            [("paragraph", 0, "a"), ("paragraph", 0, "b"), ("paragraph", 0, "c")],
        ),
        ("", []),
    ],
)
def test_blocks(html: str, blocks: list[tuple[str, int, str]]) -> None:
    assert shown(load_html(html.encode(), ".html")) == blocks


@pytest.mark.parametrize(
    "junk",
    [
        "<nav>junk</nav>",
        "<header>junk</header>",
        "<footer>junk</footer>",
        "<aside>junk</aside>",
        "<form>junk</form>",
        '<div class="cookie-banner">junk</div>',
        '<div role="navigation">junk</div>',
        '<div style="display: none">junk</div>',
        "<div hidden>junk</div>",
        "<ul>" + "<li><a href=x>junk</a>" * 5 + "</ul>",
        "<template>junk</template>",
        "<svg><text>junk</text></svg>",
        "<noscript>junk</noscript>",
    ],
)
def test_what_is_not_content_is_left_out(junk: str) -> None:
    text = load_html(f"<body>{junk}<p>{FILLER}</p>{junk}".encode(), ".html").text
    assert "junk" not in text
    assert text.startswith("The valve")


def test_a_page_that_is_all_links_keeps_them() -> None:
    html = "<body><ul>" + "".join(f"<li><a href=x>link {n}</a>" for n in range(9)) + "</ul>"
    assert "link 8" in load_html(html.encode(), ".html").text


def test_content_in_a_badly_named_element_is_kept() -> None:
    html = f'<body class="has-sidebar"><div class="modal content"><p>{FILLER}</p></div>'
    assert load_html(html.encode(), ".html").text.startswith("The valve")


def test_the_article_is_the_page_where_it_holds_most() -> None:
    html = f"<body><div>teaser</div><article><header><h1>T</h1></header><p>{FILLER}</article>"
    assert load_html(html.encode(), ".html").text.startswith("T\n\nThe valve")


def test_title_and_composed_letters() -> None:
    extracted = load_html("<title> A \n b</title><p>Gro\u0308ße".encode(), ".html")
    assert (extracted.title, extracted.text) == ("A b", "Größe")


def test_charset_after_a_long_preamble() -> None:
    data = (
        b"<!-- "
        + b"x" * 9000
        + b' --><meta http-equiv="Content-Type" content="text/html; charset=koi8-r">'
    )
    assert declared_charset(data) == "koi8-r"
    assert "Привет" in load_html(data + "<p>Привет".encode("koi8-r"), ".html").text


@pytest.mark.parametrize("tag", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<article>"])
def test_deep_nesting_ends(tag: str) -> None:
    assert load_html((tag * 3000 + "x").encode(), ".html").text == "x"


@given(st.text(alphabet=st.sampled_from(list("<>/abph1tr =\"'&;lidv!-")), max_size=200))
def test_any_markup_gives_ordered_blocks(html: str) -> None:
    extracted = load_html(html.encode(), ".html")
    last = 0
    for block in extracted.blocks:
        assert last <= block.start < block.end <= len(extracted.text)
        last = block.end


@pytest.mark.parametrize(
    ("name", "words", "absent"),
    [
        ("testArabicMisleadingCharset.html", "في قرية من القرى", "\ufffd"),
        ("big-preamble.html", "Агентство недвижимости", "\ufffd"),
        ("example-10k.html", "Basic | $ | 0.10", "xbrli"),
        ("fake-html-with-base64-image.html", "Test page", "base64"),
        ("pcgamer.com.skyrim.html", "a mage is an unstoppable storm of destruction", "cookie"),
    ],
)
def test_real_pages(shared_files: Path, name: str, words: str, absent: str) -> None:
    extracted = load_html((shared_files / "fixtures" / "html" / name).read_bytes(), ".html")
    assert words in extracted.text
    assert absent not in extracted.text.lower()


@pytest.mark.parametrize("unit", ["<div>", "<span>", "<x-y>", "<div title='</div>'>", "<font></i>", "<ul><li>"])  # fmt: skip
def test_depth_is_bounded(unit: str) -> None:
    found = load_html((unit * 60_000 + "One <i>two</i>.</div> Three.").encode(), ".html")
    assert found.text.split() == ["One", "two.", "Three."]
    assert (found.notes != ()) == ("font" not in unit)


def test_what_is_closed_is_not_deep() -> None:
    page = "<div><p>Wo<b>rd</b><br><img src=x><script>'<div>'</script><!-- <div> --><span title='<div>'></div>"
    found = load_html((page * 2_000).encode(), ".html")
    assert found.notes == ()
    assert found.text == "\n\n".join(["Word"] * 2_000)


def test_words_stay_whole_where_tags_go() -> None:
    found = load_html(("<div>" * 600 + "o<span>n</span>e<div>two</div>" + "</div>" * 600 + "<h2>Three</h2>").encode(), ".html")  # fmt: skip
    assert found.text == "one two\n\nThree"
    assert found.blocks[-1].kind == "heading"


def test_formatting_left_open_is_not_opened_again_and_again() -> None:
    page = "".join(f"<div><b id={n}>a</div>" for n in range(20_000))
    assert load_html(page.encode(), ".html").text.split() == ["a"] * 20_000


def test_a_page_of_frames_is_what_it_shows_without_them() -> None:
    page = (
        b"<html><FRAMESET cols='1,2'><frame src=a.html><noframes><body><p>No frames <b>words</b>."
        b"</p></body></noframes></frameset></html>"
    )
    assert load_html(page, ".html").text == "No frames words."
