import datetime
import io
import math
import time
from contextlib import suppress

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.utils import get_column_letter

from ragcli.errors import SourceError
from ragcli.sources import ooxml, sheets
from ragcli.sources.number_format import built_in, show
from ragcli.sources.sheets import column_name
from ragcli.sources.xlsx import load_xlsx
from ragcli.text.sentences import split_sentences
from ragcli.types import Extracted

from .zips import (
    DOCTYPE,
    LOCKED,
    OLE,
    archive,
    check,
    damaged,
    labelled,
    replaced,
    saved,
    shown,
    sound_or_refused,
    without,
)

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"


def read(data: bytes) -> Extracted:
    extracted = load_xlsx(data, ".xlsx")
    check(extracted)
    return extracted


def raw(rows: str, *, strings: str = "", namespace: str = MAIN, sheet: str = "S") -> bytes:
    """A workbook with one sheet, from the XML of its rows."""
    types = namespace.replace("spreadsheetml", "officeDocument") + "/relationships"
    return archive(
        {
            "xl/workbook.xml": f'<workbook xmlns="{namespace}" xmlns:r="{types}"><sheets>'
            f'<sheet name="{sheet}" sheetId="1" r:id="a"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships xmlns="p">'
            f'<Relationship Id="a" Type="{types}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="b" Type="{types}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
            "</Relationships>",
            "xl/sharedStrings.xml": f'<sst xmlns="{namespace}">{strings}</sst>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{namespace}"><sheetData>{rows}'
            "</sheetData></worksheet>",
        }
    )


def budget() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Budget"
    sheet["B2"] = "Budget of the harbour"
    sheet.merge_cells("B2:F2")
    rows = [
        ["Region", "Item", "Price", "When", "Done"],
        ["North", "Pens", 1234.5, datetime.date(2024, 3, 5), True],
        [None, "Ink", 0.5, datetime.datetime(2024, 3, 6, 14, 30), False],
        ["South", "Dr. No's paper. Thick", -3, datetime.date(2024, 4, 1), None],
    ]
    for row, cells in enumerate(rows, 4):
        for column, value in enumerate(cells, 2):
            sheet.cell(row, column, value)
    sheet.merge_cells("B5:B6")
    sheet["D5"].number_format = '#,##0.00 "€"'
    sheet["D6"].number_format = "0%"
    sheet["E7"].number_format = "dd.mm.yyyy"
    sheet["B7"].comment = Comment("Check this with Anna.", "me")
    sheet["B9"] = "=SUM(D5:D7)"
    chart = BarChart()
    chart.title = "Prices by region"
    chart.add_data(Reference(sheet, min_col=4, min_row=4, max_row=7), titles_from_data=True)
    sheet.add_chart(chart, "H2")
    hidden = book.create_sheet("Codes")
    hidden.sheet_state = "hidden"
    hidden.append(["door", "code"])
    hidden.append(["north", 4711])
    book.create_sheet("Empty")
    return saved(book)


def test_a_workbook_as_its_reader_sees_it() -> None:
    extracted = read(budget())
    assert shown(extracted) == [
        ("heading", "Budget"),
        ("paragraph", "Budget of the harbour"),
        (
            "table",
            "Region; Item; Price; When; Done\n"
            "Region: North; Item: Pens; Price: 1,234.50 €; When: 2024-03-05; Done: TRUE\n"
            "Region: North; Item: Ink; Price: 50%; When: 2024-03-06 14:30:00; Done: FALSE\n"
            "Region: South; Item: Dr. No's paper. Thick; Price: -3; When: 01.04.2024",
        ),
        ("paragraph", "Chart: Prices by region"),
        ("paragraph", "Comment on B7: Check this with Anna."),
        ("heading", "Codes"),
        ("table", "door; code\ndoor: north; code: 4711"),
    ]
    assert labelled(extracted)["Budget!B6"].startswith("Region: North; Item: Ink")
    assert labelled(extracted)["Codes!A2"] == "door: north; code: 4711"
    assert extracted.notes == (
        "sheet Codes is hidden",
        "1 formula without a saved value left out",
    )
    assert extracted.missing == ()


def test_each_row_is_a_sentence() -> None:
    extracted = read(budget())
    sentences = [s.of(extracted.text) for s in split_sentences(extracted.text, extracted.blocks)]
    assert "Region: South; Item: Dr. No's paper. Thick; Price: -3; When: 01.04.2024" in sentences


