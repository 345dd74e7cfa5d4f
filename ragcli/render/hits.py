"""Search results for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ragcli.render.terminal import Piece, Printer, clean, place
from ragcli.types import Hit

_WORD = re.compile(r"\w[\w'’+#-]*")
_MAX_SENTENCE = 400  # code points on a terminal; a pipe gets all of it


def print_hits(printer: Printer, hits: Sequence[Hit], matches: Callable[[str], bool]) -> None:
    """A block a hit on a terminal, a line a hit in a pipe.

    matches: does this word answer the query? Such words are highlighted.
    """
    for hit in hits:
        if printer.styled:
            _block(printer, hit, matches)
        else:
            printer.line(one_line(hit))


def one_line(hit: Hit) -> str:
    """`path:line: sentence  [heading]  (#rank score, lexical …, dense …)`."""
    where = place(hit.document, hit.best_sentence or hit.passage)
    heading = f"  [{clean(hit.passage.heading)}]" if hit.passage.heading else ""
    return f"{where}: {clean(_sentence(hit))}{heading}  (#{hit.rank} {scores(hit)})"


def scores(hit: Hit) -> str:
    """Fused score, then each retriever's score and rank."""
    parts = [f"{hit.score:.4f}"]
    for name, one in (("lexical", hit.lexical), ("dense", hit.dense)):
        if one is not None:
            parts.append(f"{name} {one.score:.3f} #{one.rank}")
    return ", ".join(parts)


def _block(printer: Printer, hit: Hit, matches: Callable[[str], bool]) -> None:
    number = f"{hit.rank}."
    where = place(hit.document, hit.best_sentence or hit.passage)
    heading: list[Piece] = []
    if hit.passage.heading:
        heading = ["  ", (clean(hit.passage.heading), "heading")]
    printer.line((number, "number"), " ", (where, "path"), *heading, hang=4)
    text = clean(_sentence(hit))
    if len(text) > _MAX_SENTENCE:
        text = text[: _MAX_SENTENCE - 1] + "…"
    printer.line(*highlighted(text, matches), indent=4)
    printer.line((scores(hit), "dim"), indent=4)


def highlighted(text: str, matches: Callable[[str], bool]) -> list[Piece]:
    """The text in pieces, words that match in the style "match"."""
    pieces: list[Piece] = []
    done = 0
    for word in _WORD.finditer(text):
        if matches(word.group()):
            pieces += [text[done : word.start()], (word.group(), "match")]
            done = word.end()
    return [*pieces, text[done:]]


def _sentence(hit: Hit) -> str:
    return (hit.best_sentence or hit.passage).text
