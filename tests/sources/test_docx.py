import io
import zipfile
from pathlib import Path

import pytest

from ragcli.errors import SourceError
from ragcli.sources import ooxml
from ragcli.sources.docx import load_docx
from ragcli.types import Extracted

from .zips import LOCKED, OLE

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def package(body: str, namespace: str = W, **parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{namespace}" xmlns:mc="{MC}"><w:body>{body}</w:body></w:document>',
        )
        for name, text in parts.items():
            archive.writestr(f"word/{name}.xml", text.replace("<w:", "<w:", 1))
    return out.getvalue()


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{r(text)}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, extracted.text[b.start : b.end]) for b in extracted.blocks]


STYLES = (
    f'<w:styles xmlns:w="{W}">'
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>'
    "</w:styles>"
)
TABLE = (
    "<w:tbl><w:tr><w:tc>{0}</w:tc><w:tc>{1}{1}</w:tc></w:tr>"
    "<w:tr><w:trPr><w:del/></w:trPr><w:tc>{0}</w:tc></w:tr></w:tbl>"
).format(p("a"), p("b"))
BOX = "<w:drawing><w:txbxContent>{}</w:txbxContent></w:drawing>"


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        (p("One.") + p("Two."), [("paragraph", 0, "One."), ("paragraph", 0, "Two.")]),
        (p("T", '<w:pStyle w:val="Mine"/>'), [("heading", 1, "T")]),
        (p("T", '<w:pStyle w:val="Loop"/>'), [("paragraph", 0, "T")]),
        (p("T", '<w:outlineLvl w:val="1"/>'), [("heading", 2, "T")]),
        (p("x", "<w:numPr/>") + p("y", "<w:numPr/>"), [("list", 0, "x\ny")]),
        (TABLE, [("table", 0, "a | b b")]),
        (f"<w:p>{r('a')}<w:ins>{r('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>", [("paragraph", 0, "anew")]),
        (f"<w:p><w:moveFrom>{r('from')}</w:moveFrom><w:moveTo>{r('to')}</w:moveTo></w:p>", [("paragraph", 0, "to")]),
        (f"<w:p>{r('seen')}{r('hidden', '<w:vanish/>')}</w:p>", [("paragraph", 0, "seen")]),
        ("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>", [("paragraph", 0, "a b c")]),
        (f"<w:p>{r('a')}<w:r>{BOX.format(p('boxed'))}</w:r></w:p>", [("paragraph", 0, "a"), ("paragraph", 0, "boxed")]),
        (
            f"<w:p><w:r><mc:AlternateContent><mc:Choice>{BOX.format(p('once'))}</mc:Choice>"
            f"<mc:Fallback>{BOX.format(p('once'))}</mc:Fallback></mc:AlternateContent></w:r></w:p>",
            [("paragraph", 0, "once")],
        ),
        (f"<w:sdt><w:sdtContent>{p('control')}</w:sdtContent></w:sdt>", [("paragraph", 0, "control")]),
        (f"<w:p>{r('a')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>", [("paragraph", 0, "a"), ("paragraph", 0, "the note")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("namespace", [W, STRICT])
def test_structure(body: str, blocks: list[tuple[str, int, str]], namespace: str) -> None:
    notes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{p("the note")}</w:footnote></w:footnotes>'
    data = package(body, namespace, styles=STYLES, footnotes=notes)
    assert shown(load_docx(data, ".docx")) == blocks


ENTITIES = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


def raw(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 broken", "not a whole zip"),
        (package(p("x"))[:-40], "not a whole zip"),
        (LOCKED, "password needed"),
        (OLE, "an old Word file"),
        (raw("other.xml", b"<a/>"), "no word/document.xml"),
        (raw("word/document.xml", b"<a>"), "no valid XML"),
        (raw("word/document.xml", f"{ENTITIES}<a>&b;</a>".encode()), "entities"),
        (raw("word/document.xml", f"{ENTITIES}<a>&b;</a>".encode("utf-16")), "entities"),
        (raw("word/document.xml", b"<a>" + b" " * (11 * ooxml.MIB) + b"</a>"), "out of bounds"),
        (package(""), "no text"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_docx(data, ".docx")


def test_a_part_that_lies_about_its_size_is_not_unpacked() -> None:
    data = raw("word/document.xml", b"<a>" + b" " * 5000 + b"</a>")
    small = (100).to_bytes(4, "little")
    lying = data.replace((5007).to_bytes(4, "little"), small)
    with pytest.raises(SourceError):
        load_docx(lying, ".docx")


def test_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ooxml, "MOST_ENTRIES", 1)
    with pytest.raises(SourceError, match="too many parts"):
        load_docx(package(p("x"), styles=STYLES), ".docx")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("track_changes_insertion.docx", "This is a text with two exciting insertions."),
        ("tables.docx", "Lebron James | Basketball | Very High | Leaving Cleveland"),
        ("Strict.docx", "Some text"),
        ("docx_external_image.docx", "This paragraph comes after the external image."),
        ("handbook-872p.docx", "Standing Trustees"),
    ],
)
def test_real_files(shared_files: Path, name: str, words: str) -> None:
    data = (shared_files / "fixtures" / "docx" / name).read_bytes()
    assert words in load_docx(data, ".docx").text


def test_a_truncated_file(shared_files: Path) -> None:
    data = (shared_files / "fixtures" / "docx" / "testWORD_truncated.docx").read_bytes()
    with pytest.raises(SourceError, match="damaged DOCX"):
        load_docx(data, ".docx")


def test_everything_python_docx_reads_is_there() -> None:
    """A second reader: its paragraphs and cells, in order, are all in our text."""
    import docx

    import ragcli.samples

    path = Path(next(iter(ragcli.samples.__path__))) / "bird-census-2022.docx"
    ours = " ".join(load_docx(path.read_bytes(), ".docx").text.split())
    document = docx.Document(str(path))
    paragraphs = [" ".join(one.text.split()) for one in document.paragraphs]
    cells = [" ".join(c.text.split()) for t in document.tables for r in t.rows for c in r.cells]
    at = 0
    for text in filter(None, paragraphs):
        found = ours.find(text[:40], at)
        assert found >= 0, text
        at = found
    assert [cell for cell in cells if cell not in ours] == []
    assert len(paragraphs) > 20
    assert len(cells) > 20


FOOTNOTES = (
    f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="1">{p("One says basalt.")}</w:footnote>'
    "</w:footnotes>"
)
FOOTNOTE = '<w:r><w:footnoteReference w:id="1"/></w:r>'
BOTH = (
    "<w:r><mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback>"
    "</mc:AlternateContent></w:r>"
).format(BOX.format(p("In a box.")))


def test_notes_and_boxes_of_cells_follow_the_table_once() -> None:
    row = "<w:tr><w:tc><w:p>{}</w:p></w:tc><w:tc>{}</w:tc></w:tr>"
    first = row.format(r("Basalt") + FOOTNOTE + BOTH, p("6"))
    table = f"<w:tbl>{first}{row.format(r('Chalk'), p('1'))}</w:tbl>"
    found = load_docx(package(table, footnotes=FOOTNOTES), ".docx")
    assert found.text == "Basalt | 6\nChalk | 1\n\nOne says basalt.\n\nIn a box."


def test_notes_of_long_cells_are_read_once() -> None:
    cell = f"<w:tc><w:p>{r('Words. ' * 60)}{FOOTNOTE}{BOTH}</w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell}<w:tc>{p('b')}</w:tc></w:tr></w:tbl>"
    found = load_docx(package(table, footnotes=FOOTNOTES), ".docx")
    assert found.text.count("One says basalt.") == found.text.count("In a box.") == 1


def test_cells_hold_the_text_of_tables_in_them() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{p('n1')}</w:tc><w:tc>{p('n2')}</w:tc></w:tr></w:tbl>"
    table = f"<w:tbl><w:tr><w:tc>{p('a')}{inner}</w:tc><w:tc>{p('b')}</w:tc></w:tr></w:tbl>"
    assert load_docx(package(table), ".docx").text == "a n1 n2 | b"


def test_a_damaged_part_costs_what_is_in_it() -> None:
    found = load_docx(package(p("Body."), styles="<w:st", footnotes="<w:f"), ".docx")
    assert found.text == "Body."
    assert [one.partition(":")[0] for one in found.missing] == ["headings and lists", "footnotes"]


def test_what_comes_from_another_file_is_named() -> None:
    found = load_docx(package(p("Body.") + "<w:altChunk/>"), ".docx")
    assert found.missing == ("1 inserted from other files (altChunk)",)
    with pytest.raises(SourceError, match="altChunk"):
        load_docx(package("<w:altChunk/>"), ".docx")


def test_a_main_part_that_is_not_there_is_looked_for_where_it_always_is() -> None:
    root = (
        '<Relationships xmlns="x"><Relationship Id="r" Type="x/officeDocument" Target="no.xml"/>'
        "</Relationships>"
    )
    for relations in (root, "<broken"):
        out = io.BytesIO(package(p("Still here.")))
        with zipfile.ZipFile(out, "a") as archive:
            archive.writestr("_rels/.rels", relations)
        assert load_docx(out.getvalue(), ".docx").text == "Still here."
