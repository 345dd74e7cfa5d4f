"""RIND and QFS: worked by hand, and what holds for any text."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.decoding.loop import generate
from ragcli.decoding.options import SamplingOptions
from ragcli.decoding.rind import NO_WORD, first_above, impacts, owners, query, ranges, rind
from ragcli.decoding.stop import Stop
from ragcli.text.words import words
from ragcli.types import Step
from tests.decoding.answering import EVERY, RISK, branches
from tests.decoding.toy import ToySession, ToyVocabulary

# A prompt of 2 tokens, then tokens 0..3. Row k is of the position that predicts token k.
ROWS = [
    [0.5, 0.5],
    [0.4, 0.4, 0.2],  # token 0 looks at itself with 0.2
    [0.3, 0.2, 0.4, 0.1],  # token 1 looks at token 0 with 0.4
    [0.1, 0.1, 0.3, 0.4, 0.1],  # token 2 looks at 0 and 1
    [0.1, 0.1, 0.1, 0.2, 0.4, 0.1],  # token 3 looks at 0, 1, 2
]


def test_impact_is_the_most_that_a_later_token_pays() -> None:
    assert impacts(ROWS, 2, 0, 4).tolist() == [0.4, 0.4, 0.4, 0.0]


def test_impact_stays_within_the_sentence() -> None:
    """Token 3 belongs to the next one: its row is left out, token 2's own look at itself too."""
    assert impacts(ROWS, 2, 0, 3).tolist() == [0.4, 0.4, 0.0]
    assert impacts(ROWS, 2, 1, 3).tolist() == [0.4, 0.0]


def test_without_the_row_after_the_end_the_last_looks_are_unknown() -> None:
    assert impacts(ROWS[:4], 2, 0, 4).tolist() == [0.4, 0.4, 0.0, 0.0]


def test_scores_worked_by_hand() -> None:
    """Three words; "Oskan" is two tokens: impacts 0.1 + 0.2, entropies (2 + 1) / 2.

    Impacts 0.2, 0.4 and 0.3 sum to 0.9; times three words: 2/3, 4/3, 1.
    """
    found = rind([" She", " met", " Os", "kan", "."], [1.0, 0.5, 2.0, 1.0, 9.0],
                 [0.2, 0.4, 0.1, 0.2, 0.7])  # fmt: skip
    assert [(one.text, one.token) for one in found] == [("She", 0), ("met", 1), ("Oskan", 2)]
    assert [one.score for one in found] == pytest.approx([0.0, 4 / 3 * 0.5, 1.0 * 1.5])


@pytest.mark.parametrize(
    ("theta", "expected"), [(0.0, "met"), (0.66, "met"), (0.67, "Oskan"), (1.5, None), (2.0, None)]
)
def test_the_first_word_above_theta(theta: float, expected: str | None) -> None:
    found = rind([" She", " met", " Oskan"], [1.0, 0.5, 1.5], [0.2, 0.4, 0.3])
    word = first_above(found, theta)
    assert (word and word.text) == expected


def test_nothing_looked_back_at_scores_nothing() -> None:
    assert [one.score for one in rind([" Mira", " Oskan"], [3.0, 3.0], [0.0, 0.0])] == [0.0, 0.0]
    assert rind([], [], []) == ()
    assert rind(["...", "!"], [1.0, 1.0], [0.5, 0.5]) == ()


def test_tokens_within_a_character_belong_to_its_word() -> None:
    texts = [" na", "", "ï", "ve", " caf", "", "é"]
    found = words("".join(texts))
    assert owners(ranges(texts), found) == [0, 0, 0, 0, 1, 1, 1]


TEXT = [" Who", " was", " the", " first", " keep", "er", " of", " Sand", "holm", "?", " Mira",
        " kept", " Sand", "holm"]  # fmt: skip
WEIGHTS = [0.3, 0.2, 0.2, 0.05, 0.03, 0.03, 0.2, 0.01, 0.01, 0.5, 0.04, 0.01, 0.05, 0.02]