@pytest.mark.parametrize("namespace", [MAIN, STRICT])
@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ('<row r="3"><c r="C3" t="s"><v>0</v></c><c r="D3"><v>0.30000000000000004</v></c></row>', "rich text: 0.3"),
        ('<row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>', "a: b"),
        ('<row r="1"><c r="A1" t="str"><f>B1</f><v>saved</v></c></row>', "saved"),
        ('<row><c t="inlineStr"><is><t>a_x000D_b_x005F_c</t></is></c></row>', "a b_c"),
        ('<row r="1"><c r="A1" t="e"><v>#DIV/0!</v></c></row>', "#DIV/0!"),
        ('<row r="1"><c r="A1" t="b"><v>1</v></c></row>', "TRUE"),
        ('<row r="1"><c r="A1" t="d"><v>2024-03-05T00:00:00</v></c></row>', "2024-03-05"),
        ('<row r="1"><c r="A1" t="s"><v>99</v></c><c r="B1"><v>7</v></c></row>', "7"),
        ('<row r="1"><c r="A1"><v>1e999</v></c></row>', "1e999"),
        ('<row r="1"><c r="A1" s="9"><v>12345678901</v></c></row>', "12345678901"),
    ],
)  # fmt: skip
def test_cells(rows: str, text: str, namespace: str) -> None:
    strings = "<si><r><t>rich </t></r><r><t>text</t></r><rPh><t>phonetic</t></rPh></si>"
    extracted = read(raw(rows, strings=strings, namespace=namespace))
    assert shown(extracted)[1:][0][1] == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.1 + 0.2, "General", "0.3"), (123456789012, "General", "123456789012"),
        (1234.5, "#,##0.00", "1,234.50"), (1234.5, '#,##0.00 "€"', "1,234.50 €"),
        (1234.5, "[$$-409]#,##0.00", "$1,234.50"), (-3, "#,##0;[Red]-#,##0", "-3"),
        (-3, "0;[Red]0", "-3"), (-3.5, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\)', "$(3.50)"),
        (0, '0;-0;"none"', "none"), (1234, "00000", "01234"), (123456789, "000-00-0000", "123-45-6789"),
        (0.256, "0%", "26%"), (0.256, "0.0%", "25.6%"), (12345, "0.00E+00", "1.23E+04"),
        (1500000, '0.0,,"M"', "1.5M"), (5, '0" bar"', "5 bar"), (0.5, "# ?/?", "0.5"),
        (45356, "dd.mm.yyyy", "05.03.2024"), (45356, "d-mmm-yy", "5-Mar-2024"),
        (45356.75, "yyyy-mm-dd h:mm:ss", "2024-03-05 18:00:00"), (45356, "dddd, d mmmm yyyy", "Tuesday, 5 March 2024"),
        (0.5, "h:mm AM/PM", "12:00 PM"), (1.5, "[h]:mm", "36:00"), (59, "yyyy-mm-dd", "1900-02-28"),
        (1e300, "yyyy", "1e+300"), (7, "@", "7"), (0, "#", "0"), (3, "[>5]0.0;0", "3"), (2, "", "2"),
        (45356, built_in(14), "2024-03-05"), (0.1, built_in(10), "10.00%"),
    ],
)  # fmt: skip
def test_number_formats(value: float, code: str, text: str) -> None:
    assert show(value, code) == text


def test_the_other_calendar() -> None:
    assert show(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"


@example(1.7e308, "0%0")
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.sampled_from('0#?.,%;"[]$€-ymdhs: \\_*E+@/AMP'), max_size=20),
)
def test_any_format_shows_something(value: float, code: str) -> None:
    assert show(value, code).strip() or set(code) & set(';"\\_*[')
    assert math.isfinite(value)


@given(st.integers(0, 16_383))
def test_column_names(column: int) -> None:
    assert column_name(column) == get_column_letter(column + 1)


SIMPLE = st.one_of(
    st.integers(-(10**9), 10**9),
    st.text(st.sampled_from("abcé .;:"), min_size=1, max_size=10).filter(str.strip),
    st.booleans(),
)


