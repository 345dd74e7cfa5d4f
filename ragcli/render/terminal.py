"""Lines for people: styled and wrapped on a terminal, plain and whole in a pipe.

Text from documents passes `clean` or `path_text` before it is printed, and is never
read as markup.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ragcli.paths import relative_to_cwd, shown
from ragcli.text.normalise import readable, safe_for_terminal
from ragcli.types import Document, Passage, Sentence

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Piece = str | tuple[str, str]  # text, or text with the name of a style

STYLES = {
    "path": "cyan",
    "heading": "magenta",
    "match": "bold yellow",
    "number": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "bold red",
    "risk": "yellow underline",
    "high-risk": "bold red underline2",
}


def clean(text: str) -> str:
    """Document text on one line, safe to print."""
    return safe_for_terminal(readable(text))


def path_text(path: str | os.PathLike[str]) -> str:
    """A path on one line, safe to print; relative where it lies below the working directory."""
    return _one_line(shown(relative_to_cwd(Path(path))))


def _one_line(text: str) -> str:
    return safe_for_terminal(text).replace("\n", "\\n").replace("\t", "\\t")


def place(document: Document, piece: Sentence | Passage) -> str:
    """`docs/a.md:12`, `docs/a.pdf p.3` for formats with pages, `a.xlsx:7 (Budget!A5)`."""
    path = path_text(document.path)
    at = f"{path}:{piece.line}" if piece.page is None else f"{path} p.{piece.page}"
    return f"{at} ({_one_line(piece.place)})" if piece.place else at


@dataclass(slots=True)
class Printer:
    """Prints lines of pieces. Unstyled lines are never wrapped or cut."""

    stream: TextIO
    styled: bool = False
    colorless: bool = False
    width: int = 80
    height: int = 24

    def line(self, *pieces: Piece, indent: int = 0, hang: int | None = None) -> None:
        """One line; on a terminal it is wrapped, later lines indented by `hang`."""
        if not self.styled:
            self.stream.write(" " * indent + "".join(map(_text_of, pieces)) + "\n")
            return
        after = indent if hang is None else hang
        console = self.console()
        lines = self.rich(pieces).wrap(console, max(10, self.width - max(indent, after)))
        for number, one in enumerate(lines or [self.rich([""])]):
            one.pad_left(after if number else indent)
            console.print(one, soft_wrap=True)

    def blank(self) -> None:
        self.stream.write("\n")

    def console(self) -> Console:
        """A rich console on the stream, with this printer's styles."""
        from rich.console import Console
        from rich.theme import Theme

        return Console(
            file=self.stream,
            force_terminal=True,
            no_color=self.colorless,
            width=self.width,
            height=self.height,
            highlight=False,
            markup=False,
            emoji=False,
            theme=Theme(STYLES),
            legacy_windows=False,
        )

    def rich(self, pieces: Sequence[Piece]) -> Text:
        """The pieces as rich text."""
        from rich.text import Text

        text = Text(no_wrap=False, end="")
        for piece in pieces:
            text.append(piece) if isinstance(piece, str) else text.append(piece[0], piece[1])
        return text


def _text_of(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece[0]


def columns(printer: Printer, rows: Sequence[Sequence[str]], *, styles: Sequence[str] = ()) -> None:
    """Rows with aligned columns; the last column is wrapped on a terminal."""
    widths = [max(map(_cells, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        pieces: list[Piece] = []
        for number, cell in enumerate(row[:-1]):
            style = styles[number] if number < len(styles) else ""
            padding = " " * (widths[number] - _cells(cell) + 2)
            pieces += [(cell, style), padding] if style else [cell + padding]
        hang = sum(widths[:-1]) + 2 * (len(row) - 1)
        printer.line(*pieces, row[-1], hang=hang if hang < printer.width // 2 else 4)


def _cells(text: str) -> int:
    """Columns that the text takes; wide characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def count(number: int, singular: str, plural: str = "") -> str:
    """`1 file`, `1,234 files`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def size(number: int) -> str:
    """Bytes for people: `981 B`, `1.2 MB`."""
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
