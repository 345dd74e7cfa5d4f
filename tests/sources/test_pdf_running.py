"""Running headers and page numbers go; what stands on a page once stays."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragcli.sources.load import load
from ragcli.sources.pdf_layout import Line
from ragcli.sources.pdf_running import without_running


def line(text: str, y: float) -> Line:
    return Line(text, 72, 500, y, y + 10, 10)


def page(number: int, body: str) -> list[Line]:
    return [line(f"Annual report | {number}", 780), line(body, 500), line(f"- {number} -", 30)]


def texts(pages: list[list[Line]]) -> list[list[str]]:
    return [[one.text for one in lines] for lines in pages]


def test_headers_stay_once_and_page_numbers_never() -> None:
    pages = [page(n, f"Body of page {'abcd'[n - 1]}.") for n in (1, 2, 3, 4)]
    assert texts(without_running(pages)) == [
        ["Annual report | 1", "Body of page a."],
        ["Body of page b."],
        ["Body of page c."],
        ["Body of page d."],
    ]


def test_two_pages_prove_nothing() -> None:
    pages = [page(1, "One."), page(2, "Two.")]
    assert without_running(pages) == pages


def test_the_same_words_elsewhere_on_the_page_stay() -> None:
    pages = [[line("Total", 100 + 90 * n), line("Body.", 50)] for n in range(1, 6)]
    assert all("Total" in one for one in texts(without_running(pages)))


def test_alternating_headers_go() -> None:
    pages = [
        [line("Left head" if n % 2 else "Right head", 780), line(f"Text {chr(97 + n)}.", 400)]
        for n in range(8)
    ]
    kept = [text for one in texts(without_running(pages)) for text in one if "head" in text]
    assert kept == ["Right head", "Left head"]


@given(st.lists(st.lists(st.tuples(st.text("ab1", max_size=3), st.integers(0, 800))), max_size=8))
def test_nothing_is_made_up_and_order_is_kept(drawn: list[list[tuple[str, int]]]) -> None:
    pages = [[line(text, y) for text, y in lines] for lines in drawn]
    for before, after in zip(pages, without_running(pages), strict=True):
        rest = iter(before)
        assert all(any(one is other for other in rest) for one in after)


def test_the_sample_report_is_not_interrupted() -> None:
    import ragcli.samples

    folder = Path(next(iter(ragcli.samples.__path__)))
    extracted = load(folder / "water-supply-report.pdf")
    assert extracted.text.count("Report AHC-2214") <= 2
    assert "Pump B delivers 22 litres a minute" in extracted.text
