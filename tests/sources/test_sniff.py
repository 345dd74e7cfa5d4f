from pathlib import Path

import pytest

from ragcli.sources.formats import FORMATS, SIZE_LIMITS
from ragcli.sources.sniff import inspect, sniff


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.md", b"# x", "markdown"),
        ("a.txt", b"x", "text"),
        ("README", b"x", "text"),
        ("a.unknown", b"x", "text"),
        ("a.py", b"x = 1", "code"),
        ("run", b"#!/bin/sh\n", "code"),
        ("Makefile", b"all:", "code"),
        ("a.html", b"<p>x", "html"),
        ("a.txt", b"<!DOCTYPE html><p>", "html"),
        ("a.xml", b"<?xml version='1.0'?><rss>", "text"),
        ("a.dat", b"%PDF-1.4\n", "pdf"),
        ("a.pdf", b"no pdf at all", "pdf"),
        ("a.docx", b"PK\x03\x04", "docx"),
        ("a.docx", b"broken", "docx"),
        ("a.bin", b"PK\x03\x04....word/document.xml", "docx"),
        ("a.txt", b"BMW builds cars", "text"),
        ("a.txt", b"MZ is a name", "text"),
        ("a.txt", "Größe".encode("utf-16-le") * 3, "text"),
        ("a.txt", b"\xff\xfeh\0i\0", "text"),
        ("a.md", b"The boiler\0 pressure limit is 3 bar.\0\0\n", "markdown"),
        ("a.txt", "日本語".encode() * 3000, "text"),
        ("a.txt", "Größe ".encode("latin-1") * 50, "text"),
        ("a.log", b"\x1b[31mred\x1b[0m\n" * 20, "text"),
    ],
)
def test_kinds(name: str, head: bytes, kind: str) -> None:
    assert sniff(Path(name), head[:8192]) == kind
    assert kind in FORMATS
    assert kind in SIZE_LIMITS


@pytest.mark.parametrize(
    ("name", "head", "reason"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n", "binary (PNG image)"),
        ("a.txt", b"\x7fELF\x02\x01\x01", "binary (ELF program)"),
        ("a", b"MZ\x90\0\x03\0\0\0" + bytes(60), "binary (Windows program)"),
        ("a.zip", b"PK\x03\x04", "binary (zip archive)"),
        ("a.tar", b"x" * 257 + b"ustar\0", "binary (tar archive)"),
        (
            "a.epub",
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zip",
            "format not supported yet: epub",
        ),
        ("a.ePub", b"anything", "format not supported yet: epub"),
        ("a.xlsx", b"PK\x03\x04", "format not supported yet: xlsx"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "format not supported yet: doc"),
        ("a.txt", b"{\\rtf1 x", "format not supported yet: rtf"),
        ("a.dat", bytes(range(256)) * 4, "binary"),
        ("a.dat", bytes(1000), "binary"),
    ],
)
def test_what_is_no_document(name: str, head: bytes, reason: str) -> None:
    assert inspect(Path(name), head).reason == reason
    assert sniff(Path(name), head) is None
