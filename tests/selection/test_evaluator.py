"""CRAG's evaluator and strips: tables, and what holds for any scores."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.evaluator import (
    THRESHOLDS,
    Confidence,
    EncoderEvaluator,
    GeneratorEvaluator,
    Judged,
    Thresholds,
    confidence,
    coverage,
    rewritten,
)
from ragcli.selection.strips import cut, keep
from tests.methods.fakes import FakeGenerator

LIMITS = Thresholds(upper=0.6, lower=0.3, relevant=0.2)
SCORES = st.lists(st.floats(0, 1), max_size=20)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.61, 0.1], Confidence.CORRECT),
        ([0.6, 0.6], Confidence.AMBIGUOUS),  # must exceed
        ([0.3, 0.1], Confidence.AMBIGUOUS),  # must fall below
        ([0.29, 0.1], Confidence.INCORRECT),
        ([0.0, 1.0, 0.0], Confidence.CORRECT),
        ([], Confidence.INCORRECT),
    ],
)
def test_confidence(scores: list[float], expected: Confidence) -> None:
    assert confidence(scores, LIMITS) is expected


@given(SCORES, st.floats(0, 1))
def test_a_better_text_never_makes_a_retrieval_worse(scores: list[float], more: float) -> None:
    order = [Confidence.INCORRECT, Confidence.AMBIGUOUS, Confidence.CORRECT]
    before, after = (confidence(s, LIMITS) for s in (scores, [*scores, more]))
    assert order.index(after) >= order.index(before)


def test_every_evaluator_has_thresholds_in_order() -> None:
    for limits in THRESHOLDS.values():
        assert 0 <= limits.relevant <= limits.lower <= limits.upper <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mira Oskan was the first keeper.", 1.0),
        ("The first keepers came late.", 1.0),
        ("Nothing of the sort.", 0.0),
        ("The second keeper.", 1 / 3),  # keeper 1, first 2
        ("", 0.0),
    ],
)
def test_coverage(text: str, expected: float) -> None:
    assert coverage("Who was the first keeper?", text) == pytest.approx(expected)


def test_a_question_of_stop_words_is_covered_by_anything() -> None:
    assert coverage("What is it?", "A text.") == 1.0
    assert rewritten("What is it?") == ()


def test_the_encoder_evaluator_worked_by_hand() -> None:
    """Best cosine 0.8 with full coverage; 0.4 with none; the title counts as text."""
    texts = [
        Judged("", ("The first keeper.", "Bees."), (0.8, 0.1)),
        Judged("", ("Bees.",), (0.4,)),
        Judged("The first keeper", ("Bees.",), (-0.2,)),
        Judged("", (), ()),
    ]
    scores = EncoderEvaluator().score("Who was the first keeper?", texts)
    assert scores.tolist() == pytest.approx([0.9, 0.2, 0.5, 0.0])


def test_a_text_is_judged_by_itself() -> None:
    texts = [Judged("", (f"The keeper {n}.",), (n / 10,)) for n in range(5)]
    whole = EncoderEvaluator().score("Which keeper?", texts)
    alone = [EncoderEvaluator().score("Which keeper?", [one])[0] for one in texts]
    assert whole.tolist() == alone
    assert texts[3].part(0, 1) == texts[3]


class Likely(FakeGenerator):
    """The question is as likely after a text as the text has words of it; 0.5 without a text."""

    def loglikelihood(self, prompts: Any, continuations: Any) -> Any:
        asked = {int(token) for token in continuations[0]}
        shares = [
            len(asked & set(p.tokens.tolist())) / len(asked) if n < len(prompts) - 1 else 0.5
            for n, p in enumerate(prompts)
        ]
        return np.log(np.maximum(shares, 1e-6)) * len(continuations[0])


def test_the_generator_evaluator_sets_texts_against_none() -> None:
    """Odds against no text: 1 to 0.5 is 2/3; the same likelihood is 1/2."""
    evaluator = GeneratorEvaluator(cast(Any, Likely("")))
    question = "first keeper light bees"
    texts = [Judged("", (question,), (0,)), Judged("", ("first keeper",), (0,)),
             Judged("", ("stone",), (0,))]  # fmt: skip
    scores = evaluator.score(question, texts)
    assert scores[:2].tolist() == pytest.approx([2 / 3, 0.5])
    assert scores[2] < 0.01
    assert evaluator.score(question, []).tolist() == []
    assert "fake" in evaluator.name


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was the first keeper of the Sandholm light?",
         ("first keeper Sandholm light", "first Sandholm")),
        ("valve", ()),
        ("Which valve?", ("valve",)),
        ("How many bees did Mira Oskan keep in 1908?", ("bees Mira Oskan keep 1908", "Mira Oskan 1908")),
    ],
)  # fmt: skip
def test_rewritten_queries(question: str, expected: tuple[str, ...]) -> None:
    assert rewritten(question) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, []),
        (1, [(0, 1)]),
        (2, [(0, 2)]),
        (4, [(0, 4)]),
        (5, [(0, 2), (2, 5)]),
        (6, [(0, 3), (3, 6)]),
        (7, [(0, 3), (3, 7)]),
        (9, [(0, 3), (3, 6), (6, 9)]),
    ],
)
def test_strips(count: int, expected: list[tuple[int, int]]) -> None:
    assert cut(count) == expected


@given(st.integers(0, 500), st.integers(1, 20))
def test_strips_partition_the_text_evenly(count: int, size: int) -> None:
    strips = cut(count, size)
    assert [at for first, last in strips for at in range(first, last)] == list(range(count))
    lengths = [last - first for first, last in strips]
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
    assert all(length <= 2 * size for length in lengths)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.9, 0.5, 0.8], [1, 2, 3]),
        ([0.9, 0.8, 0.7, 0.6], [0, 1, 2]),
        ([0.7, 0.7, 0.7, 0.7], [0, 1, 2]),
        ([0.1, 0.2], [1]),  # none is relevant: the best one is read
        ([], []),
    ],
)
def test_the_best_strips_in_document_order(scores: list[float], expected: list[int]) -> None:
    assert keep(scores, 0.5, 3) == expected


@given(SCORES, st.floats(0, 1), st.integers(1, 10))
def test_no_better_strip_is_left_out(scores: list[float], floor: float, most: int) -> None:
    kept = keep(scores, floor, most)
    assert kept == sorted(set(kept))
    assert len(kept) <= most
    assert bool(kept) == bool(scores)
    out = [scores[at] for at in range(len(scores)) if at not in kept]
    if out and len(kept) == most:
        assert min(scores[at] for at in kept) >= max(out)
    if any(score >= floor for score in scores):
        assert all(scores[at] >= floor for at in kept)
