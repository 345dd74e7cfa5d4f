"""A stretch of extracted text by lines: what `ragcli show` prints."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.errors import NothingFound
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Piece, Printer, path_text
from ragcli.text.normalise import safe_for_terminal
from ragcli.types import Document, Span


@dataclass(frozen=True, slots=True)
class Line:
    """`number` counts from 1; `marked`: within what was asked for."""

    number: int
    page: int | None
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a document round `span`."""

    document: Document
    span: Span
    lines: tuple[Line, ...]


def page_at(page_starts: Sequence[int], offset: int) -> int | None:
    """The 1-based page that an offset lies on; None for formats without pages."""
    return max(1, bisect_right(page_starts, offset)) if page_starts else None


def line_starts(text: str) -> list[int]:
    """Offset of the first character of each line."""
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return starts


def span_of_line(text: str, number: int) -> Span:
    """Raises NothingFound where the text has fewer lines."""
    starts = line_starts(text)
    if number > len(starts):
        raise NothingFound(f"there is no line {number}: the text has {len(starts)}")
    end = starts[number] - 1 if number < len(starts) else len(text.rstrip("\n"))
    return Span(starts[number - 1], max(end, starts[number - 1]))


def span_of_page(text: str, page_starts: Sequence[int], page: int) -> Span:
    """The text of a page, blank lines at its ends left out. Raises NothingFound."""
    if not page_starts:
        raise NothingFound("this format has no pages", hint="PATH:LINE shows a line")
    if page > len(page_starts):
        raise NothingFound(f"there is no page {page}: the document has {len(page_starts)}")
    start = page_starts[page - 1]
    end = page_starts[page] if page < len(page_starts) else len(text)
    body = text[start:end]
    if not body.strip():
        raise NothingFound(f"page {page} has no text")
    start += len(body) - len(body.lstrip("\n\r\f "))
    return Span(start, start + len(body.strip("\n\r\f ")))


def excerpt(
    document: Document, text: str, page_starts: Sequence[int], span: Span, *, context: int
) -> Excerpt:
    """The lines that `span` touches, and `context` lines before and after.

    Raises NothingFound where the span lies outside the text.
    """
    if span.end > len(text):
        raise NothingFound(
            f"there is no text at {span.start}-{span.end}: it has {len(text)} characters"
        )
    starts = line_starts(text)
    first = bisect_right(starts, span.start) - 1
    last = bisect_right(starts, max(span.start, span.end - 1)) - 1
    lines = []
    for number in range(max(0, first - context), min(len(starts), last + context + 1)):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        body = text[starts[number] : end].rstrip("\r\n")
        page = page_at(page_starts, max(starts[number], min(end - 1, span.start)))
        lines.append(Line(number + 1, page, body, first <= number <= last))
    return Excerpt(document, span, tuple(lines))


def print_excerpt(printer: Printer, shown: Excerpt) -> None:
    """The file's name, then its lines with numbers; the marked ones are pointed at."""
    document = shown.document
    title = [f"  {safe_for_terminal(document.title)}"] if document.title else []
    printer.line((path_text(document.path), "path"), *title, hang=4)
    width = len(str(shown.lines[-1].number)) if shown.lines else 1
    partly = not all(line.marked for line in shown.lines)
    page = None
    for line in shown.lines:
        if line.page != page:
            page = line.page
            printer.line((f"— page {page} —", "dim"))
        mark = ">" if line.marked and partly else " "
        body: Piece = safe_for_terminal(line.text).replace("\n", " ")
        printer.line(
            (f"{mark}{line.number:>{width}}", "number" if line.marked else "dim"), "  ", body,
            hang=width + 3,
        )  # fmt: skip


def show_document(excerpt: Excerpt) -> Json:
    """`ragcli/show@1`."""
    document = excerpt.document
    return {
        "schema": "ragcli/show@1",
        **path_fields(document.path),
        "type": document.kind,
        "title": document.title,
        "sha256": document.sha256,
        "page": excerpt.lines[0].page if excerpt.lines else None,
        "start": excerpt.span.start,
        "end": excerpt.span.end,
        "lines": [
            {"line": one.number, "page": one.page, "text": one.text, "marked": one.marked}
            for one in excerpt.lines
        ],
    }
