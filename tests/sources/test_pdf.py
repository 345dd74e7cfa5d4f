from pathlib import Path

import pytest

from ragcli.errors import SourceError
from ragcli.sources.pdf import load_pdf
from ragcli.sources.pdf_layout import Line, Words, lay_out
from ragcli.text.sentences import split_sentences
from ragcli.types import Extracted
from tests.plain_pdf import pdf


def line(
    text: str, x0: float = 0, x1: float = 200, y: float = 0, size: float = 10, **more: bool
) -> Line:
    return Line(text, x0, x1, y, y + size, size, **more)


def column(*texts: str, x0: float = 0, top: float = 700) -> list[Line]:
    return [line(text, x0, x0 + 200, top - 12 * at) for at, text in enumerate(texts)]


def paragraphs(*pages: list[Line]) -> list[str]:
    laid = lay_out(pages)
    return [laid.text[block.start : block.end] for block in laid.blocks]


def test_wrapped_lines_become_one_paragraph() -> None:
    assert paragraphs(column("The valve is", "opened by", "hand.")) == [
        "The valve is opened by hand."
    ]


def test_a_gap_or_an_indent_starts_a_paragraph() -> None:
    lines = [*column("It is open.", "It is shut.", "Both hold."), line("New one.", y=620)]
    indented = [*column("It is open.", "It is shut."), line("New one.", x0=15, y=676)]
    assert paragraphs(lines) == ["It is open. It is shut. Both hold.", "New one."]
    assert paragraphs(indented) == ["It is open. It is shut.", "New one."]


def test_columns_are_not_mixed_and_flow_on() -> None:
    left = column("The valve is opened by", "turning it to the")
    right = column("left, which takes", "two hands.", x0=300)
    assert paragraphs([*left, *right]) == [
        "The valve is opened by turning it to the left, which takes two hands."
    ]


def test_bigger_lines_are_headings_by_size() -> None:
    lines = [
        line("Manual", y=800, size=20),
        line("Boiler", y=770, size=14),
        *column("The valve is", "opened."),
    ]
    laid = lay_out([lines])
    assert [(b.kind, b.level) for b in laid.blocks] == [
        ("heading", 1),
        ("heading", 2),
        ("paragraph", 0),
    ]


def test_superscripts_stay_on_their_line() -> None:
    lines = [line("Mira Oskan", x1=60), line(", Ola Berg", x0=64, x1=120, y=1)]
    assert paragraphs(lines) == ["Mira Oskan, Ola Berg"]


@pytest.mark.parametrize(
    ("left", "right", "elsewhere", "joined"),
    [
        ("com", "pile", "", "compile"),
        ("dual", "encoder", "a dual-encoder", "dual-encoder"),
        ("data", "base", "the database, a data-base", "database"),
        ("Lucene", "BM25", "", "Lucene-BM25"),
        ("two", "branch", "", "two-branch"),
    ],
)
def test_hyphens_at_line_ends(left: str, right: str, elsewhere: str, joined: str) -> None:
    assert Words([line(elsewhere)]).join(left, right) == joined


def test_pages_start_where_their_text_does_also_inside_a_paragraph() -> None:
    laid = lay_out([column("It goes on to the"), [], column("next page.", "Then it ends.")])
    assert laid.page_starts[0] == 0
    assert laid.text[laid.page_starts[2] :].startswith("next page")
    assert laid.text.startswith("It goes on to the next page.")
    assert list(laid.page_starts) == sorted(laid.page_starts)


