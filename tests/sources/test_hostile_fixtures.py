"""Real files that trip readers, beside the checkout: what each must give, and must not give.

They are read in worker processes, all in one run. Formats with tests of their own are
looked at there; here every file must at least be accounted for by one honest line.
"""

import unicodedata
from pathlib import Path

import pytest

from ragcli.events import FileDone
from ragcli.sources.load import Extractor, Parsed
from ragcli.sources.walk import walk
from ragcli.types import FileEntry, FileStatus

Results = dict[str, Parsed | FileDone]

TEXT = {  # words that stand in the text, as a person reads the page
    "pdf-ocrlayer/Seige_of_Vicksburg_Sample_OCR.pdf": "did not last long",
    "pdf-partial/layout-parser-paper-with-empty-pages.pdf": "A Unified Toolkit for Deep Learning",
    "pdf-corrupt/zen_of_python_corrupted.pdf": "Beautiful is better than ugly.",
    "pdf-corrupt/append-xref-loop.pdf": "Potato",
    "pdf-bomb/issue-1113-evil-xobjects.pdf": "Hello world",
    "pdf-bomb/pdf2image-memory-error-test-400p.pdf": "EFFECTIVE DATE (01-17-2023)",
    "pdf-layout/multi-column-2p.pdf": "where traditional sparse vector space models, such as TF-IDF",
    "pdf-layout/tracemonkey.pdf": "Without exact type information, the compiler",
    "pdf-layout/testOptionalHyphen.pdf": "optionalhyphen",
    "pdf-layout/fake-bold-sample.pdf": "BOLD TEXT SAMPLE",
    "pdf-layout/issue-449-vertical.pdf": "Test Vertical Layout",
    "pdf-layout/pagelabels.pdf": "First section",
    "pdf-fonts/noembed-identity.pdf": "あいうえお",
    "pdf-fonts/SimFang-variant.pdf": "全世界无产者，联合起来",
    "pdf-fonts/french_diacritics.pdf": "é É è È ê Ê ë Ë",
    "docx/track_changes_insertion.docx": "two exciting insertions",
    "docx/tables.docx": "Lebron James | Basketball",
    "docx/Strict.docx": "Some text",
    "docx/handbook-872p.docx": "Department of Justice",
    "docx/docx_external_image.docx": "This paragraph comes after the external image.",
    "html/testArabicMisleadingCharset.html": "رجل حكيم",
    "html/big-preamble.html": "Недвижимость",
    "html/example-10k.html": "SECURITIES AND EXCHANGE COMMISSION",
    "html/fake-html-with-base64-image.html": "Test page",
    "html/pcgamer.com.skyrim.html": "a mage is an unstoppable storm of destruction",
    "encoding/EUC-JP__siesta.co.jp.aozora.xml": "青空",
    "encoding/GB2312__cnblog.org.xml": "博客",
    "encoding/KOI8-R__aviaport.ru.xml": "авиа",
    "encoding/windows-1252___ude_2.txt": "tegenover zich zelf",
    "encoding/TIS-620__pharmacy.kku.ac.th.healthinfo-ne.xml": "โครงการผักปล",
    "encoding/UTF-16__bom-utf-16-le.srt": "the comment section of YouTube",
    "encoding/utf-8-sig__bom-utf-8.srt": "the comment section of YouTube",
    "text/fake-incomplete-json.txt": "johndoe@example.com",
    "text/blns.txt": "Strings which may be used elsewhere in code",
}
NOT_TEXT = {  # what a reader that got it wrong gives
    "pdf-layout/fake-bold-sample.pdf": "BBOOLLDD TTEE",
    "pdf-layout/testOptionalHyphen.pdf": "\u00ad",
    "html/fake-html-with-base64-image.html": "base64",
    "mail/mime-attach-mp3.eml": "//uQ",
    "encoding/utf-8-sig__bom-utf-8.srt": "\ufeff",
    "encoding/windows-1252___ude_2.txt": "\ufffd",
    "office-other/trackedChanges.odt": "deleted",
}
REASON = {
    "pdf-encrypted/r6-user-password.pdf": "password needed",
    "pdf-encrypted/password.pdf": "password needed",
    "pdf-notext/MEDRPT-2024-PAT-3847_medical_report_scan.pdf": "no text layer (a scan?)",
    "pdf-corrupt/bug1020226.pdf": "damaged PDF",
    "pdf-corrupt/poppler-937-0-fuzzed.pdf": "no text layer (a scan?)",
    "pdf-corrupt/REDHAT-1531897-0.pdf": "damaged PDF",
    "pdf-fonts/issue-791-non-unicode-cmap.pdf": "text layer cannot be read",
    "docx/testWORD_truncated.docx": "damaged DOCX",
    "epub/ocf-zip-unreadable-no-end-header-fatal.epub": "damaged",
    "text/empty.txt": "empty",
    "archive/droste.zip": "binary (zip archive)",
}
MISSING = {
    "pdf-partial/layout-parser-paper-with-empty-pages.pdf": (2, 3),
    "pdf-bomb/pdf2image-memory-error-test-400p.pdf": (2, 400),
}


@pytest.fixture(scope="module")
def results(shared_files: Path) -> Results:
    found = list(walk([shared_files / "fixtures"]))
    entries = [entry for entry in found if isinstance(entry, FileEntry)]
    assert len(entries) == len(found)
    with Extractor(2) as extractor:
        return dict(zip([entry.relative for entry in entries], extractor.run(entries), strict=True))


def text_of(results: Results, name: str) -> str:
    result = results[name]
    assert isinstance(result, Parsed), result
    return result.extracted.text


def test_every_file_is_accounted_for(results: Results) -> None:
    for name, result in results.items():
        if isinstance(result, FileDone):
            assert result.status in (FileStatus.SKIPPED, FileStatus.FAILED), name
            assert result.reason, name
            assert "Error" not in result.reason, name
            assert "reader" not in result.reason, name
        else:
            text = result.extracted.text
            assert all(span.of(text) == span.of(text).strip() != "" for span in result.sentences)
            assert not [c for c in text if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]


@pytest.mark.parametrize("name", TEXT)
def test_text(results: Results, name: str) -> None:
    text = unicodedata.normalize("NFC", " ".join(text_of(results, name).split()))
    assert TEXT[name] in text, text[:300]


@pytest.mark.parametrize("name", NOT_TEXT)
def test_no_rubbish(results: Results, name: str) -> None:
    assert NOT_TEXT[name] not in text_of(results, name)


@pytest.mark.parametrize("name", REASON)
def test_reasons(results: Results, name: str) -> None:
    result = results[name]
    assert isinstance(result, FileDone)
    assert REASON[name] in result.reason


@pytest.mark.parametrize("name", MISSING)
def test_pages_without_text_are_named(results: Results, name: str) -> None:
    result = results[name]
    assert isinstance(result, Parsed)
    assert result.extracted.missing_pages == MISSING[name]


def test_pages_count_from_one_as_the_file_has_them(results: Results) -> None:
    """Printed labels (iii, iv, 1 …) may differ; the page cited is the page's number."""
    result = results["pdf-layout/pagelabels.pdf"]
    assert isinstance(result, Parsed)
    starts = result.extracted.page_starts
    assert len(starts) == 5
    assert result.extracted.text[starts[1] :].startswith("2 Second section")
