"""The bundled sample documents: complete, small, and their questions answered word for word.

The text is taken out here with the bare libraries and not with ragcli's loaders, so that a
change in a loader cannot make a wrong quotation look right.
"""

from __future__ import annotations

import ast
import json
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdfium2
import pytest
from selectolax.lexbor import LexborHTMLParser

import ragcli

SAMPLES = Path(ragcli.__file__).parent / "samples"
NOT_INDEXED = {"README.md", "questions.jsonl", ".ragcliignore"}
DOCUMENTS = sorted(
    path.name for path in SAMPLES.iterdir() if path.is_file() and path.name not in NOT_INDEXED
)
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def _pdf(path: Path) -> str:
    with pypdfium2.PdfDocument(path) as pdf:
        pages = [page.get_textpage().get_text_range() for page in pdf]
    # PDFium writes U+FFFE for a hyphen that it takes for a line-end one.
    return "\n".join(pages).replace("\ufffe", "")


def _docx(path: Path) -> str:
    texts = []
    with zipfile.ZipFile(path) as package:
        for part in ("word/document.xml", "word/footnotes.xml"):
            root = ElementTree.fromstring(package.read(part))
            texts += ["".join(t.text or "" for t in p.iter(f"{W}t")) for p in root.iter(f"{W}p")]
    return "\n".join(texts)


def _html(path: Path) -> str:
    body = LexborHTMLParser(path.read_text(encoding="utf-8")).body
    assert body is not None
    return str(body.text())


@cache
def extracted(name: str) -> str:
    path = SAMPLES / name
    readers = {".pdf": _pdf, ".docx": _docx, ".html": _html}
    reader = readers.get(path.suffix)
    text = reader(path) if reader else path.read_text(encoding="utf-8")
    return " ".join(text.split())


def test_every_format_is_there() -> None:
    suffixes = {Path(name).suffix for name in DOCUMENTS}
    assert suffixes == {".md", ".txt", ".html", ".pdf", ".docx", ".py"}


def test_small_enough_to_ship_and_long_enough_to_search() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.iterdir() if path.is_file()) <= 300_000
    assert 12_000 <= sum(len(extracted(name).split()) for name in DOCUMENTS) <= 16_000


def test_the_pdf_has_page_numbers_hyphenation_and_eight_pages() -> None:
    with pypdfium2.PdfDocument(SAMPLES / "water-supply-report.pdf") as pdf:
        texts = [page.get_textpage().get_text_range() for page in pdf]
    assert len(texts) == 8
    assert all(f"Page {number} of 8" in text for number, text in enumerate(texts, 1))
    assert sum(text.count("\ufffe") for text in texts) >= 10


def test_the_program_among_the_samples_is_valid() -> None:
    ast.parse((SAMPLES / "tide_gauge.py").read_text(encoding="utf-8"))


def test_the_answers_are_not_indexed() -> None:
    rules = (SAMPLES / ".ragcliignore").read_text(encoding="utf-8").splitlines()
    assert {"README.md", "questions.jsonl"} <= set(rules)


def test_thirty_questions_of_every_kind() -> None:
    kinds = Counter(item["kind"] for item in QUESTIONS)
    assert sum(kinds.values()) == 30
    assert kinds["unanswerable"] == 6
    assert set(kinds) == {"fact", "number", "date", "name", "multi-hop", "unanswerable"}
    assert len({item["id"] for item in QUESTIONS}) == 30
    assert {source["file"] for item in QUESTIONS for source in item["support"]} == set(DOCUMENTS)


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item["id"])
def test_each_answer_stands_in_its_sources(item: dict[str, Any]) -> None:
    for source in [*item["support"], *item["also"]]:
        assert source["sentence"] in extracted(source["file"])
    if item["kind"] == "unanswerable":
        assert item["answers"] == []
        assert item["support"] == []
        return
    files = {source["file"] for source in item["support"]}
    assert (len(files) > 1) == (item["kind"] == "multi-hop")
    together = " ".join(source["sentence"] for source in item["support"]).casefold()
    assert any(answer.casefold() in together for answer in item["answers"])


@pytest.mark.parametrize("item", QUESTIONS[:2], ids=lambda item: item["id"])
def test_the_demo_questions_are_answered_by_one_sentence(item: dict[str, Any]) -> None:
    (source,) = item["support"]
    assert item["answers"][0] in source["sentence"]


def test_the_demo_questions_come_from_two_formats() -> None:
    suffixes = {Path(item["support"][0]["file"]).suffix for item in QUESTIONS[:2]}
    assert len(suffixes) == 2
    assert ".pdf" in suffixes
