from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import SourceError
from ragcli.sources import ooxml, sheets
from ragcli.sources.load import load
from ragcli.sources.ods import load_ods
from ragcli.sources.odt import load_odp, load_odt
from ragcli.types import Extracted

from .zips import DOCTYPE, archive, check, damaged, labelled, shown, sound_or_refused

O = "urn:oasis:names:tc:opendocument:xmlns:"  # noqa: E741 - as short as the prefixes
SPACES = " ".join(
    f'xmlns:{prefix}="{O}{name}:1.0"'
    for prefix, name in [
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("style", "style"), ("presentation", "presentation"), ("meta", "meta"),
    ]
)  # fmt: skip
MIME = "application/vnd.oasis.opendocument."


def odf(kind: str, body: str, styles: str = "", **parts: str) -> bytes:
    return archive(
        {
            "mimetype": MIME + kind,
            "content.xml": f"<office:document-content {SPACES}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
            **parts,
        },
        stored="mimetype",
    )


def read_text(body: str, styles: str = "", **parts: str) -> Extracted:
    extracted = load_odt(odf("text", body, styles, **parts), ".odt")
    check(extracted)
    return extracted


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


TITLE = (
    '<style:style style:name="P1" style:parent-style-name="P2"/>'
    '<style:style style:name="P2" style:parent-style-name="Title"/>'
    '<style:style style:name="L" style:parent-style-name="L"/>'
)
NOTE = "<text:note><text:note-citation>1</text:note-citation><text:note-body>{}</text:note-body></text:note>"
CELL = "<table:table-cell>{}</table:table-cell>"
TABLE = (
    "<table:table><table:table-header-rows><table:table-row>"
    + CELL.format(p("a"))
    + CELL.format(p("b") + p("c"))
    + "</table:table-row></table:table-header-rows><table:table-row>"
    + CELL.format(p("1"))
    + '<table:table-cell table:number-columns-repeated="2"><text:p>2</text:p></table:table-cell>'
    + "</table:table-row></table:table>"
)


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        (p("One.") + p("Two."), [("paragraph", "One."), ("paragraph", "Two.")]),
        ('<text:h text:outline-level="2">Part</text:h>' + p("x"), [("heading", "Part"), ("paragraph", "x")]),
        ('<text:p text:style-name="P1">Top</text:p><text:p text:style-name="L">x</text:p>', [("heading", "Top"), ("paragraph", "x")]),
        (f"<text:list><text:list-item>{p('a')}<text:list><text:list-item>{p('b')}</text:list-item></text:list></text:list-item></text:list>", [("list", "a\nb")]),
        (TABLE, [("table", "a | b c\n1 | 2 | 2")]),
        (p("seen" + NOTE.format(p("the note"))), [("paragraph", "seen"), ("paragraph", "the note")]),
        (p(f"a<draw:frame><draw:text-box>{p('boxed')}</draw:text-box></draw:frame>"), [("paragraph", "a"), ("paragraph", "boxed")]),
        (f"<text:tracked-changes><text:changed-region><text:deletion>{p('old')}</text:deletion></text:changed-region></text:tracked-changes>"
         + p("new<text:change text:change-id='1'/> text"), [("paragraph", "new text")]),
        (p("a<text:s/>b<text:tab/>c<text:line-break/>d"), [("paragraph", "a b c d")]),
        (p("a<office:annotation><text:p>a comment</text:p></office:annotation>b"), [("paragraph", "ab")]),
        (p("<text:span>in <text:a>a link</text:a></text:span> out"), [("paragraph", "in a link out")]),
        (f'<text:section text:display="none">{p("hidden")}</text:section>' + p("x"), [("paragraph", "x")]),
        (f"<text:table-of-content><text:index-body>{p('Part 1')}</text:index-body></text:table-of-content>" + p("x"), [("paragraph", "x")]),
        (p("<text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>ji</text:ruby-text></text:ruby>"), [("paragraph", "字")]),
    ],
)  # fmt: skip
def test_text_documents(body: str, blocks: list[tuple[str, str]]) -> None:
    assert shown(read_text(body, TITLE)) == blocks


def test_the_title_is_that_of_the_properties_or_the_first_heading() -> None:
    heading = '<text:h text:outline-level="1">Harbour</text:h>'
    meta = f'<m xmlns:dc="http://purl.org/dc/elements/1.1/" {SPACES}><dc:title>Plan</dc:title></m>'
    assert read_text(heading).title == "Harbour"
    assert read_text(heading, **{"meta.xml": meta}).title == "Plan"


