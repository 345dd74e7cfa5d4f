"""The generator as a verifier: its scale, with a generator that is a table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.verify import verdict
from ragcli.cite.yesno import LlmVerifier, Scale, scale
from ragcli.llm.prompts import verify as prompt
from ragcli.types import Verdict

YES, NO = 7, 8


class Table:
    """Gives each pair the log-odds that `odds` says; counts the prompts."""

    identity = SimpleNamespace(name="table")
    vocabulary = SimpleNamespace(tokenize=lambda text: [{"Yes": YES, "No": NO}[text], 99])

    def __init__(self, odds) -> None:
        self.odds, self.asked = odds, 0

    def chat(self, system, user):
        return user[1].text, user[3].text

    def score_next(self, prompts, tokens):
        assert tokens == [YES, NO]
        self.asked += len(prompts)
        rows = [[-5.0 + self.odds(*one), -5.0] for one in prompts]
        return np.array(rows, np.float32)


KNOWN = len(prompt.SUPPORTED) + len(prompt.UNSUPPORTED)


def shy(premise: str, claim: str) -> float:
    """Never says Yes, and knows very well."""
    if (premise, claim) in prompt.SUPPORTED:
        return -1.0
    return {"true": -1.2, "half": -2.0, "false": -4.0}.get(claim, -3.0)


def test_a_model_that_never_says_yes_can_judge() -> None:
    generator = Table(shy)
    verifier = LlmVerifier(generator)
    scores = verifier.entails(["a text"] * 3, ["true", "half", "false"])
    # from -3 (0) to -1 (1): 1.8 / 2, 1 / 2, and below 0
    assert scores == pytest.approx([0.9, 0.5, 0.0])
    assert [verdict(verifier, score) for score in scores] == [
        Verdict.SUPPORTED, Verdict.PARTLY, Verdict.UNSUPPORTED,
    ]  # fmt: skip
    verifier.entails(["a text"], ["true"])
    assert generator.asked == KNOWN + 4  # the scale is placed once


@pytest.mark.parametrize("odds", [-1.5, 0.0])
def test_a_model_that_cannot_tell_lets_nothing_pass(odds: float) -> None:
    verifier = LlmVerifier(Table(lambda premise, claim: odds))
    (score,) = verifier.entails(["a text"], ["a claim"])
    assert score == pytest.approx(1 / (1 + np.exp(-odds)))
    assert verdict(verifier, score) is not Verdict.SUPPORTED


def test_nothing_is_asked_for_nothing() -> None:
    generator = Table(shy)
    assert LlmVerifier(generator).entails([], []) == []
    with pytest.raises(ValueError):
        LlmVerifier(generator).entails(["a"], [])
    assert generator.asked == 0


@pytest.mark.parametrize(
    ("supported", "unsupported", "expected"),
    [
        ([1, 3], [-2, 0], Scale(-1, 2)),
        ([1, 1], [1, 1], None),
        ([0, 1], [2, 3], None),
        # 0 and 4 against 1 and -5: three of four pairs are in order
        ([0, 4], [1, -5], None),
        ([2, 9], [1, 1], Scale(1, 5.5)),
    ],
)
def test_scale(supported, unsupported, expected) -> None:
    assert scale(np.array(supported, float), np.array(unsupported, float)) == expected


ODDS = st.lists(st.floats(-50, 50), min_size=1, max_size=6).map(np.array)


@given(ODDS, ODDS, ODDS)
def test_scores_are_in_order_and_within_bounds(supported, unsupported, odds) -> None:
    found = scale(supported, unsupported)
    if found is None:
        return
    scores = found.scores(np.sort(odds))
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (np.diff(scores) >= 0).all()


def test_the_known_pairs_are_of_known_truth() -> None:
    assert len(set(prompt.SUPPORTED) | set(prompt.UNSUPPORTED)) == KNOWN
    assert all(claim.split()[-1].rstrip(".") in premise for premise, claim in prompt.SUPPORTED)
