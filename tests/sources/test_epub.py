import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import SourceError
from ragcli.sources.epub import load_epub
from ragcli.sources.load import load
from ragcli.types import Extracted

from .zips import (
    DOCTYPE,
    archive,
    check,
    damaged,
    labelled,
    replaced,
    shown,
    sound_or_refused,
    without,
)

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
NCX_TYPE = '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
XHTML = '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'


def page(body: str) -> str:
    return XHTML.format(body)


def book(
    chapters: dict[str, str], *, order: str = "", nav: str = "", ncx: str = "", **parts: str
) -> bytes:
    """A book of these files; `order`: file names of the spine, by default as given."""
    names = order.split() or list(chapters)
    items = "".join(
        f'<item id="i-{name}" href="{name}" media-type="application/xhtml+xml"/>'
        for name in [*chapters, *names]
    )
    spine = "".join(f'<itemref idref="i-{name}"/>' for name in names)
    opf = (
        '<package xmlns:dc="d"><metadata><dc:title>The Light</dc:title></metadata><manifest>'
        f'{items}<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        f'<spine toc="ncx"><itemref idref="nav"/>{spine}</spine></package>'
    )
    files = {f"OPS/{name}": content for name, content in chapters.items()}
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": opf,
            **({"OPS/nav.xhtml": page(nav)} if nav else {}),
            **({"OPS/toc.ncx": f"{NCX_TYPE}<ncx><navMap>{ncx}</navMap></ncx>"} if ncx else {}),
            **files,
            **parts,
        },
        stored="mimetype",
    )


def read(data: bytes) -> Extracted:
    extracted = load_epub(data, ".epub")
    check(extracted)
    return extracted


THREE = {
    "z.xhtml": page("<h1>The storm</h1><p>It began at night.</p>"),
    "a.xhtml": page("<p>The keeper slept.</p>"),
    "m.xhtml": page("<h1>Morning</h1><p>The sea was calm.</p>"),
}
NAV = '<nav epub:type="toc" xmlns:epub="e"><ol><li><a href="z.xhtml">The storm</a></li><li><a href="a.xhtml#x">The keeper</a></li></ol></nav>'
NCX = "".join(
    f'<navPoint><navLabel><text>{name}</text></navLabel><content src="{file}"/></navPoint>'
    for name, file in (("Chapter 1. The storm", "z.xhtml"), ("The keeper", "a.xhtml#x"))
)


def test_chapters_come_in_the_order_of_the_spine_with_their_names() -> None:
    extracted = read(book(THREE, nav=NAV))
    assert shown(extracted) == [
        ("heading", "The storm"),
        ("paragraph", "It began at night."),
        ("heading", "The keeper"),
        ("paragraph", "The keeper slept."),
        ("heading", "Morning"),
        ("paragraph", "The sea was calm."),
    ]
    assert labelled(extracted) == {
        "chapter 1: The storm": "The storm",
        "chapter 2: The keeper": "The keeper",
        "chapter 3: Morning": "Morning",
    }
    assert extracted.title == "The Light"


def test_names_come_from_an_old_table_of_contents_too() -> None:
    extracted = read(book(THREE, order="m.xhtml z.xhtml a.xhtml", ncx=NCX))
    assert [label for _, label in extracted.places][:2] == [
        "chapter 1: Morning",
        "Chapter 1. The storm",
    ]


def test_several_chapters_in_one_file_have_their_own_places() -> None:
    ncx = NCX.replace("a.xhtml#x", "z.xhtml#two")
    files = {
        "z.xhtml": page("<h1>Chapter 1. The storm</h1><p>Night.</p><h1>The keeper</h1><p>Slept.</p>"),
        "y.xhtml": page("<p>And slept on.</p>"),
    }  # fmt: skip
    extracted = read(book(files, ncx=ncx))
    assert [label for _, label in extracted.places] == ["Chapter 1. The storm", "chapter 1: The keeper"]  # fmt: skip
    assert extracted.text.endswith("And slept on.")


def test_a_chapter_that_is_not_there_loses_only_itself() -> None:
    extracted = read(without(book(THREE), "OPS/a.xhtml"))
    assert extracted.missing == ("chapter 2 (a.xhtml) is not in the book",)
    assert "The sea was calm." in extracted.text
    assert "chapter 3: Morning" in labelled(extracted)


def test_a_chapter_that_cannot_be_unpacked_loses_only_itself() -> None:
    marked = replaced(book(THREE), "OPS/a.xhtml", page("<p>" + "UNIQUE " * 40 + "</p>"))
    at = marked.index(b"OPS/a.xhtml") + len("OPS/a.xhtml") + 20
    extracted = read(marked[:at] + b"\xff\xff\xff\xff" + marked[at + 4 :])
    assert len(extracted.missing) == 1
    assert "a.xhtml" in extracted.missing[0]
    assert "The sea was calm." in extracted.text


