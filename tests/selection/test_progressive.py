"""Sliding windows, and the queries of the next round."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.augmentation import augmented, diversify, same_words, template
from ragcli.selection.constituents import constituents
from ragcli.selection.progressive import progressive
from ragcli.types import Alignment, Constituent, Hit, Matched
from tests.selection.passages import hit

QUESTION = "Who was the first keeper of the Sandholm light?"
PARTS = constituents(QUESTION)


@given(
    st.lists(st.integers(0, 50), unique=True, max_size=6),
    st.lists(st.integers(0, 50), unique=True, max_size=40),
    st.integers(1, 6),
    st.integers(1, 25),
)
def test_no_better_candidate_is_lost(
    kept: list[int], candidates: list[int], keep: int, window: int
) -> None:
    asked: list[int] = []

    def order(pool: object) -> list[tuple[float, ...]]:
        items = list(pool)  # type: ignore[call-overload]
        asked.append(len(items))
        return [(float(one),) for one in items]

    chosen = progressive(kept, candidates, order, identity=int, keep=keep, window=window)
    assert list(chosen) == sorted(set(kept) | set(candidates))[:keep]
    assert max(asked) <= window + max(keep, len(kept))


def with_alignment(rank: int, matched: int, text: str = "Some text.") -> Hit:
    found = tuple(Matched(one, None, 1.0) for one in PARTS[:matched])
    return replace(hit(rank, text), alignment=Alignment(found, PARTS[matched:], "test"))


def test_queries_by_how_much_a_passage_matches() -> None:
    kept = [with_alignment(1, 3), with_alignment(2, 2, "The keeper."), with_alignment(3, 1)]
    queries = augmented(
        QUESTION,
        kept,
        tau=0.66,
        reword=lambda part, question: "<other>",
        imagine=lambda question: f"About: {question}",
    )
    assert [(one.kind, one.of) for one in queries] == [("aligned", 2), ("compensated", 3)]
    assert queries[0].text == f"{QUESTION} The keeper."
    rewritten = "Who was <other> <other>?"
    assert queries[1].text == f"{rewritten} About: {rewritten}"


def test_tau_compares_the_share_of_the_constituents() -> None:
    kept = [with_alignment(1, 2)]
    for tau, kind in ((0.66, "aligned"), (0.67, "compensated")):
        (one,) = augmented(QUESTION, kept, tau=tau, reword=same_words, imagine=str.upper)
        assert one.kind == kind


def test_fully_aligned_passages_ask_nothing() -> None:
    assert (
        augmented(QUESTION, [with_alignment(1, 3)], tau=0.66, reword=same_words, imagine=str) == ()
    )


def test_a_hostile_passage_adds_bounded_clean_text() -> None:
    (one,) = augmented(
        QUESTION, [with_alignment(1, 2, "\x1b[2J" + "x" * 10_000)], tau=0.5,
        reword=same_words, imagine=str,
    )  # fmt: skip
    assert len(one.text) < 1000
    assert "\x1b" not in one.text


def test_without_other_words_the_missing_part_stands_twice() -> None:
    alignment = with_alignment(1, 1).alignment
    assert alignment is not None
    assert diversify(QUESTION, alignment, same_words) == (
        "Who was the first keeper the first keeper of the Sandholm light of the Sandholm light?"
    )


def test_the_template_states_the_question() -> None:
    asked = constituents("When did Mira Oskan die?")
    assert template(asked)("") == "Mira Oskan die."
    assert template([Constituent("adverbial", "When", 0, 4, "time")])("") == ""
