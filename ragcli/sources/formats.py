"""The formats ragcli reads: an explicit table from kind to loader.

A loader takes the bytes of a file and the ending of its name (".md") and returns
what it holds, or raises SourceError. Loaders of binary formats are imported when
the first file of their kind comes, so that a worker for notes starts fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ragcli.sources.markdown import load_markdown
from ragcli.sources.plain import load_text
from ragcli.sources.sniff import HEAD, TAIL, Sniffed, inspect, sniff
from ragcli.types import Extracted

Loader = Callable[[bytes, str], Extracted]

MIB = 1 << 20
TEXT_LIMIT = 64 * MIB
BINARY_LIMIT = 256 * MIB


def _lazy(module: str, name: str) -> Loader:
    """The loader `name` of `ragcli.sources.MODULE`, imported when it is first called."""

    def load(data: bytes, ending: str) -> Extracted:
        loader: Loader = getattr(import_module(f"ragcli.sources.{module}"), name)
        return loader(data, ending)

    return load


FORMATS: dict[str, Loader] = {
    "text": load_text,
    "markdown": load_markdown,
    "code": _lazy("code", "load_code"),
    "rst": _lazy("rst", "load_rst"),
    "org": _lazy("org", "load_org"),
    "latex": _lazy("latex", "load_latex"),
    "man": _lazy("man", "load_man"),
    "notebook": _lazy("notebook", "load_notebook"),
    "mail": _lazy("mail", "load_mail"),
    "mbox": _lazy("mail", "load_mbox"),
    "json": _lazy("json", "load_json"),
    "jsonl": _lazy("json", "load_jsonl"),
    "subtitles": _lazy("subtitles", "load_subtitles"),
    "html": _lazy("html", "load_html"),
    "pdf": _lazy("pdf", "load_pdf"),
    "docx": _lazy("docx", "load_docx"),
    "pptx": _lazy("pptx", "load_pptx"),
    "xlsx": _lazy("xlsx", "load_xlsx"),
    "csv": _lazy("csv", "load_csv"),
    "odt": _lazy("odt", "load_odt"),
    "odp": _lazy("odt", "load_odp"),
    "ods": _lazy("ods", "load_ods"),
    "epub": _lazy("epub", "load_epub"),
}
# Kinds of which one file may hold very much: archives, and mailboxes.
_LARGE = frozenset({"pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "mbox"})

SIZE_LIMITS: dict[str, int] = {
    kind: BINARY_LIMIT if kind in _LARGE else TEXT_LIMIT for kind in FORMATS
}

__all__ = [
    "BINARY_LIMIT",
    "FORMATS",
    "HEAD",
    "MIB",
    "SIZE_LIMITS",
    "TAIL",
    "TEXT_LIMIT",
    "Loader",
    "Sniffed",
    "inspect",
    "sniff",
]
