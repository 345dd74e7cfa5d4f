"""ALCE's citation recall and precision: worked cases, and a second reading of the rules."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.metrics.citation import Cited, citation_scores, judge
from ragcli.evaluate.metrics.claims import claim_recall

# A premise entails a claim if it holds every letter of it.


def holds(premise: str, claim: str) -> bool:
    return set(claim) <= set(premise)


@pytest.mark.parametrize(
    ("sentences", "recall", "precision"),
    [
        ([Cited("ab", ("ab",))], 1, 1),
        ([Cited("ab")], 0, 0),
        ([Cited("ab", ("a",))], 0, 0),
        # both are needed
        ([Cited("ab", ("a", "b"))], 1, 1),
        # x does not entail, and is not missed
        ([Cited("ab", ("ab", "x"))], 1, 1 / 2),
        # each entails alone: none is superfluous
        ([Cited("ab", ("ab", "abx"))], 1, 1),
        # a and b do not entail alone, but without either the rest does
        ([Cited("ab", ("ab", "a", "b"))], 1, 1 / 3),
        # not entailed: neither of the two counts
        ([Cited("abc", ("ab", "a"))], 0, 0),
        # the fourth is not looked at, neither to help nor to count
        ([Cited("ab", ("x", "y", "z", "ab"))], 0, 0),
        ([Cited("ab", ("a", "b", "a", "ab"))], 1, 1 / 3),
        # sentences: 1 of 2; citations: 1 + 0 of 1 + 2
        ([Cited("ab", ("ab",)), Cited("c", ("a", "b"))], 1 / 2, 1 / 3),
        # a sentence without citations costs recall only
        ([Cited("ab", ("ab",)), Cited("c")], 1 / 2, 1),
    ],
)
def test_worked(sentences: list[Cited], recall: float, precision: float) -> None:
    scores = citation_scores(sentences, holds)
    assert scores.recall == pytest.approx(recall)
    assert scores.precision == pytest.approx(precision)


def test_an_answer_without_sentences_has_no_score() -> None:
    with pytest.raises(ValueError):
        citation_scores([], holds)


def second_reading(sentences: list[Cited], truth: dict[tuple[str, ...], bool]) -> tuple:
    """From the rules as sets of citations, looking every one up in a truth table."""
    recalls: list[int] = []
    counts: list[int] = []
    for sentence in sentences:
        cited = sentence.premises[:3]
        recalls.append(int(bool(cited) and truth[cited]))
        for out in cited:
            rest = tuple(one for one in cited if one != out)
            idle = len(cited) > 1 and not truth[(out,)] and truth[rest]
            counts.append(0 if not recalls[-1] else 1 - int(idle))
    return sum(recalls) / len(recalls), sum(counts) / max(1, len(counts))


SUBSETS = [subset for n in range(1, 4) for subset in combinations("pqr", n)]
CITED = st.lists(st.sampled_from([(), *SUBSETS]), min_size=1, max_size=5)


@given(CITED, st.lists(st.booleans(), min_size=len(SUBSETS), max_size=len(SUBSETS)))
def test_against_a_second_reading(cited, values) -> None:
    truth = dict(zip(SUBSETS, values, strict=True))
    sentences = [Cited("claim", premises) for premises in cited]
    scores = citation_scores(sentences, lambda premise, claim: truth[tuple(premise.split("\n"))])
    expected = second_reading(sentences, truth)
    assert (scores.recall, scores.precision) == (
        pytest.approx(expected[0]),
        pytest.approx(expected[1]),
    )


@given(st.lists(st.lists(st.text("abx", max_size=3), max_size=4), min_size=1, max_size=4))
def test_bounds(premises: list[list[str]]) -> None:
    scores = citation_scores([Cited("ab", tuple(one)) for one in premises], holds)
    assert 0 <= scores.recall <= 1
    assert 0 <= scores.precision <= 1
    assert (scores.precision > 0) == (scores.recall > 0)


class Counting:
    name, supported, partly = "counting", 0.7, 0.3

    def __init__(self, score: float) -> None:
        self.score, self.asked = score, 0

    def entails(self, premises, hypotheses) -> list[float]:
        self.asked += len(premises)
        return [self.score] * len(hypotheses)


@pytest.mark.parametrize(("score", "expected"), [(0.7, True), (0.69, False)])
def test_a_judge_asks_once_and_holds_to_the_verifiers_bar(score: float, expected: bool) -> None:
    verifier = Counting(score)
    entails = judge(verifier)
    assert [entails("a", "b"), entails("a", "b"), entails("b", "a")] == [expected] * 3
    assert verifier.asked == 2


def test_claims() -> None:
    assert claim_recall("abc", ["ab", "cd", "c"], holds) == pytest.approx(2 / 3)
    assert claim_recall(" ", ["", "a"], holds) == 0
    with pytest.raises(ValueError):
        claim_recall("abc", [], holds)