ENCRYPTION = (
    '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/><CipherData>'
    '<CipherReference URI="OPS/{}"/></CipherData></EncryptedData></encryption>'
)
AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


def test_encrypted_chapters_are_named_and_fonts_do_not_count() -> None:
    locked = book(THREE, **{"META-INF/encryption.xml": ENCRYPTION.format(AES, "z.xhtml")})
    assert read(locked).missing == ("chapter 1 (z.xhtml) is encrypted (DRM)",)
    fonts = "http://www.idpf.org/2008/embedding"
    assert read(book(THREE, **{"META-INF/encryption.xml": ENCRYPTION.format(fonts, "z.xhtml")})).missing == ()  # fmt: skip


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ('<p>a<a id="x"/>b</p><div/><p>c</p><span/>', [("paragraph", "ab"), ("paragraph", "c")]),
        ("<p>text<br/>more</p><aside epub:type='footnote'><p>a note</p></aside>", [("paragraph", "text more"), ("paragraph", "a note")]),
        ("<header><h1>Top</h1></header><p class='related'>x</p>", [("heading", "Top"), ("paragraph", "x")]),
        ("<nav><ol><li><a href='z'>Part</a></li></ol></nav><p>x</p>", [("paragraph", "x")]),
        ("<table><tr><td>a</td><td>b</td></tr></table><script>no()</script>", [("table", "a | b")]),
    ],
)  # fmt: skip
def test_pages_are_read_as_xhtml_and_whole(body: str, blocks: list[tuple[str, str]]) -> None:
    assert shown(read(book({"a.xhtml": page(body)}))) == blocks


def test_covers_are_no_chapters() -> None:
    files = {"cover.xhtml": page('<img src="c.png"/>'), "a.xhtml": page("<p>Text.</p>")}
    extracted = read(book(files))
    assert (extracted.missing, extracted.places) == ((), ((0, "chapter 1"),))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (book(THREE)[:-30], "damaged EPUB"),
        (archive({"mimetype": "application/epub+zip"}), "no package file"),
        (replaced(book(THREE), "OPS/book.opf", "<package/>"), "no reading order"),
        (replaced(book(THREE), "OPS/book.opf", f"{DOCTYPE}<package/>"), "entities"),
        (book({"a.xhtml": page("")}), "no text"),
        (book({}, order="gone.xhtml"), "not in the book"),
        (book({"a.xhtml": page("x")}, **{"META-INF/encryption.xml": ENCRYPTION.format(AES, "a.xhtml")}), "DRM"),
        (book({"a.xhtml": " " * (11 << 20)}), "out of bounds"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_epub(data, ".epub")


def test_a_book_that_refers_to_one_chapter_a_million_times_reads_it_once() -> None:
    spine = "<itemref idref='a'/>" * 100_000
    opf = f"<package><manifest><item id='a' href='z.xhtml'/></manifest><spine>{spine}</spine></package>"
    extracted = read(replaced(book(THREE), "OPS/book.opf", opf))
    assert extracted.text.count("It began at night.") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("winter-sports.epub", "toboggan"), ("wrong_extension.ePub", "Call me Ishmael.")],
)
def test_real_files(shared_files: Path, name: str, words: str) -> None:
    extracted = load(shared_files / "fixtures" / "epub" / name)
    check(extracted)
    assert extracted.kind == "epub"
    assert words in extracted.text
    assert extracted.missing == ()


def test_a_real_file_without_its_end(shared_files: Path) -> None:
    with pytest.raises(SourceError, match="damaged EPUB"):
        load(shared_files / "fixtures" / "epub" / "ocf-zip-unreadable-no-end-header-fatal.epub")


@given(damaged(book(THREE, nav=NAV, ncx=NCX)))
def test_damage_raises_nothing_but_source_errors(data: bytes) -> None:
    sound_or_refused(load_epub, data, ".epub")


@given(st.text(st.sampled_from("<>/ap &;#x\"'=h1! -[]"), max_size=60))
def test_any_page_raises_nothing_but_source_errors(body: str) -> None:
    sound_or_refused(load_epub, book({"a.xhtml": page(body)}), ".epub")


def test_a_book_without_an_order_is_read_as_it_is_listed() -> None:
    data = book(THREE)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        opf = file.read("OPS/book.opf").decode()
    bare = replaced(data, "OPS/book.opf", re.sub("<spine.*</spine>", "<spine/>", opf))
    found = load_epub(bare, ".epub")
    assert found.text == load_epub(data, ".epub").text
    assert found.missing == ("reading order: files come as they are listed",)