MANIFEST = "<manifest><file-entry><encryption-data/></file-entry></manifest>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 broken", "damaged ODT"),
        (archive({"mimetype": MIME + "text"}), "no content.xml"),
        (odf("text", p("x"), **{"META-INF/manifest.xml": MANIFEST}), "password needed"),
        (odf("spreadsheet", ""), "no text in it"),
        (odf("text", ""), "no text"),
        (odf("text", "<text:p>"), "no valid XML"),
        (odf("text", "", **{"content.xml": f"{DOCTYPE}<a>&b;</a>"}), "entities"),
        (odf("text", "<text:section>" * 500), "no valid XML"),
        (odf("text", " " * (11 * ooxml.MIB)), "out of bounds"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_odt(data, ".odt")


def test_tracked_changes_of_a_real_file(shared_files: Path) -> None:
    extracted = load(shared_files / "fixtures" / "office-other" / "trackedChanges.odt")
    assert extracted.kind == "odt"
    assert extracted.text == "Some text with and inserted text."


def cell(text: str, value: str = "", more: str = "") -> str:
    return f"<table:table-cell {value} {more}>{p(text) if text else ''}</table:table-cell>"


def sheet(name: str, *rows: str, style: str = "") -> str:
    return (
        f'<table:table table:name="{name}" table:style-name="{style}">{"".join(rows)}</table:table>'
    )


def row(*cells: str, times: int = 1) -> str:
    return (
        f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'
    )


def read_sheets(*tables: str, styles: str = "") -> Extracted:
    extracted = load_ods(odf("spreadsheet", "".join(tables), styles), ".ods")
    check(extracted)
    return extracted


def test_a_spreadsheet_as_its_reader_sees_it() -> None:
    gap = '<table:table-cell table:number-columns-repeated="2"/>'
    hidden = (
        '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    )
    note = "<table:table-cell><office:annotation><text:p>ask Anna</text:p></office:annotation><text:p>9</text:p></table:table-cell>"
    extracted = read_sheets(
        sheet(
            "Prices",
            row(times=3),
            row(gap, cell("item"), cell("price"), cell("when")),
            row(gap, cell("pen"), cell("1,50 €", 'office:value="1.5"'), cell("5. März 2024")),
            row(gap, cell("ink"), cell("", 'office:value="2"'), note),
            row(times=1_000_000),
        ),
        sheet("Codes", "<table:table-row-group>", row(cell("door")), row(cell("4711")), "</table:table-row-group>", style="h"),
        styles=hidden,
    )  # fmt: skip
    assert shown(extracted) == [
        ("heading", "Prices"),
        ("table", "item; price; when\nitem: pen; price: 1,50 €; when: 5. März 2024\nitem: ink; price: 2; when: 9"),
        ("paragraph", "Comment on E6: ask Anna"),
        ("heading", "Codes"),
        ("paragraph", "door"),
        ("table", "4711"),
    ]  # fmt: skip
    assert labelled(extracted)["Prices!C5"].startswith("item: pen")
    assert labelled(extracted)["Codes!A2"] == "4711"
    assert extracted.notes == ("sheet Codes is hidden",)


def test_repetition_is_no_bomb() -> None:
    many = 'table:number-columns-repeated="16384"'
    extracted = read_sheets(sheet("S", row(cell("x", "", many), times=1_048_576)))
    assert len(extracted.text) < 20_000


def test_rows_that_are_left_out_do_not_stop_the_next_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MOST_ROWS", 2)
    rows = [row(cell(f"n{n}"), cell(str(n))) for n in range(5)]
    extracted = read_sheets(sheet("A", *rows), sheet("B", *rows))
    assert extracted.missing == (
        "sheet A from row 3 on (too many rows)",
        "sheet B (too many rows before it)",
    )


def page(name: str, *shapes: str, style: str = "") -> str:
    return f'<draw:page draw:name="{name}" draw:style-name="{style}">{"".join(shapes)}</draw:page>'


def frame(text: str, kind: str = "") -> str:
    return f'<draw:frame presentation:class="{kind}"><draw:text-box>{p(text)}</draw:text-box></draw:frame>'


def test_a_presentation_as_its_audience_sees_it() -> None:
    notes = f"<presentation:notes>{frame('greet the mayor', 'notes')}<draw:page-thumbnail presentation:class='page'/></presentation:notes>"
    hidden = '<style:style style:name="h"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    data = odf(
        "presentation",
        page("one", frame("7", "page-number"), frame("body"), frame("Top", "title"), notes)
        + page("two", "<draw:frame><draw:image/></draw:frame>")
        + page("three", f"<draw:g><draw:custom-shape>{p('grouped')}</draw:custom-shape></draw:g>", f"<draw:frame>{TABLE}</draw:frame>", style="h"),
        hidden,
    )  # fmt: skip
    extracted = load_odp(data, ".odp")
    check(extracted)
    assert shown(extracted) == [
        ("heading", "Top"),
        ("paragraph", "body"),
        ("paragraph", "greet the mayor"),
        ("paragraph", "grouped"),
        ("table", "a | b c\n1 | 2 | 2"),
    ]
    assert extracted.missing_pages == (2,)
    assert extracted.notes == ("hidden in the show: slide 3",)
    assert labelled(extracted)["slide 3"] == "grouped"


PIECES = st.sampled_from(
    ["<text:p>x", "</text:p>", "<text:list>", "</text:list>", TABLE, p("y"), "<text:h>", "</text:h>", "<table:table>",
     "</table:table>", row(cell("z")), '<text:h text:outline-level="99999">q</text:h>', '<table:table-row table:number-rows-repeated="-1"/>',
     NOTE.format(p("n")), page("a", frame("t", "title"))]
)  # fmt: skip


@given(st.lists(PIECES, max_size=10).map("".join))
def test_any_content_raises_nothing_but_source_errors(body: str) -> None:
    for loader, kind in ((load_odt, "text"), (load_ods, "spreadsheet"), (load_odp, "presentation")):
        sound_or_refused(loader, odf(kind, body), f".{kind}")


@given(damaged(odf("text", p("some text") * 50, TITLE)))
def test_damage_raises_nothing_but_source_errors(data: bytes) -> None:
    for loader in (load_odt, load_ods, load_odp):
        sound_or_refused(loader, data, ".odt")
