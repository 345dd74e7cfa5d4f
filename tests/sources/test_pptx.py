import io

import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from ragcli.errors import SourceError
from ragcli.sources.pptx import load_pptx
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

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def read(data: bytes) -> Extracted:
    extracted = load_pptx(data, ".pptx")
    check(extracted)
    return extracted


def deck() -> bytes:
    show = pptx.Presentation()
    layouts = show.slide_layouts
    plan = show.slides.add_slide(layouts[1])
    plan.shapes.title.text = "Harbour plan"
    plan.placeholders[1].text = "Dredge the basin\nRepair the quay"
    plan.notes_slide.notes_text_frame.text = "Greet the mayor first."
    costs = show.slides.add_slide(layouts[5])
    table = costs.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(2)).table
    for at, text in enumerate(("Work", "Marks", "Quay", "900")):
        table.cell(at // 2, at % 2).text = text
    group = costs.shapes.add_group_shape()
    group.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "deep inside"
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Stone", (5, 6.5))
    data.add_series("Sand", (3, 4))
    costs.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    costs.shapes.title.text = "Costs"  # the title is drawn last and read first
    show.slides.add_slide(layouts[6]).shapes.add_picture(io.BytesIO(PIXEL), 0, 0)
    show.slides.add_slide(layouts[6])
    secret = show.slides.add_slide(layouts[5])
    secret.shapes.title.text = "Reserve"
    secret._element.set("show", "0")
    order = show.slides._sldIdLst
    order.insert(0, order[1])  # shown in another order than the files have
    return saved(show)


def test_a_deck_as_its_audience_sees_it() -> None:
    extracted = read(deck())
    assert shown(extracted) == [
        ("heading", "Costs"),
        ("table", "Work | Marks\nQuay | 900"),
        ("paragraph", "deep inside"),
        ("table", "Q1; Stone: 5; Sand: 3\nQ2; Stone: 6.5; Sand: 4"),
        ("heading", "Harbour plan"),
        ("list", "Dredge the basin\nRepair the quay"),
        ("paragraph", "Greet the mayor first."),
        ("heading", "Reserve"),
    ]
    assert labelled(extracted) == {
        "slide 1": "Costs",
        "slide 2": "Harbour plan",
        "slide 2, notes": "Greet the mayor first.",
        "slide 5": "Reserve",
    }
    assert [extracted.text[at:].lstrip()[:5] for at in extracted.page_starts] == [
        "Costs", "Harbo", "Reser", "Reser", "Reser",
    ]  # fmt: skip
    assert extracted.missing_pages == (3,)
    assert extracted.notes == ("slide 5 hidden in the show",)
    assert extracted.title == "Costs"


def test_everything_python_pptx_reads_is_there() -> None:
    """A second reader: every text frame and cell it gives is in our text."""
    data = deck()
    ours = read(data).text
    found = []
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        frames = [shape.text_frame for shape in slide.shapes if shape.has_text_frame]
        found += [p.text for frame in frames for p in frame.paragraphs]
        found += [c.text for s in slide.shapes if s.has_table for c in s.table.iter_cells()]
        if slide.has_notes_slide:
            found.append(slide.notes_slide.notes_text_frame.text)
    assert len([text for text in found if text]) >= 10
    assert [text for text in found if text not in ours] == []


def text_body(text: str) -> str:
    return f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>"


def shape(text: str, kind: str = "") -> str:
    holder = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    return f"<p:sp>{holder}{text_body(text)}</p:sp>"


def raw(shapes: str, **parts: str) -> bytes:
    """A deck of one slide from the XML of its shapes."""
    spaces = f'xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{R}" xmlns:mc="{MC}" xmlns:dgm="{DGM}"'
    return archive(
        {
            "ppt/presentation.xml": f'<p:presentation {spaces}><p:sldIdLst><p:sldId id="9" r:id="s"/>'
            "</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": f'<R xmlns="x"><r Id="s" Type="{R}/slide" Target="slides/a.xml"/></R>',
            "ppt/slides/a.xml": f"<p:sld {spaces}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
            "ppt/slides/_rels/a.xml.rels": f'<R xmlns="x"><r Id="d" Type="{R}/diagramData" Target="../d.xml"/></R>',
            "ppt/d.xml": f"<dgm:dataModel {spaces}><dgm:pt><dgm:t><a:p><a:r><a:t>first step</a:t></a:r></a:p></dgm:t></dgm:pt>"
            "<dgm:pt><dgm:t><a:p><a:r><a:t>second step</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>",
            **parts,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shapes", "blocks"),
    [
        (shape("body") + shape("top", "ctrTitle"), [("heading", "top"), ("paragraph", "body")]),
        (shape("7", "sldNum") + shape("body") + shape("2024", "dt"), [("paragraph", "body")]),
        (
            '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></a:graphic></p:graphicFrame>',
            [("list", "first step\nsecond step")],
        ),
        (
            f"<mc:AlternateContent><mc:Choice>{shape('once')}</mc:Choice><mc:Fallback>{shape('once')}</mc:Fallback></mc:AlternateContent>",
            [("paragraph", "once")],
        ),
        ("<p:sp><p:txBody><a:p><a:r><a:t>a</a:t></a:r><a:br/><a:fld><a:t>b</a:t></a:fld></a:p></p:txBody></p:sp>", [("paragraph", "a b")]),
    ],
)  # fmt: skip
def test_shapes(shapes: str, blocks: list[tuple[str, str]]) -> None:
    assert shown(read(raw(shapes))) == blocks


def test_a_damaged_or_missing_slide_loses_only_itself() -> None:
    assert read(replaced(deck(), "ppt/slides/slide1.xml", "<p:sld")).missing == (
        "slide 2: damaged PPTX (ppt/slides/slide1.xml is no valid XML)",
    )
    extracted = read(without(deck(), "ppt/slides/slide1.xml"))
    assert extracted.missing == ("slide 2 is not in the file",)
    assert "Reserve" in extracted.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 broken", "damaged PPTX"),
        (OLE, "an old PowerPoint file"),
        (LOCKED, "password"),
        (archive({"x": "y"}), "no ppt/presentation.xml"),
        (raw(""), "no text"),
        (raw("<p:pic/>"), "pictures only"),
        (raw("", **{"ppt/slides/a.xml": f"{DOCTYPE}<a>&b;</a>"}), "entities"),
        (raw("<p:grpSp>" * 400), "no valid XML"),
        (raw("", **{"ppt/slides/a.xml": " " * (11 << 20)}), "out of bounds"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_pptx(data, ".pptx")


@given(damaged(deck()))
def test_damage_raises_nothing_but_source_errors(data: bytes) -> None:
    sound_or_refused(load_pptx, data, ".pptx")


PIECES = st.sampled_from(
    [shape("x"), shape("t", "title"), "<p:grpSp>", "</p:grpSp>", "<p:pic/>", "<a:tbl><a:tr><a:tc/></a:tr></a:tbl>",
     '<p:graphicFrame><c r:id="none" xmlns="c"/></p:graphicFrame>', "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:t>c</a:t></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=10).map("".join))
def test_any_shapes_raise_nothing_but_source_errors(shapes: str) -> None:
    sound_or_refused(load_pptx, raw(shapes), ".pptx")
