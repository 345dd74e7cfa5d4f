"""What files unpack to: bombs, loops, depth and length. One bad file costs one line."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcli.events import FileDone
from ragcli.sources.load import Parsed
from ragcli.types import FileEntry
from tests.plain_pdf import FONT, assemble, stream

from .hostile import W, docx, extract, outcome, paragraph
from .zips import archive


def understated(data: bytes) -> bytes:
    """An archive that says its parts are small."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        for info in file.infolist():
            data = data.replace(info.file_size.to_bytes(4, "little"), (99).to_bytes(4, "little"))
    return data


def laughs(levels: int = 9) -> str:
    """Ten to the power of `levels` words."""
    entities = ['<!ENTITY e0 "ha">']
    for level in range(1, levels + 1):
        entities.append(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">')
    return f"<!DOCTYPE l [{''.join(entities)}]>"


UTF16 = '<?xml version="1.0" encoding="utf-16"?>'
FILE = '<!DOCTYPE l [<!ENTITY e9 SYSTEM "file:///etc/hostname">]>'
TABLES = ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>")
INDEX_LOOP = {
    "word/styles.xml": f'<w:styles {W}><w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>'
    '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>'
}


DOCX: dict[str, tuple[Callable[[], bytes], str]] = {
    "ratio": (lambda: docx(paragraph("a" * 30_000_000)), "zip bomb"),
    "nested": (lambda: docx(paragraph(archive({"a": archive({"b": b"x"})}).hex())), "text: 504b"),
    "laughs": (lambda: docx(paragraph("&e9;"), laughs()), "entities"),
    "laughs in UTF-16": (lambda: docx(paragraph("&e9;"), UTF16 + laughs(), "utf-16"), "DOCX"),
    "in an attribute": (
        lambda: docx('<w:p w:x="&e9;"/>', UTF16 + laughs(), "utf-16"), "DOCX",
    ),
    "external": (lambda: docx(paragraph("&e9;"), FILE), "entities"),
    "external in UTF-16": (lambda: docx(paragraph("&e9;"), UTF16 + FILE, "utf-16"), "entities"),
    "deep": (lambda: docx(TABLES[0] * 60 + paragraph("in") + TABLES[1] * 60), "text: in"),
    "too deep": (lambda: docx(TABLES[0] * 30_000), "no valid XML"),
    "style loop": (
        lambda: docx(
            '<w:p><w:pPr><w:pStyle w:val="A"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>', **INDEX_LOOP
        ),
        "text: x",
    ),
    "parts": (lambda: docx("", **{f"{n}": "" for n in range(10_001)}), "too many parts"),
    "twice": (lambda: docx(paragraph("x")) + docx(paragraph("y")), "text: y"),
    "wrong size": (lambda: understated(docx(paragraph("x" * 999))), "DOCX"),
}  # fmt: skip


def page(content: bytes) -> bytes:
    return assemble(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            FONT,
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]"
            b"/Resources<</Font<</F 3 0 R>>/XObject<</X 6 0 R>>>>/Contents 5 0 R>>",
            content,
            b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
            b"/Length 14>>stream\n/X Do /X Do /X\nendstream",
        ]
    )


def packed(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return stream(data, b"/Filter[%b]" % (b"/FlateDecode" * times))


def tree(kids: bytes, count: int) -> bytes:
    return assemble(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, count)]
    )


PDF: dict[str, tuple[Callable[[], bytes], str]] = {
    "blanks": (lambda: page(packed(b" " * 60_000_000)), "no text layer"),
    "packed twice": (lambda: page(packed(b" " * 300_000_000, 2)), "too much memory"),
    "saved states": (lambda: page(packed(b"q " * 5_000_000)), "gave up"),
    "one word again": (
        lambda: page(packed(b"BT /F 9 Tf (word) Tj ET\n" * 50_000)), "text: word",
    ),
    "form in itself": (lambda: page(stream(b"/X Do BT /F 9 Tf (word) Tj ET")), "gave up"),
    "page loop": (lambda: tree(b"2 0 R 2 0 R", 100_000), "no text layer"),
    "count": (lambda: tree(b"", 2_000_000_000), "PDF"),
    "nested arrays": (
        lambda: assemble([b"<</Type/Catalog/Pages 2 0 R/X %b>>" % (b"[" * 100_000), b"<<>>"]), "no text layer",
    ),
    "reference loop": (lambda: assemble([b"<</Type/Catalog/Pages 2 0 R>>", b"2 0 R"]), "PDF"),
}  # fmt: skip


UNPACKED = {"a.docx": (800 << 20, DOCX), "a.pdf": (500 << 20, PDF)}  # with bytes of memory


@pytest.mark.parametrize(
    ("name", "how"), [(name, how) for name, (_, cases) in UNPACKED.items() for how in cases]
)
def test_what_a_file_unpacks_to(tmp_path: Path, name: str, how: str) -> None:
    memory, cases = UNPACKED[name]
    make, said = cases[how]
    got = outcome(tmp_path, name, make(), memory_limit=memory, time_limit=20)
    assert said in got[:200]
    assert "ha" * 50 not in got


DEEP: dict[str, bytes] = {
    "a.html": b"<html><body>" + b"<b>" * 20_000 + b"in",
    "b.html": b"<html>" + b"<div>" * 3_000 + b"in",
    "c.html": b"<html>" + b"<table><tr><td>" * 2_000 + b"in",
    "d.html": b"<html>" + b"<" * 500_000,
    "e.json": b"[" * 300_000,
    "f.json": b'{"a":' * 50_000 + b"1",
    "g.xml": laughs().encode() + b"<l>&e9;</l>",
    "h.md": b"> " * 50_000 + b"x",
    "i.md": b"[" * 100_000,
    "j.py": b"(" * 100_000,
    "k.txt": b"a" * 2_000_000,
    "l.txt": b"text here. " * 1000 + bytes(3_000_000),
    "m.txt": b"a" + "\u0301".encode() * 300_000,
    "n.csv": b'"' * 300_001,
    "o.docx": b"PK\x03\x04" + bytes(range(256)) * 100,
    "p.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 1000,
}


def test_deep_long_and_meaningless(tmp_path: Path) -> None:
    for name, data in DEEP.items():
        (tmp_path / name).write_bytes(data)
    entries = [FileEntry(tmp_path, name, len(data), 0) for name, data in DEEP.items()]
    results = extract(*entries, memory_limit=800 << 20, time_limit=20)
    for name, result in zip(DEEP, results, strict=True):
        if isinstance(result, FileDone):
            assert "reader" not in result.reason, (name, result.reason)
            assert "Error" not in result.reason, (name, result.reason)
        else:
            assert len(result.extracted.text) <= len(DEEP[name])


def test_a_sparse_file_below_the_limit(tmp_path: Path) -> None:
    """Mostly holes: its letters are kept, its NULs become blanks, memory is bounded."""
    with (tmp_path / "holes.txt").open("wb") as file:
        file.write(b"The first words.\n" * 600)
        file.truncate(20 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\nThe last words.\n")
    (result,) = extract(
        FileEntry(tmp_path, "holes.txt", 20 << 20, 0), memory_limit=600 << 20, time_limit=60
    )
    assert isinstance(result, Parsed)
    assert result.extracted.text.rstrip().endswith("The last words.")
    assert "\0" not in result.extracted.text
    assert len(result.sentences) == 601
