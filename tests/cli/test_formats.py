"""One file of each office format, from the folder to the citation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources import test_epub, test_odt, test_pdf, test_pptx, test_xlsx
from tests.sources.zips import OLE, archive

from .citing import cited, first, index_once
from .harness import invoke


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, bundled_encoder_dir: Path) -> Path:
    """The files, some under wrong names."""
    folder = tmp_path_factory.mktemp("office")
    prices = [
        test_odt.row(*map(test_odt.cell, ("item", "price"))),
        test_odt.row(*map(test_odt.cell, ("rope", "12 marks"))),
        test_odt.row(*map(test_odt.cell, ("lamp oil", "3 marks"))),
    ]
    show = test_odt.page(
        "p", test_odt.frame("Lifeboat drill", "title"), test_odt.frame("Row east.")
    )
    files = {
        "budget.doc": test_xlsx.budget(),
        "deck.pptx": test_pptx.deck(),
        "light.ePub": test_epub.book(test_epub.THREE, nav=test_epub.NAV),
        "tide.zip": test_odt.odf("text", test_odt.p("The spring tide reaches four metres.")),
        "stores.ods": test_odt.odf("spreadsheet", test_odt.sheet("Stores", *prices)),
        "drill.odp": test_odt.odf("presentation", show),
        "crew.csv": b"id;name;role\n4711;Meyer;cook\n4712;Schmidt;pilot\n",
        "licence.pdf": test_pdf.form_with_attachment(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "plain.zip").write_bytes(archive({"notes.txt": "nothing"}))
    (folder / "old.xls").write_bytes(OLE)
    return folder


@pytest.fixture
def inside(office: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(office)
    index_once(
        "10 files: 8 indexed, 0 unchanged, 2 skipped, 0 failed",
        "plain.zip: binary (zip archive)",
        "old.xls: format not supported yet: xls (save it as XLSX)",
    )
    return office


@pytest.mark.model
@pytest.mark.parametrize(
    ("query", "path", "kind", "page", "place", "text"),
    [
        ("price of ink in the north", "budget.doc", "xlsx", None, "Budget!B6", "Region: North; Item: Ink; Price: 50%;"),
        ("greet the mayor", "deck.pptx", "pptx", 2, "slide 2, notes", "Greet the mayor first."),
        ("what did the keeper do", "light.ePub", "epub", None, "chapter 2: The keeper", "The keeper slept."),
        ("spring tide", "tide.zip", "odt", None, None, "The spring tide reaches four metres."),
        ("lamp oil", "stores.ods", "ods", None, "Stores!A3", "item: lamp oil; price: 3 marks"),
        ("lifeboat drill", "drill.odp", "odp", 1, "slide 1", "Row east."),
        ("Schmidt the pilot", "crew.csv", "csv", None, None, "id: 4712; name: Schmidt; role: pilot"),
        ("owner Mira Oskan", "licence.pdf", "pdf", 1, None, "Owner: Mira Oskan"),
    ],
)  # fmt: skip
def test_each_format_is_found_and_cited_with_its_place(
    inside: Path, query: str, path: str, kind: str, page: int | None, place: str | None, text: str
) -> None:
    best = cited(query, path, kind, place)
    assert best["text"].startswith(text)
    assert best["page"] == page


@pytest.mark.model
def test_the_line_of_a_csv_citation_is_the_line_of_the_file(inside: Path) -> None:
    hit = first("Schmidt the pilot")
    lines = (inside / "crew.csv").read_text().splitlines()
    assert lines[hit["best_sentence"]["line"] - 1] == "4712;Schmidt;pilot"


@pytest.mark.model
def test_what_was_left_out_is_listed(inside: Path) -> None:
    files = {
        one["relative"]: one
        for one in invoke("status", "--files", "--json").json("status@1")["files"]
    }
    assert files["deck.pptx"]["status"] == "partial"
    assert "no text on page 3 of 5" in files["deck.pptx"]["reason"]
    assert "sheet Codes is hidden" in str(files["budget.doc"])
    assert "notes.txt" in str(files["licence.pdf"])
