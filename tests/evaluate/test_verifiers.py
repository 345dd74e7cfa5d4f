"""Accuracy of verifiers: by hand, against scikit-learn and scipy, and of the lexical one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.verify import LexicalVerifier
from ragcli.evaluate.datasets import load
from ragcli.evaluate.pairs import Pair, make_pairs
from ragcli.evaluate.verifiers import auc, judged, wilson


class Scripted:
    """Gives each claim the score that it is written as."""

    name, supported, partly = "scripted", 0.6, 0.3

    def __init__(self) -> None:
        self.calls: list[int] = []

    def entails(self, premises, hypotheses) -> list[float]:
        self.calls.append(len(premises))
        return [float(claim) for claim in hypotheses]


def pair(number: int, making: str, score: str) -> Pair:
    return Pair(f"q{number}", making, "answer", "premise", score)


PAIRS = [
    pair(1, "gold", "0.9"),
    pair(1, "swapped", "0.6"),  # at the bar: taken for supported
    pair(2, "gold", "0.59"),
    pair(2, "swapped", "0.1"),
    pair(3, "gold", "0.7"),
    pair(3, "distractor", "0.59"),
    pair(4, "gold", "0.8"),
    pair(5, "swapped", "0.2"),
]


def test_by_hand() -> None:
    verifier = Scripted()
    done: list[int] = []
    found = judged(verifier, PAIRS, done.append)
    assert found.supported == 3 / 4
    assert found.unsupported == 3 / 4
    assert found.balanced == 3 / 4
    # of 16: 0.9, 0.7 and 0.8 are above all four; 0.59 above two and level with one
    assert found.auc == pytest.approx((12 + 2.5) / 16)
    assert {(one.making, one.n, one.right, one.accuracy) for one in found.classes} == {
        ("gold", 4, 3, 0.75), ("swapped", 3, 2, 2 / 3), ("distractor", 1, 1, 1.0),
    }  # fmt: skip
    assert (verifier.calls, done) == ([7, 1], [7, 8])  # four questions at a time


@pytest.mark.parametrize("pairs", [[], PAIRS[:1], PAIRS[1:2]])
def test_both_labels_are_needed(pairs: list[Pair]) -> None:
    with pytest.raises(ValueError):
        judged(Scripted(), pairs)


SCORES = st.lists(st.sampled_from([0, 0.2, 0.5, 0.7, 1]), min_size=1, max_size=8)


@given(SCORES, SCORES)
def test_auc_as_scikit_learn_has_it(supported: list[float], unsupported: list[float]) -> None:
    from sklearn.metrics import roc_auc_score

    labels = [1] * len(supported) + [0] * len(unsupported)
    expected = roc_auc_score(labels, supported + unsupported)
    assert auc(supported, unsupported) == pytest.approx(expected)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_as_scipy_has_it(counts: tuple[int, int]) -> None:
    from scipy.stats import binomtest

    expected = binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert wilson(*counts) == (
        pytest.approx(expected.low, abs=1e-6),
        pytest.approx(expected.high, abs=1e-6),
    )


def test_the_lexical_verifier_on_real_pairs(shared_data: Path) -> None:
    """What it can see it sees, and what it cannot see it does not: 0.29 of misplaced names."""
    data = load(shared_data / "qa" / "hotpotqa_dev.jsonl")
    found = judged(LexicalVerifier(), make_pairs(data.questions))
    accuracy = {(one.making, one.form): one.accuracy for one in found.classes}
    assert len(accuracy) == 7
    assert accuracy["gold", "sentence"] > 0.9
    assert accuracy["distractor", "answer"] > 0.95
    assert accuracy["swapped", "sentence"] > 0.75
    assert accuracy["misplaced", "answer"] < 0.5
    assert found.auc > 0.8
    assert np.isclose(found.balanced, (found.supported + found.unsupported) / 2)
