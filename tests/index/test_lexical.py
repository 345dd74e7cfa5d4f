"""BM25 over pre-analysed terms."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ragcli.errors import IndexUnusable
from ragcli.index.lexical import BOOSTS, Lexical, LexicalRow, build, extend


def row(
    passage: int, body: str, *, file: int = 1, title: str = "", heading: str = ""
) -> LexicalRow:
    return LexicalRow(passage, file, title, heading, body)


ROWS = [
    row(1, "the red valve"),
    row(2, "the blue valve valve", file=2),
    row(3, "a pump", file=3, title="valve"),
]


def found(index: Lexical, *terms: str, **options: object) -> list[int]:
    return [passage for passage, _ in index.search([list(terms)], 10, **options)]  # type: ignore[arg-type]


def test_bm25_by_hand() -> None:
    index = Lexical.in_memory([row(1, "a b"), row(2, "b c"), row(3, "c d"), row(4, "e f")])
    idf = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2.2 / (1 + 1.2)  # tf 1, every field of average length
    assert index.search([["a"]], 5) == [(1, pytest.approx(BOOSTS["body"] * expected, rel=1e-4))]


def test_titles_count() -> None:
    assert set(found(Lexical.in_memory(ROWS), "valve")) == {1, 2, 3}


def test_terms_are_taken_as_they_are() -> None:
    terms = ["c++", "a:b", "AND", '"', "*", "x" * 300, "ß", "北京", "don't", "(", "-x", "3:1"]
    index = Lexical.in_memory([row(n, f"common {term}") for n, term in enumerate(terms)])
    assert [found(index, term) for term in terms] == [[n] for n in range(len(terms))]
    assert found(index, "and") == []  # case is the analysis's business


def test_a_passage_scores_by_the_variant_that_fits_best() -> None:
    index = Lexical.in_memory(ROWS)
    (alone,) = index.search([["red"]], 10)
    assert index.search([["red"], ["rot"]], 10) == [alone]
    assert index.search([["red"], ["red"]], 10) == [alone]


def test_a_term_given_twice_counts_twice() -> None:
    index = Lexical.in_memory(ROWS)
    ((_, once),) = index.search([["red"]], 10)
    assert index.search([["red", "red"]], 10) == [(1, pytest.approx(2 * once))]


def test_filter_by_file() -> None:
    index = Lexical.in_memory(ROWS)
    assert found(index, "valve", files=[2, 3]) == found(index, "valve", files={3, 2})
    assert set(found(index, "valve", files=[2, 3])) == {2, 3}
    assert found(index, "valve", files=[]) == []
    assert index.search([["red"]], 5, files=[1]) == index.search([["red"]], 5)


@pytest.mark.parametrize("variants", [[], [[]], [["nowhere"]]])
def test_nothing_matches(variants: list[list[str]]) -> None:
    assert Lexical.in_memory(ROWS).search(variants, 10) == []


def test_an_empty_index_answers() -> None:
    assert Lexical.in_memory([]).search([["a"]], 10) == []


def test_a_very_long_query() -> None:
    assert found(Lexical.in_memory(ROWS), "red", *(f"t{n}" for n in range(20_000))) == [1]


def test_equal_scores_go_by_passage() -> None:
    assert found(Lexical.in_memory([row(n, "same text") for n in (5, 3, 9)]), "same") == [3, 5, 9]


def test_build_and_open(tmp_path: Path) -> None:
    build(tmp_path / "x", ROWS)
    opened = Lexical.open(tmp_path / "x")
    assert len(opened) == 3
    assert opened.search([["valve"]], 5) == Lexical.in_memory(ROWS).search([["valve"]], 5)


def test_extending_leaves_the_previous_one_as_it_was(tmp_path: Path) -> None:
    build(tmp_path / "one", ROWS)
    before = Lexical.open(tmp_path / "one")
    extend(tmp_path / "one", tmp_path / "two", [1], [row(7, "the new valve", file=9)])
    assert set(found(Lexical.open(tmp_path / "two"), "valve")) == {2, 3, 7}
    assert len(Lexical.open(tmp_path / "two")) == 3
    for old in (before, Lexical.open(tmp_path / "one")):
        assert set(found(old, "valve")) == {1, 2, 3}


def test_the_previous_one_may_be_removed_while_read(tmp_path: Path) -> None:
    import shutil

    build(tmp_path / "one", ROWS)
    reader = Lexical.open(tmp_path / "one")
    extend(tmp_path / "one", tmp_path / "two", [], [])
    shutil.rmtree(tmp_path / "one")
    assert set(found(reader, "valve")) == {1, 2, 3}
    assert set(found(Lexical.open(tmp_path / "two"), "valve")) == {1, 2, 3}


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="damaged"):
        Lexical.open(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"{", b"\x00" * 500, b"[]"])
def test_a_damaged_list_of_segments(tmp_path: Path, content: bytes) -> None:
    build(tmp_path / "x", ROWS)
    (tmp_path / "x" / "meta.json").write_bytes(content)
    with pytest.raises(IndexUnusable, match="damaged"):
        Lexical.open(tmp_path / "x")


@pytest.mark.parametrize("suffix", [".idx", ".term", ".fast", ".fieldnorm"])
@pytest.mark.parametrize("content", [b"", b"\xff" * 64])
def test_a_damaged_segment_is_an_error_not_a_crash(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    build(tmp_path / "x", ROWS)
    (file,) = (tmp_path / "x").glob(f"*{suffix}")
    file.write_bytes(content)
    with pytest.raises(IndexUnusable, match="damaged"):
        Lexical.open(tmp_path / "x").search([["valve"]], 5)
