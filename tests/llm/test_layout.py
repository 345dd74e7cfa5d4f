"""Tokens and whose they are, with a tokeniser that fits on a page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.llm.base import PromptPiece
from ragcli.llm.layout import Codec, encode, token_starts
from ragcli.types import Sentence, Source


def source(number: int) -> Source:
    return Source(0, Sentence(number, 1, 1, 0, 1, f"s{number}", None, 1))


class Words:
    """A vocabulary that grows: a token is a word with the blanks before it."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.known: list[bytes] = []

    def __call__(self, text: str) -> list[int]:
        found = re.findall(r"\s*\S+|\s+$", self.prefix + text)
        return [self._number(word.encode("utf-8", "replace")) for word in found]

    def _number(self, word: bytes) -> int:
        if word not in self.known:
            self.known.append(word)
        return self.known.index(word)

    def codec(self, bos: int | None = None) -> Codec:
        return Codec(self, self, lambda token: self.known[token], bos)


A, B = source(1), source(2)


@pytest.mark.parametrize("prefix", ["", " "])  # " ": the tokeniser puts a blank in front
@pytest.mark.parametrize(
    ("pieces", "owners"),
    [
        ([("one two", A), (" ", None), ("three", B)], [0, 0, 1]),  # the word decides
        ([("one ", A), ("two", B)], [0, 1]),
        ([("on", A), ("e two", B)], [0, 1]),  # "one" straddles: its first letter is A's
        ([("Facts: ", None), ("one", A), (" two", A), ("\n\nQ", None)], [-1, 0, 0, -1]),
        ([("one", A), (" two ", None), ("one", A)], [0, -1, 0]),  # a source shown twice
        ([("ünö", A), (" ", None), ("ñandú", B)], [0, 1]),
        ([("", A), ("one", B)], [1]),
    ],
)
def test_owners(prefix: str, pieces: list[tuple[str, Source | None]], owners: list[int]) -> None:
    words = Words(prefix)
    made = [PromptPiece(text, source=whose) for text, whose in pieces]
    prompt = encode(made, words.codec())
    assert prompt.owner.tolist() == owners
    assert prompt.sources == tuple(dict.fromkeys(w for _, w in pieces if w is not None))


def test_control_pieces_are_apart_and_nobodys() -> None:
    words = Words()
    prompt = encode(
        [
            PromptPiece("<s>", control=True),
            PromptPiece("x", source=A),
            PromptPiece("</s>", control=True),
        ],
        words.codec(),
    )
    assert prompt.owner.tolist() == [-1, 0, -1]
    assert [words.known[t] for t in prompt.tokens] == [b"<s>", b"x", b"</s>"]


def test_bos_is_added_once() -> None:
    words = Words()
    (bos,) = words("<s>")
    plain = [PromptPiece("x", source=A)]
    assert encode(plain, words.codec(bos)).tokens.tolist()[0] == bos
    assert encode(plain, words.codec(bos)).owner.tolist() == [-1, 0]
    already = [PromptPiece("<s>", control=True), *plain]
    assert (
        encode(already, words.codec(bos)).tokens.tolist()
        == encode(already, words.codec()).tokens.tolist()
    )


def test_an_empty_prompt() -> None:
    prompt = encode([PromptPiece("")], Words().codec())
    assert (len(prompt), prompt.sources) == (0, ())


def test_a_tokeniser_that_changes_characters_is_followed_by_search() -> None:
    text = b"Plain \xef\xac\x81sh and chips"  # a ligature that becomes "fi"
    pieces = [b" plain", b" fish", b" and", b" chips"]
    starts = token_starts(pieces, text)
    assert starts.tolist()[2:] == [text.index(b"and"), text.index(b"chips")]


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), min_size=1, max_size=6)
)
def test_a_lossless_tokeniser_gives_each_source_its_own_text(texts: list[str]) -> None:
    whole = "".join(texts).encode()
    pieces = [whole[i : i + 1] for i in range(len(whole))]  # one byte a token
    assert token_starts(pieces, whole).tolist() == list(range(len(whole)))


@given(st.binary(max_size=30), st.lists(st.binary(max_size=5), max_size=8))
def test_starts_are_inside_the_text_whatever_comes(text: bytes, pieces: list[bytes]) -> None:
    starts = token_starts(pieces, text)
    assert len(starts) == len(pieces)
    if len(text):
        assert np.all(starts >= 0)
