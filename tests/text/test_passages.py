from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.passages import PassageCut, context_length, cut_passages, embedded_text
from ragcli.text.sentences import split_sentences
from ragcli.types import Block, Span


def words(texts: Sequence[str]) -> list[int]:
    """A stand-in for a tokenizer: two special tokens, one token per four letters of a word."""
    return [2 + sum(1 + len(word) // 4 for word in text.split()) for text in texts]


def document(*parts: tuple[int, str]) -> tuple[str, list[Block]]:
    """(level, text) parts: level 0 is a paragraph."""
    text, blocks = "", []
    for level, part in parts:
        start = len(text)
        text += part + "\n\n"
        kind = "heading" if level else "paragraph"
        blocks.append(Block(start, start + len(part), kind, level))  # type: ignore[arg-type]
    return text, blocks


def cut(text: str, blocks: list[Block], limit: int, title: str = "") -> list[PassageCut]:
    return cut_passages(text, blocks, split_sentences(text, blocks), words, limit, title)


LONG = "The valve of the boiler is opened by hand. " * 6


def test_headings_start_passages() -> None:
    text, blocks = document((1, "Boiler"), (2, "Valve"), (0, LONG), (2, "Pump"), (0, LONG))
    cuts = cut(text, blocks, 128)
    assert [passage.heading for passage in cuts] == ["Boiler > Valve", "Boiler > Pump"]
    assert cuts[0].span.of(text).startswith("Boiler\n\nValve\n\nThe valve")
    assert cuts[1].span.of(text).startswith("Pump")


def test_tiny_sections_share_a_passage_under_their_parent() -> None:
    text, blocks = document(
        (1, "Words"), (0, LONG), (2, "Ohm"), (0, "A unit."), (2, "Volt"), (0, "Also one.")
    )
    assert [passage.heading for passage in cut(text, blocks, 400)] == ["Words"]


def test_tiny_sections_without_a_common_parent_stay_apart() -> None:
    text, blocks = document((1, "Ohm"), (0, "A unit."), (1, "Volt"), (0, "Also a unit."))
    assert [passage.heading for passage in cut(text, blocks, 128)] == ["Ohm", "Volt"]


def test_a_long_section_is_cut_evenly() -> None:
    text, blocks = document((0, LONG * 4))
    sizes = [len(passage.sentences) for passage in cut(text, blocks, 128)]
    assert len(sizes) > 2
    assert max(sizes) - min(sizes) <= 2


def test_a_sentence_above_the_limit_is_cut_into_pieces() -> None:
    text, blocks = document((0, "word " * 150 + "end."))
    cuts = cut(text, blocks, 64)
    assert " ".join(p.span.of(text) for p in cuts).split() == text.split()
    assert len(cuts) > 2


def test_nothing_gives_nothing() -> None:
    assert cut("", [], 64) == []


@pytest.mark.parametrize(
    ("title", "heading", "body", "read"),
    [
        ("Manual", "Boiler > Valve", "It  is\nopen.", "Manual > Boiler > Valve: It is open."),
        ("Manual", "Boiler > Valve", "Valve\n\nIt is open.", "Manual > Boiler: Valve It is open."),
        ("Boiler", "Boiler", "Boiler\n\nIt is.", "Boiler It is."),
        ("", "", "It is.", "It is."),
        ("", "x " * 300 + "end", "It is.", " ".join(["x"] * 98) + " end: It is."),
    ],
)
def test_embedded_text(title: str, heading: str, body: str, read: str) -> None:
    assert embedded_text(title, heading, body) == read


_PART = st.tuples(
    st.sampled_from([0, 0, 0, 1, 2, 3]),
    st.text(alphabet=st.sampled_from(list("ab .,A\n字")), max_size=120),
)


@given(
    st.lists(_PART, max_size=8), st.sampled_from([16, 40, 256]), st.sampled_from(["", "A title"])
)
def test_every_sentence_is_in_one_passage_within_the_limit(
    parts: list[tuple[int, str]], limit: int, title: str
) -> None:
    text, blocks = document(*parts)
    sentences = split_sentences(text, blocks)
    cuts = cut_passages(text, blocks, sentences, words, limit, title)
    held = [span for passage in cuts for span in passage.sentences]
    assert held == sorted(held)

    def visible(spans: Sequence[Span]) -> list[int]:
        return [at for s in spans for at in range(s.start, s.end) if not text[at].isspace()]

    assert visible(held) == visible(sentences)
    for passage in cuts:
        assert passage.span == Span(passage.sentences[0].start, passage.sentences[-1].end)
        read = embedded_text(title, passage.heading, passage.span.of(text), context_length(limit))
        assert words([read])[0] <= limit


def test_a_named_block_opens_a_section_that_is_not_in_its_text() -> None:
    parts = ("import os", "class A:\n" + LONG, "def run(self):\n" + LONG, "run() " + LONG)
    text, blocks, at = "", [], 0
    for part, (level, name) in zip(parts, ((0, ""), (1, "A"), (2, "run"), (1, "")), strict=True):
        text += part + "\n"
        blocks.append(Block(at, len(text), "code", level, name))
        at = len(text)
    assert [one.heading for one in cut(text, blocks, 128)] == ["", "A", "A > run", ""]
