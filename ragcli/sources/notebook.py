"""Jupyter notebooks (nbformat 3 and 4): prose, code and what it printed, cell by cell.

Read as the JSON it is: nbformat validates, and refuses the notebooks that people have.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ragcli.errors import SourceError
from ragcli.sources.code import code_blocks
from ragcli.sources.decode import clean, decode
from ragcli.sources.joined import Joined
from ragcli.sources.markdown import markdown_blocks, without_comments
from ragcli.sources.plain import notes, text_blocks
from ragcli.types import Block, Extracted

OUTPUT_LINES = 40  # lines of a cell's output that are read, and
OUTPUT_LINE = 400  # characters of each: logs and printed tables are no documents
_ENDING = {"python": ".py", "ipython": ".py"}
# An image written into a Markdown cell: nothing to read in its data.
_DATA = re.compile(r"data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=\s]{20,}")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colours in tracebacks


def _text(value: Any) -> str:
    """A multi-line string of a notebook: a string, or a list of its lines."""
    if isinstance(value, list):
        value = "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise SourceError("not a notebook (nested too deep)") from error
    except ValueError as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise SourceError(f"broken notebook (JSON{where})") from error
    if not isinstance(found, dict):
        raise SourceError("not a notebook (no cells)")
    return found


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    cells = _mappings(notebook.get("cells"))
    for sheet in _mappings(notebook.get("worksheets")):  # nbformat 3
        cells += _mappings(sheet.get("cells"))
    if not cells and not isinstance(notebook.get("cells"), list) and "worksheets" not in notebook:
        raise SourceError("not a notebook (no cells)")
    return cells


def _language(notebook: dict[str, Any]) -> str:
    """The programming language, lower case; "python" where nothing says."""
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(part)
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key]).lower()
    return "python"


def _output(output: dict[str, Any]) -> str:
    """Text of one output; pictures, HTML and widgets have none here."""
    kind = output.get("output_type")
    if kind in ("pyerr", "error"):  # the message says it; the traceback repeats the code
        name, value = _text(output.get("ename")), _text(output.get("evalue"))
        return f"{name}: {value}"
    if kind == "stream":
        return _text(output.get("text"))
    data = output.get("data")
    if isinstance(data, dict):
        return _text(data.get("text/markdown")) or _text(data.get("text/plain"))
    return _text(output.get("text"))


def _printed(cell: dict[str, Any]) -> str:
    shown = [
        _ESCAPES.sub("", _output(output)).rstrip() for output in _mappings(cell.get("outputs"))
    ]
    lines = "\n".join(text for text in shown if text).splitlines()
    kept = [line[:OUTPUT_LINE] for line in lines[:OUTPUT_LINES]]
    if len(lines) > OUTPUT_LINES:
        kept.append(f"({len(lines) - OUTPUT_LINES} more lines)")
    return "\n".join(kept)


class _Reader:
    def __init__(self, ending: str) -> None:
        self.out = Joined()
        self.ending = ending
        self.title = ""

    def cell(self, number: int, cell: dict[str, Any]) -> None:
        source = clean(_text(cell.get("source", cell.get("input"))))
        kind = cell.get("cell_type")
        place = f"cell {number}"
        if kind == "markdown":
            self._markdown(_DATA.sub("", source), place)
        elif kind == "heading":  # nbformat 3
            level = cell.get("level")
            level = level if isinstance(level, int) and 1 <= level <= 6 else 1
            source = " ".join(source.split())
            self._titled(source, level)
            self.out.add(source, [Block(0, len(source), "heading", level)], place)
        elif kind == "code":
            # Definitions open no section: the cell stands under the prose above it.
            blocks = [Block(b.start, b.end, b.kind) for b in code_blocks(source, self.ending)]
            self.out.add(source, blocks, place)
            printed = clean(_printed(cell))
            self.out.add(printed, text_blocks(printed, "code"), f"{place}, output")
        else:
            self.out.add(source, text_blocks(source), place)

    def _markdown(self, source: str, place: str) -> None:
        source = without_comments(source)
        blocks, title = markdown_blocks(source)
        self.title = self.title or title
        for block in blocks:
            if block.kind == "heading":
                self._titled(source[block.start : block.end], block.level)
        self.out.add(source, blocks, place)

    def _titled(self, text: str, level: int) -> None:
        if level == 1 and not self.title:
            self.title = text


def load_notebook(data: bytes, ending: str) -> Extracted:
    """Cells in order, numbered from 1 as their places say; outputs cut to `OUTPUT_LINES`.

    Raises SourceError: broken JSON, no cells.
    """
    decoded = decode(data)
    notebook = _parsed(decoded.text)
    language = _language(notebook)
    reader = _Reader(_ENDING.get(language, ".txt"))
    for number, cell in enumerate(_cells(notebook), 1):
        reader.cell(number, cell)
    told = notes(decoded)
    if language != "python":
        told += (f"notebook in {language}",)
    out = reader.out
    return Extracted(
        out.text(), "notebook", tuple(out.blocks), reader.title,
        notes=told, places=tuple(out.places),
    )  # fmt: skip