@settings(max_examples=15)
@given(st.lists(st.lists(SIMPLE | st.none(), max_size=4), min_size=1, max_size=12))
def test_everything_openpyxl_reads_is_there(rows: list[list[object]]) -> None:
    """A second reader: each cell it gives is in the line of its row."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    data = saved(book)
    cells = [
        (number, cell)
        for number, row in enumerate(openpyxl.load_workbook(io.BytesIO(data)).active.values, 1)
        for cell in row
        if cell is not None
    ]
    if not cells:
        with pytest.raises(SourceError, match="no text"):
            load_xlsx(data, ".xlsx")
        return
    extracted = read(data)
    lines = {label.lstrip("Shet!ABCD"): line for label, line in labelled(extracted).items()}
    for number, cell in cells:
        shown_as = str(cell).upper() if isinstance(cell, bool) else " ".join(str(cell).split())
        assert shown_as in lines[str(number)]


def test_a_million_empty_rows_with_a_colour_are_passed_over() -> None:
    cells = "".join(f'<row r="{n}"><c r="A{n}" s="1"/></row>' for n in range(2, 50_000))
    hello = '<c r="A{0}" t="inlineStr"><is><t>hello</t></is></c>'
    started = time.process_time()
    extracted = read(raw(f'<row r="1">{hello.format(1)}</row>{cells}<row r="1048576">{hello.format(1048576)}</row>'))  # fmt: skip
    assert time.process_time() - started < 10
    assert extracted.places[-1][1] == "S!A1048576"


def test_what_is_too_much_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    book = openpyxl.Workbook()
    for number in range(10):
        book.active.append([f"n{number}", number])
    book.create_sheet("Later").append(["x"])
    assert read(saved(book)).missing == (
        "sheet Sheet from row 4 on (too many rows)",
        "sheet Later (too many rows before it)",
    )


def test_a_damaged_sheet_costs_only_its_rest() -> None:
    data = replaced(budget(), "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="str"><v>kept</v></c></row><row>')  # fmt: skip
    extracted = read(data)
    assert "kept" in extracted.text
    assert "north" in extracted.text
    assert [one.partition(":")[0] for one in extracted.missing] == ["rest of sheet Budget"]


def test_a_missing_sheet_is_named() -> None:
    assert read(without(budget(), "xl/worksheets/sheet1.xml")).missing == (
        "sheet Budget is not in the file",
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 broken", "damaged XLSX"),
        (budget()[:-60], "damaged XLSX"),
        (LOCKED, "password needed"),
        (OLE, "an old Excel file"),
        (archive({"x": "y"}), "no xl/workbook.xml"),
        (raw(""), "no text"),
        (raw("").replace(b"xl/workbook.xml", b"xl/workbook.xmm"), "damaged XLSX"),
        (replaced(raw(""), "xl/workbook.xml", f"{DOCTYPE}<workbook/>"), "entities"),
        (replaced(raw(""), "xl/worksheets/sheet1.xml", f"{DOCTYPE}<a>&b;</a>"), "entities"),
        (replaced(raw(""), "xl/sharedStrings.xml", "<sst><si><t>" + "x" * (9 * ooxml.MIB) + "</t></si></sst>"), "out of bounds"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_xlsx(data, ".xlsx")


def test_too_many_strings_are_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.sources.xlsx._MOST_STRINGS", 10)
    with pytest.raises(SourceError, match="bomb"):
        load_xlsx(raw("", strings="<si><t>x</t></si>" * 11), ".xlsx")


def test_a_stream_that_goes_on_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ooxml, "MOST_STREAMED", 200_000)
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 5000))
    extracted = read(raw(rows))
    assert extracted.missing == ("rest of sheet S (too long)",)


@given(damaged(budget()))
def test_damage_raises_nothing_but_source_errors(data: bytes) -> None:
    sound_or_refused(load_xlsx, data, ".xlsx")


TAGS = st.sampled_from(
    ['<row r="2">', "<row>", "</row>", '<c t="s">', '<c r="ZZZ9999999">', '<c s="-1">', "</c>",
     "<v>", "</v>", "<v>-1</v>", "<v>1e400</v>", "<is><t>x</t></is>", "<f/>", "</sheetData>"]
)  # fmt: skip


@given(st.lists(TAGS, max_size=12).map("".join))
def test_any_xml_raises_nothing_but_source_errors(rows: str) -> None:
    sound_or_refused(load_xlsx, raw(rows), ".xlsx")


def test_merges_that_never_end_take_no_time() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row></sheetData>' + "<mergeCell " * 60_000
    started = time.process_time()
    with suppress(SourceError):
        load_xlsx(raw(rows), ".xlsx")
    assert time.process_time() - started < 5


def test_damaged_formats_and_properties_cost_only_themselves() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Ore", "Grade"])
    book.active.append(["Tin", 4])
    data = replaced(saved(book), "docProps/core.xml", "<broken")
    assert load_xlsx(data, ".xlsx").missing == ()
    found = load_xlsx(replaced(data, "xl/styles.xml", "<broken"), ".xlsx")
    assert "Ore: Tin; Grade: 4" in found.text
    assert [one.partition(":")[0] for one in found.missing] == ["formats of numbers and dates"]


@pytest.mark.parametrize(
    ("strings", "reasons"),
    [
        ("<sst><si><t>Ore</t></si><si><t>Tin", ["shared strings", "the text of 1 cells is not in"]),
        ("<sst><si><t>Ore</t></si></sst>", ["the text of 1 cells is not in"]),
    ],
)
def test_cells_whose_text_is_lost_are_counted(strings: str, reasons: list[str]) -> None:
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row></sheetData>'
        "</worksheet>"
    )
    relations = (
        '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>'
        '<Relationship Id="s" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>'
    )
    data = replaced(saved(openpyxl.Workbook()), "xl/worksheets/sheet1.xml", sheet)
    data = replaced(data, "xl/_rels/workbook.xml.rels", relations)
    found = load_xlsx(replaced(data, "xl/sharedStrings.xml", strings), ".xlsx")
    assert found.text.endswith("Ore")
    assert all(one.startswith(told) for one, told in zip(found.missing, reasons, strict=True))
