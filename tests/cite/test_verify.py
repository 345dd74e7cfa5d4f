"""Verifiers by hand-made pairs."""

from __future__ import annotations

import pytest

from ragcli.cite.verify import LexicalVerifier, open_verifier, other_figure, verdict
from ragcli.errors import UsageError
from ragcli.types import Verdict

PREMISE = "Mira Oskan was the first keeper of the Sandholm light in 1908."


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Mira Oskan was the first keeper.", Verdict.SUPPORTED),
        ("In 1908 Mira Oskan kept the Sandholm light.", Verdict.SUPPORTED),
        ("Mira Oskan was the second keeper.", Verdict.PARTLY),
        ("Mira Oskan was the first keeper in 1909.", Verdict.PARTLY),
        ("Jon Berg was the first keeper.", Verdict.PARTLY),
        ("Mira Oskan was not the first keeper.", Verdict.PARTLY),
        ("Rome is the capital of Italy.", Verdict.UNSUPPORTED),
        ("It was so.", Verdict.UNSUPPORTED),
    ],
)
def test_lexical(claim: str, expected: Verdict) -> None:
    verifier = LexicalVerifier()
    (score,) = verifier.entails([PREMISE], [claim])
    assert verdict(verifier, score) is expected


def test_the_score_is_the_weighted_share_of_words() -> None:
    # keeper (1) is there, bees (1) and honey (1) are not
    assert LexicalVerifier().entails(["the keeper"], ["keeper bees honey"]) == [
        pytest.approx(1 / 3)
    ]


def test_a_missing_figure_caps_the_score() -> None:
    (score,) = LexicalVerifier().entails(
        ["the old keeper of the light on the island slept"],
        ["the old keeper of the light on the island slept 12"],
    )
    assert score == pytest.approx(0.4)


def test_another_figure_for_the_same_thing_caps_the_score() -> None:
    premise = "The valve in room 20 is opened by turning it 22 times."
    scores = LexicalVerifier().entails(
        [premise] * 2,
        ["The valve in room 20 is turned 22 times.", "The valve in room 20 is turned 20 times."],
    )
    assert scores[0] > 0.9
    assert scores[1] == pytest.approx(0.4)


def test_pairs_must_match() -> None:
    with pytest.raises(ValueError):
        LexicalVerifier().entails(["a"], [])


@pytest.mark.parametrize("spec", ["llm", "judge", "NLI:/models/x"])
def test_refused(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_verifier(spec)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("premise", "hypothesis", "other"),
    [
        ("The valve in room 18 is turned 20 times.", "The valve in room 20 is turned 20 times.", True),
        ("The valve in room 20 is turned 22 times.", "The valve in room 20 is turned 20 times.", True),
        ("The valve in room 20 is turned 22 times.", "In room 20 it takes 22 times.", False),
        ("It burned out on 9 August 2021.", "It burned out in August 2021.", False),
        ("It burned out on 9 August 2021.", "It burned out in August 1999.", True),
        ("In 2015 the team led with 24 interceptions.", "There were 24 interceptions in 2015.", False),
        ("Pump A gives 38 litres. Pump B gives 22 litres.", "Pump B gives 22 litres.", False),
        ("The defense gave up just 308 points.", "How many points did they surrender? 308", False),
    ],
)  # fmt: skip
def test_another_figure_for_the_same_thing(premise: str, hypothesis: str, other: bool) -> None:
    assert other_figure(premise, hypothesis) is other