def fixture(shared_files: Path, name: str) -> Extracted:
    return load_pdf((shared_files / "fixtures" / name).read_bytes(), ".pdf")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pdf-encrypted/password.pdf", "password needed"),
        ("pdf-encrypted/r6-user-password.pdf", "password needed"),
        ("pdf-notext/MEDRPT-2024-PAT-3847_medical_report_scan.pdf", "no text layer"),
        ("pdf-corrupt/bug1020226.pdf", "damaged PDF"),
        ("pdf-corrupt/REDHAT-1531897-0.pdf", "damaged PDF"),
        ("pdf-corrupt/poppler-937-0-fuzzed.pdf", "no text layer|damaged"),
        ("pdf-fonts/issue-791-non-unicode-cmap.pdf", "cannot be read"),
    ],
)
def test_what_cannot_be_read_says_why(shared_files: Path, name: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        fixture(shared_files, name)


@pytest.mark.parametrize(
    ("name", "pages", "missing", "words"),
    [
        ("pdf-ocrlayer/Seige_of_Vicksburg_Sample_OCR.pdf", 6, (), "We have been looking for rain"),
        ("pdf-partial/layout-parser-paper-with-empty-pages.pdf", 4, (2, 3), "LayoutParser"),
        ("pdf-corrupt/zen_of_python_corrupted.pdf", 1, (), "Beautiful is better than ugly"),
        ("pdf-corrupt/append-xref-loop.pdf", 30, (), "Potato"),
        ("pdf-bomb/issue-1113-evil-xobjects.pdf", 1, (), ""),
        ("pdf-layout/testOptionalHyphen.pdf", 1, (), "optionalhyphen"),
        ("pdf-layout/fake-bold-sample.pdf", 1, (), "BOLD TEXT SAMPLE"),
        ("pdf-layout/issue-449-vertical.pdf", 1, (), "Test Vertical Layout"),
        ("pdf-layout/pagelabels.pdf", 5, (), "Heading on Level 1"),
        ("pdf-fonts/noembed-identity.pdf", 1, (), "あいうえお"),
        ("pdf-fonts/SimFang-variant.pdf", 1, (), "全世界"),
        ("pdf-fonts/french_diacritics.pdf", 1, (), "é É è È"),
        ("pdf-extra/form.pdf", 1, (), ""),
    ],
)
def test_real_files(
    shared_files: Path, name: str, pages: int, missing: tuple[int, ...], words: str
) -> None:
    extracted = fixture(shared_files, name)
    assert len(extracted.page_starts) == pages
    assert extracted.missing_pages == missing
    assert words in extracted.text


@pytest.mark.parametrize(
    ("name", "sentence", "page"),
    [
        (
            "pdf-layout/tracemonkey.pdf",
            "Dynamic languages such as JavaScript are more difficult to compile than statically typed ones.",
            1,
        ),
        (
            "pdf-layout/multi-column-2p.pdf",
            "However, it is generally believed that learning a good dense vector representation needs "
            "a large number of labeled pairs of question and contexts.",
            1,
        ),
    ],
)
def test_sentences_read_like_the_page(
    shared_files: Path, name: str, sentence: str, page: int
) -> None:
    extracted = fixture(shared_files, name)
    spans = {
        span.of(extracted.text): span for span in split_sentences(extracted.text, extracted.blocks)
    }
    assert sentence in spans
    starts = [start for start in extracted.page_starts if start <= spans[sentence].start]
    assert len(starts) == page


def test_four_hundred_pages(shared_files: Path) -> None:
    extracted = fixture(shared_files, "pdf-bomb/pdf2image-memory-error-test-400p.pdf")
    assert len(extracted.page_starts) == 400
    assert extracted.missing_pages == (2, 400)
    assert extracted.notes == ("no text on pages 2, 400",)


def form_with_attachment() -> bytes:
    content = "BT /F1 12 Tf 50 700 Td (Application for a boat licence) Tj ET"
    widget = "/Type /Annot /Subtype /Widget /Rect [50 600 200 620]"
    objects = [
        "/Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R 6 0 R 7 0 R 11 0 R] >> "
        "/Names << /EmbeddedFiles << /Names [(notes.txt) 9 0 R] >> >>",
        "/Type /Pages /Kids [3 0 R] /Count 1",
        "/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        "/Resources << /Font << /F1 8 0 R >> >> /Annots [5 0 R 6 0 R 7 0 R 11 0 R]",
        f"/Length {len(content)} >>\nstream\n{content}\nendstream",
        f"{widget} /FT /Tx /T (Owner) /V (Mira Oskan)",
        f"{widget} /FT /Tx /T (f2) /TU (Name of the boat) /V (Seagull. No. 4)",
        f"{widget} /FT /Btn /T (Insured) /V /Yes /AS /Yes /AP << /N << /Yes 4 0 R >> >>",
        "/Type /Font /Subtype /Type1 /BaseFont /Helvetica",
        "/Type /Filespec /F (notes.txt) /UF (notes.txt) /EF << /F 10 0 R >>",
        "/Type /EmbeddedFile /Length 2 >>\nstream\nhi\nendstream",
        f"{widget} /FT /Tx /T (Empty)",
    ]
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        end = "" if "stream" in body else " >>"
        out += f"{number} 0 obj\n<< {body}{end}\nendobj\n".encode()
    table = "".join(f"{at:010} 00000 n \n" for at in offsets)
    return (
        out
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
        ).encode()
    )


def test_values_of_forms_are_read_and_attached_files_named() -> None:
    extracted = load_pdf(form_with_attachment(), ".pdf")
    assert extracted.text.split("\n\n") == [
        "Application for a boat licence",
        "Owner: Mira Oskan",
        "Name of the boat: Seagull. No. 4",
        "Insured: yes",
    ]
    assert extracted.notes == ("attached files are not read: notes.txt",)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_text_of_turned_pages_is_in_order(turn: int) -> None:
    plain = pdf(["The first line tells of buoys.", "The second line goes on."])
    data = plain.replace(b"/Type/Page/", b"/Type/Page/Rotate %d/" % turn)
    assert load_pdf(data, ".pdf").text == load_pdf(plain, ".pdf").text
    upright = data.replace(b"72 760 Td", b"0 1 -1 0 300 100 Tm") if turn == 90 else data
    assert load_pdf(upright, ".pdf").text.startswith("The first line tells")
