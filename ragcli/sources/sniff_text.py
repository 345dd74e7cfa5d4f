"""What kind of text a file is: content that is telling first, then the ending, then content."""

from __future__ import annotations

import re

_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd"})
_HTML = frozenset({".html", ".htm", ".xhtml", ".xht"})
_CSV = frozenset({".csv", ".tsv", ".tab", ".psv"})
_CODE_ENDINGS = (
    ".py .pyi .pyx .js .mjs .cjs .jsx .ts .tsx .c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .java .kt "
    ".kts .scala .go .rs .rb .php .pl .pm .r .jl .lua .swift .cs .fs .vb .dart .ex .exs .erl .hs "
    ".ml .mli .clj .lisp .el .sh .bash .zsh .fish .ps1 .bat .cmd .sql .css .scss .less .vue .svelte "
    ".asm .s .f .f90 .pas .ada .d .zig .nim .v .sv .vhd .tcl .groovy .gradle .cmake .mk .proto "
    ".yaml .yml .toml .ini .cfg .conf .xsd .xsl .tf .nix .sty .cls .bst"
)
_CODE = frozenset(_CODE_ENDINGS.split())
_CODE_NAMES = frozenset({"makefile", "dockerfile", "cmakelists.txt", "rakefile", "gemfile"})
_BY_ENDING = {
    **dict.fromkeys(_HTML, "html"),
    **dict.fromkeys(_MARKDOWN, "markdown"),
    **dict.fromkeys(_CSV, "csv"),
    **dict.fromkeys(_CODE, "code"),
    **dict.fromkeys((".rst", ".rest"), "rst"),
    **dict.fromkeys((".tex", ".ltx", ".latex"), "latex"),
    **dict.fromkeys((".man", ".mdoc"), "man"),
    **dict.fromkeys((".srt", ".vtt"), "subtitles"),
    ".org": "org", ".ipynb": "notebook", ".eml": "mail",
    **dict.fromkeys((".json", ".geojson", ".jsonld", ".webmanifest"), "json"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
}  # fmt: skip
# Under the names of spreadsheets, programs write tables as text too.
_SHEETS = frozenset({".xls", ".xlsx", ".ods"})
# Written by programs for programs, from what is elsewhere in the folder.
_LOCKS = (
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock cargo.lock poetry.lock "
    "pipfile.lock uv.lock pdm.lock gemfile.lock composer.lock podfile.lock mix.lock flake.lock go.sum "
    "packages.lock.json gradle.lockfile pubspec.lock deno.lock"
)
_LOCK_NAMES = frozenset(_LOCKS.split())
_MINIFIED = (".min.js", ".min.css", ".min.mjs", ".bundle.js")
_SCRIPTS = frozenset({".js", ".mjs", ".cjs", ".css"})
_MINIFIED_LINE = 5000  # bytes in a line at the start of a script that nobody wrote by hand

_MBOX = re.compile(rb"From [^\r\n]{1,300}\d{4}[^\r\n]{0,20}\r?\n[!-9;-~]{1,80}:")
_HEADER = re.compile(rb"([!-9;-~]{1,80}):")
_MAIL_HEADERS = frozenset(
    (b"from", b"to", b"cc", b"subject", b"date", b"message-id", b"received", b"return-path",
     b"mime-version", b"delivered-to", b"reply-to", b"content-type")
)  # fmt: skip
_SENDERS = frozenset((b"from", b"received", b"return-path"))
_SENT = frozenset((b"date", b"message-id", b"received", b"mime-version"))
_MAN = re.compile(rb"(?:[.'][^\r\n]*\r?\n|\s*\n){0,200}?\.(?:TH|Dd)[ \t]+\S")
_LATEX = re.compile(rb"^[ \t]*\\document(?:class|style)\b", re.MULTILINE)
_CUE = re.compile(rb"(?:WEBVTT|\d{1,6}\s*\n\d{1,3}:\d{2}:\d{2}[,.]\d{3}[ \t]*-->)")
_NOTEBOOK = re.compile(rb'"(?:cell_type|nbformat)"\s*:')
_RECORDS = re.compile(rb"\{[^\r\n]*\}[ \t]*\r?\n[ \t]*\{[^\r\n]*(?:\}|\Z)")


def generated(name: str, ending: str, head: bytes) -> str:
    """Why a file is taken for one that a program wrote for a program; "" for others."""
    if name in _LOCK_NAMES:
        return "generated (lock file)"
    if name.endswith((".js.map", ".css.map")):
        return "generated (source map)"
    if name.endswith(_MINIFIED):
        return "generated (minified code)"
    if ending in _SCRIPTS and max(map(len, head.split(b"\n"))) >= _MINIFIED_LINE:
        return "generated (minified code)"
    return ""


def _is_mail(start: bytes) -> bool:
    """Whether a text begins with the headers of a message."""
    if not _HEADER.match(start):
        return False
    top = re.split(rb"\r?\n\r?\n", start, maxsplit=1)
    names = set()
    lines = top[0].splitlines()
    for line in lines if len(top) > 1 else lines[:-1]:
        if line[:1] in (b" ", b"\t"):
            continue
        found = _HEADER.match(line)
        if found is None:
            return False
        names.add(found.group(1).lower())
    return len(names & _MAIL_HEADERS) >= 3 and bool(names & _SENDERS) and bool(names & _SENT)


def is_man(start: bytes) -> bool:
    """Whether a text begins as manual pages do."""
    return _MAN.match(start) is not None


def _by_content(start: bytes) -> str:
    """The kind of a text whose name does not tell; "" for plain text."""
    if _MBOX.match(start):
        return "mbox"
    if _is_mail(start):
        return "mail"
    if is_man(start):
        return "man"
    if _LATEX.search(start[:4096]):
        return "latex"
    if _CUE.match(start):
        return "subtitles"
    if start[:8].lower() == b"#+title:":
        return "org"
    return "notebook" if start.startswith(b"{") and _NOTEBOOK.search(start) else ""


def text_kind(name: str, ending: str, head: bytes) -> str:
    """ "html", "markdown", … for a file that is text; name and ending in lower case."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    low = start[:2048].lower()
    if low.startswith((b"<!doctype html", b"<html")):
        return "html"
    known = _BY_ENDING.get(ending, "")
    if known == "json":
        return _json_kind(start)
    if known:
        return known
    if low.startswith(b"<?xml") and b"<html" in low:
        return "html"
    if name in _CODE_NAMES or start.startswith(b"#!"):
        return "code"
    if ending == ".mbox":
        return "mbox" if start.startswith(b"From ") else "mail"
    if ending in (".patch", ".diff"):
        return "text"
    return _by_content(start) or ("csv" if ending in _SHEETS else "text")


def _json_kind(start: bytes) -> str:
    if start.startswith(b"{") and _NOTEBOOK.search(start):
        return "notebook"
    return "jsonl" if _RECORDS.match(start) else "json"
