"""Steps cut into sentences as they are generated. Pure."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from ragcli.decoding.rind import ranges
from ragcli.decoding.stop import Stop
from ragcli.text.sentences import split_sentences
from ragcli.types import Block, Step

# Nothing else can end a sentence: spares the splitter at most tokens.
_MAY_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+\S|[。！？]\s*\S|\n\s*\S")


@dataclass(frozen=True, slots=True)
class Piece:
    """A whole sentence: steps[first:last]. stop: where the answer ended with it.

    steps: those generated so far; what follows `last` belongs to the next sentence.
    """

    steps: tuple[Step, ...]
    first: int
    last: int
    stop: Stop | None = None


def by_sentence(
    steps: Generator[Step, None, Stop], language: str = "en"
) -> Generator[Piece, None, Stop]:
    """Every step is in exactly one piece, in order; a piece comes once the next sentence begins."""
    seen: list[Step] = []
    first = 0
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            stop: Stop = end.value
            if first < len(seen):
                yield Piece(tuple(seen), first, len(seen), stop)
            return stop
        if length := first_sentence(seen[first:], language):
            yield Piece(tuple(seen), first, first + length)
            first += length


def first_sentence(steps: Sequence[Step], language: str = "en") -> int:
    """How many steps the first sentence takes; 0 while no other has begun after it.

    A step belongs to the sentence in which its first visible character stands; blank steps
    to the one before them.
    """
    texts = [step.text for step in steps]
    text = "".join(texts)
    if not _MAY_END.search(text):
        return 0
    lines = [Block(m.start(), m.end(), "paragraph") for m in re.finditer(r"\S[^\n]*", text)]
    spans = split_sentences(text, lines, language)
    if len(spans) < 2:
        return 0
    begins = [
        span.start + len(one) - len(one.lstrip()) if one.strip() else span.start
        for span, one in zip(ranges(texts), texts, strict=True)
    ]
    return sum(begin < spans[1].start for begin in begins)
