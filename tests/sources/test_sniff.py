import io
import zipfile
from pathlib import Path

import pytest

from ragcli.sources.formats import FORMATS, SIZE_LIMITS
from ragcli.sources.sniff import HEAD, inspect, sniff


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
        ("a.pdf", b"Plain text.", "text"),
        ("a.pdf", b"<!DOCTYPE html><p>", "html"),
        ("a.docx", b"<!DOCTYPE html><p>", "html"),
        ("a.xlsx", b"a;b\n1;2\n", "csv"),
        ("a.pdf", bytes(range(256)) * 4, "pdf"),
        ("a.rst", b"Title\n=====", "rst"),
        ("a.txt", b"Title\n=====\n\n.. note:: x", "text"),
        ("a.org", b"* x", "org"),
        ("notes", b"#+TITLE: x", "org"),
        ("a.tex", b"Text.", "latex"),
        ("a.txt", b"% x\n\\documentclass{article}\n", "latex"),
        ("a.md", b"\\documentclass{article}\n", "markdown"),
        ("foo.1", b'.\\" x\n.TH FOO 1\n', "man"),
        ("foo.3pm", b"'\\\" t\n.de Sp\n..\n.TH FOO 3\n", "man"),
        ("foo", b".Dd January 1, 2024\n.Dt FOO 1\n", "man"),
        ("mail.log.1", b"Jan 1 started\n", "text"),
        ("a.ipynb", b'{"cells": []}', "notebook"),
        ("a.json", b'{\n "cells": [\n  {\n   "cell_type": "code"', "notebook"),
        ("a.json", b'{"a": 1}', "json"),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.jsonl", b"x", "jsonl"),
        ("a.txt", b'{"a": 1,', "text"),
        ("a.srt", b"1\n", "subtitles"),
        ("a.txt", b"WEBVTT\n\n", "subtitles"),
        ("a.eml", b"x", "mail"),
        ("a.txt", b"From: a@b\nTo: c@d\n e\nDate: x\nSubject: y\n\nText", "mail"),
        ("1700000000.M1P2.host:2,S", b"Return-Path: <a@b>\nReceived: x\nDate: y\n\nText", "mail"),
        ("a.txt", b"From: me\nTo: you\nSubject: a memo\n\nText", "text"),
        ("a.txt", b"From: me\nand then\nDate: x\nSubject: y\n\n", "text"),
        ("Inbox", b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\n", "mbox"),
        ("a.mbox", b"From: a@b\n\nText", "mail"),
        (
            "a.patch",
            b"From 0a1b Mon Sep 17 00:00:00 2001\nFrom: a\nDate: b\nSubject: c\n\n",
            "text",
        ),
        ("a.txt", b"From 1999 on it ran.\n", "text"),
        ("a.txt", "plain text here".encode("utf-32-le"), "text"),
        ("a.dat", b"%PDF-1.4\n", "pdf"),
        ("a.pdf", b"no pdf at all", "text"),
        ("a.docx", b"PK\x03\x04", "docx"),
        ("a.docx", b"broken", "text"),
        ("a.xlsx", b"PK\x03\x04", "xlsx"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xlsx"),
        ("a.ePub", b"\0\1\2\3" * 9, "epub"),
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("a.xls", b"a\tb\n1\t2\n", "csv"),
        ("a.xls", b"<html><table></table></html>", "html"),
        ("a.zip", b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zip", "epub"),
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
        ("a.odg", b"PK\x03\x04", "format not supported yet: odg"),
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "format not supported yet: doc (save it as DOCX)",
        ),
        (
            "a.xlsb",
            b"PK\x03\x04",
            "format not supported yet: xlsb (save it as XLSX)",
        ),
        ("a.txt", b"{\\rtf1 x", "format not supported yet: rtf"),
        ("a.dat", bytes(range(256)) * 4, "binary"),
        ("a.dat", bytes(1000), "binary"),
        ("package-lock.json", b"{}", "generated (lock file)"),
        ("Cargo.lock", b"x", "generated (lock file)"),
        ("a.min.js", b"x", "generated (minified code)"),
        ("a.js", b"/* x */\n" + b"a=1;" * 1500, "generated (minified code)"),
        ("a.js.map", b"{}", "generated (source map)"),
    ],
)
def test_what_is_no_document(name: str, head: bytes, reason: str) -> None:
    assert inspect(Path(name), head).reason == reason
    assert sniff(Path(name), head) is None


def _archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 9000)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "parts", "kind"),
    [
        ("a.zip", ("[Content_Types].xml", "word/document.xml"), "docx"),
        ("a.pdf", ("[Content_Types].xml", "word/document.xml"), "docx"),
        ("a.doc", ("[Content_Types].xml", "xl/workbook.xml"), "xlsx"),
        ("a.xlsx", ("[Content_Types].xml", "ppt/presentation.xml"), "pptx"),
        ("a", ("x.opf", "META-INF/container.xml"), "epub"),
        ("a.zip", ("copy/word/document.xml", "word/documents.txt"), None),
        ("a.xls", ("[Content_Types].xml", "xl/workbook.bin"), None),
    ],
)
def test_zip_documents_are_known_by_their_parts(
    name: str, parts: tuple[str, ...], kind: str | None
) -> None:
    """Also by the list at the end, when the first part fills the head."""
    data = _archive(*parts)
    assert inspect(Path(name), data[:HEAD], data[-1000:]).kind == kind
