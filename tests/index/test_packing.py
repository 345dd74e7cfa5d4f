"""Blobs of the catalog: what goes in comes out, and damage is an error."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import IndexUnusable
from ragcli.index import packing
from ragcli.index.packing import (
    pack_places,
    pack_sentences,
    pack_terms,
    pack_text,
    unpack_places,
    unpack_sentences,
    unpack_terms,
    unpack_text,
)

offsets = st.integers(0, 2**31 - 1)
words = st.lists(st.text("abcß北", min_size=1), max_size=5).map(" ".join)


@given(st.lists(st.tuples(offsets, offsets, offsets, offsets, offsets)))
def test_sentences(rows: list[tuple[int, int, int, int, int]]) -> None:
    assert [tuple(row) for row in unpack_sentences(pack_sentences(rows)).tolist()] == rows


@given(words, words, words)
def test_terms(title: str, heading: str, body: str) -> None:
    assert unpack_terms(pack_terms(title, heading, body)) == (title, heading, body)


@given(st.text(st.characters(codec=None), max_size=300))
def test_text_in_pieces_even_with_lone_surrogates(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "CHUNK", 7)
        pieces = list(pack_text(text))
    assert "".join(unpack_text(data) for _, data in pieces) == text
    assert [start for start, _ in pieces] == list(range(0, len(text), 7))


@pytest.mark.parametrize("data", [b"", b"abc", zlib.compress(b"abc")[:-3]])
def test_damage(data: bytes) -> None:
    with pytest.raises(IndexUnusable, match="damaged"):
        unpack_text(data)


def test_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_BYTES", 1000)
    with pytest.raises(IndexUnusable, match="too long"):
        unpack_text(zlib.compress(b"0" * 100_000))


@pytest.mark.parametrize("packed", [b"one\ntwo", b"a\nb\nc\nd"])
def test_terms_of_another_shape(packed: bytes) -> None:
    with pytest.raises(IndexUnusable, match="terms are damaged"):
        unpack_terms(zlib.compress(packed))


def test_sentences_of_another_shape() -> None:
    with pytest.raises(IndexUnusable, match="sentences are damaged"):
        unpack_sentences(b"12345")


@given(st.lists(st.text(max_size=5), max_size=5))
def test_places(labels: list[str]) -> None:
    assert unpack_places(pack_places(labels), len(labels)) == labels


def test_formats_without_places_store_none() -> None:
    assert pack_places(["", ""]) == ""


@pytest.mark.parametrize("data", ["[", "{}", '["a"]', "7"])
def test_places_of_another_shape(data: str) -> None:
    with pytest.raises(IndexUnusable):
        unpack_places(data, 2)
