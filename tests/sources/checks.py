"""What every loader promises, and the input it must stand."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from hypothesis import strategies as st

from ragcli.errors import SourceError
from ragcli.sources.decode import decode
from ragcli.text.lines import LineIndex
from ragcli.text.normalise import readable
from ragcli.text.sentences import split_sentences
from ragcli.types import Extracted

Loader = Callable[[bytes, str], Extracted]


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    """(kind, level, text) of the blocks."""
    return [(b.kind, b.level, extracted.text[b.start : b.end]) for b in extracted.blocks]


def named(extracted: Extracted) -> list[tuple[int, str, str]]:
    """(level, name, first line) of the blocks that open a section."""
    return [
        (b.level, b.name, extracted.text[b.start : b.end].split("\n")[0].strip())
        for b in extracted.blocks
        if b.level
    ]


def sentences(extracted: Extracted) -> list[tuple[int, str]]:
    """(line, readable text) of the sentences, as the index makes them."""
    lines = LineIndex(extracted.text)
    spans = split_sentences(extracted.text, extracted.blocks) if extracted.blocks else []
    return [(lines.line(span.start), readable(span.of(extracted.text))) for span in spans]


def place(extracted: Extracted, words: str) -> str:
    """The place of the first time these words stand in the text."""
    at = extracted.text.index(words)
    return next((label for start, label in reversed(extracted.places) if start <= at), "")


def loaded(load: Loader, data: bytes, ending: str = "") -> Extracted | None:
    """What a loader makes of it, checked; None where it says that it cannot be read."""
    reason = "none"
    try:
        extracted = load(data, ending)
    except SourceError as error:
        extracted, reason = None, error.message
    assert reason
    assert "\n" not in reason
    if extracted is not None:
        check(extracted)
    return extracted


def check(extracted: Extracted) -> None:
    """Blocks and places ascend and lie in the text; the text can be stored and shown."""
    text = extracted.text
    text.encode("utf-8")
    assert not [c for c in text if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    for block in extracted.blocks:
        assert 0 <= block.start < block.end <= len(text)
    for before, after in itertools.pairwise(extracted.blocks):
        assert before.end <= after.start
    starts = [start for start, _ in extracted.places]
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
    sentences(extracted)


def same_lines(extracted: Extracted, data: bytes) -> None:
    """The text has the lines of the file."""
    assert extracted.text.count("\n") == decode(data).text.count("\n")


def only_blocks(extracted: Extracted, text: str) -> None:
    """Lines are those of the file, and empty where nothing of them is in a block."""
    own = extracted.text.split("\n")
    assert len(own) == text.count("\n") + 1
    assert [line for line in own if line not in ("", *text.split("\n"))] == []
    at = 0
    for line in own:
        end = at + len(line)
        assert not line.strip() or any(b.start < end and b.end > at for b in extracted.blocks)
        at = end + 1


def lines_kept(load: Loader, data: bytes, ending: str = "") -> None:
    """What is read, if anything, is checked and has the lines of the file."""
    if (found := loaded(load, data, ending)) is not None:
        same_lines(found, data)


def documents(*pieces: str) -> st.SearchStrategy[bytes]:
    """Texts made of a format's own markup, of anything, and of bytes that are no text."""
    own = st.lists(
        st.sampled_from([*pieces, "\n", "\n\n", " ", "  ", "x", "A b. C d.", "\u00e9", "\t"]),
        max_size=40,
    )
    mixed = st.lists(st.one_of(own.map("".join), st.text(max_size=20)), max_size=6)
    return st.one_of(
        own.map(lambda parts: "".join(parts).encode()),
        mixed.map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass")),
        st.binary(max_size=200),
    )