@pytest.mark.parametrize(
    ("top_n", "expected"),
    [
        (1, "Sandholm"),  # 0.02 + 0.07 where it comes again
        (2, "keeper Sandholm"),  # 0.06, before "first" with 0.05
        (3, "first keeper Sandholm"),
        (4, "first keeper Sandholm Mira"),
        (25, "first keeper Sandholm Mira kept"),
        (0, ""),
    ],
)
def test_queries_worked_by_hand(top_n: int, expected: str) -> None:
    assert query(TEXT, WEIGHTS, top_n) == expected


PIECES = st.lists(st.text("abcdé ñ.?’東京", max_size=4), max_size=30)


@given(PIECES, st.randoms(use_true_random=False), st.integers(0, 40))
def test_queries_are_words_of_the_text_in_order(texts: list[str], random, top_n: int) -> None:  # type: ignore[no-untyped-def]
    weights = [random.random() for _ in texts]
    found = query(texts, weights, top_n)
    assert len(found.split()) <= top_n
    whole, at = "".join(texts), 0
    for word in found.split():
        at = whole.index(word, at)  # in order; a repeated word stands where it came first
    assert query(texts, weights, top_n) == found


@given(PIECES, st.randoms(use_true_random=False))
def test_scores_average_the_entropies(texts: list[str], random) -> None:  # type: ignore[no-untyped-def]
    """Impacts are weights with mean 1: with equal entropies no score exceeds words x entropy."""
    impact = [random.random() for _ in texts]
    before = list(impact)
    found = rind(texts, [2.0] * len(texts), impact)
    assert impact == before
    whole = words("".join(texts))
    held = {at for at in owners(ranges(texts), whole) if at != NO_WORD}
    assert len(found) == len(held)
    stops = sum(whole[at].kind == "stop" for at in held)
    total = sum(one.score for one in found)
    assert total <= 2.0 * len(found) + 1e-9
    if not stops and any(impact) and found and sum(one.score for one in found) > 0:
        assert total == pytest.approx(2.0 * len(found))
    assert [one.token for one in found] == sorted(one.token for one in found)


def collected(steps: Generator[Step, None, Stop]) -> tuple[list[Step], Stop]:
    got: list[Step] = []
    while True:
        try:
            got.append(next(steps))
        except StopIteration as end:
            return got, end.value


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("draft", [True, False])
def test_rows_reach_to_the_predicting_position(name: str, draft: bool) -> None:
    prompts = branches()

    def written(rows: bool) -> tuple[list[Step], Stop]:
        return collected(
            generate(
                ToySession(end_bias=0.0), ToyVocabulary(), prompts, EVERY[name],
                SamplingOptions(max_tokens=20, repeats=0, draft=draft), RISK, rows=rows,
            )
        )  # fmt: skip

    kept, last = written(True)
    assert [len(step.looked) for step in kept] == [len(prompts.main) + n for n in range(len(kept))]
    for step in kept:
        assert sum(step.looked) == pytest.approx(1.0, abs=1e-5)
        for source, mass in enumerate(step.attention):
            owned = np.flatnonzero(prompts.main.owner == source)
            assert sum(step.looked[at] for at in owned) == pytest.approx(mass, abs=1e-6)
    assert len(last.looked) in (0, len(prompts.main) + len(kept))
    plain, nothing = written(False)
    assert not any(step.looked for step in plain)
    assert nothing.looked == ()
    assert [step.token for step in plain] == [step.token for step in kept]


def test_the_row_that_chose_the_end_is_kept() -> None:
    prompts = branches()
    steps, stop = collected(
        generate(
            ToySession(end_bias=6.0), ToyVocabulary(), prompts, EVERY["plain"],
            SamplingOptions(max_tokens=60), rows=True,
        )
    )  # fmt: skip
    assert stop.reason == "end"
    assert len(stop.looked) == len(prompts.main) + len(steps)
