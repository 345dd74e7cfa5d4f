"""Files read by a worker process with its limits, and small DOCX files to spoil."""

from __future__ import annotations

from pathlib import Path

from ragcli.events import FileDone
from ragcli.sources.load import Extractor, Parsed
from ragcli.types import FileEntry

from .zips import archive

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def extract(*entries: FileEntry, **options: float) -> list[Parsed | FileDone]:
    with Extractor(1, **options) as extractor:  # type: ignore[arg-type]
        return list(extractor.run(entries))


def outcome(folder: Path, name: str, data: bytes, **options: float) -> str:
    """ "text: …" or the reason; a plain note behind it must be read all the same."""
    (folder / name).write_bytes(data)
    (folder / "zz.md").write_text("A plain note.")
    result, after = extract(
        FileEntry(folder, name, len(data), 0), FileEntry(folder, "zz.md", 13, 0), **options
    )
    assert isinstance(after, Parsed)
    return f"text: {result.extracted.text}" if isinstance(result, Parsed) else result.reason


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, before: str = "", encoding: str = "utf-8", **parts: str) -> bytes:
    document = f"{before}<w:document {W}><w:body>{body}</w:body></w:document>"
    return archive({"word/document.xml": document.encode(encoding), **parts})
