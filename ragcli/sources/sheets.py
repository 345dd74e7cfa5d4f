"""Sheets of a workbook put together: headings, rows, places, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from ragcli.errors import SourceError
from ragcli.sources.assemble import Assembler, settled
from ragcli.sources.ooxml import TooLong
from ragcli.sources.tables import MOST_ROWS, MOST_TEXT, Piece, Row, table_pieces
from ragcli.types import Extracted


def column_name(column: int) -> str:
    """ "A" for 0, "AA" for 26."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


class Sheets:
    """Text of all sheets. A row's place is its first cell: "Budget!A5"."""

    def __init__(self) -> None:
        self.out = Assembler()
        self.places: list[tuple[int, str]] = []
        self.missing: list[str] = []
        self._rows = 0
        self._opened = ""

    def is_full(self) -> bool:
        """Whether no more rows are taken."""
        return self._rows >= MOST_ROWS or self.out.length >= MOST_TEXT

    def sheet(self, name: str, rows: Iterator[Row]) -> None:
        """One sheet; its rows are read only as far as they are taken."""
        if self.is_full():
            self.missing.append(f"sheet {name} (too many rows before it)")
            return
        last = 0
        for piece in table_pieces(self._whole(name, rows)):
            if piece.row != last:
                if self.is_full():
                    self.missing.append(f"sheet {name} from row {piece.row:,} on (too many rows)")
                    return
                self._rows += 1
                last = piece.row
            self._piece(name, piece)

    def _whole(self, name: str, rows: Iterator[Row]) -> Iterator[Row]:
        """Rows up to where they are damaged."""
        try:
            yield from rows
        except TooLong:
            self.missing.append(f"rest of sheet {name} (too long)")
        except SourceError as error:
            self.missing.append(f"rest of sheet {name}: {error.message}")

    def remark(self, name: str, text: str, cell: str = "") -> None:
        """Text that stands in no cell: a comment, a text box."""
        if text and not self.is_full():
            self._open(name)
            at = self.out.block(" ".join(text.split()), "paragraph")
            self.places.append((at, f"{name}!{cell}" if cell else name))

    def comment(self, name: str, row: int, column: int, text: str) -> None:
        """A comment that hangs on a cell."""
        cell = f"{column_name(column)}{row}"
        self.remark(name, f"Comment on {cell}: {text}" if text.strip() else "", cell)

    def _open(self, name: str) -> None:
        if self._opened != name:
            self._opened = name
            self.places.append((self.out.block(name, "heading", 1), name))

    def _piece(self, name: str, piece: Piece) -> None:
        self._open(name)
        if piece.title:
            at = self.out.block(piece.text, "paragraph", 2, piece.text)
        elif piece.kind == "table":
            at = self.out.row(piece.text)
        else:
            at = self.out.block(piece.text, piece.kind)
        place = f"{name}!{column_name(piece.column)}{piece.row}"
        if not self.places or self.places[-1][1] != place:
            self.places.append((at, place))

    def finish(self, kind: str, title: str = "", notes: tuple[str, ...] = ()) -> Extracted:
        """All of it as an extracted document."""
        text, blocks = self.out.finish()
        return Extracted(
            text, kind, blocks, title,
            notes=notes, places=settled(self.places, text), missing=tuple(self.missing),
        )  # fmt: skip
