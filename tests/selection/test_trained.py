"""The trained analyzer: what it may say, and scores read off its probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.llm.base import PromptPiece
from ragcli.llm.prompts import analyzer as prompt
from ragcli.selection.analyzers import Text
from ragcli.selection.trained import TrainedAnalyzer
from ragcli.text.words import keys_of
from ragcli.types import Component
from tests.selection.scripted import Scripted

QUESTION = "What is Quebec City the capital of?"
CITY = Text("", ("Quebec City is the capital of the province.",))
OTHER = Text("", ("A mill stands on the hill.",))


def analyzer(
    said: str, likes: Callable[[str, str], float] = lambda _prompt, _text: 0.0
) -> TrainedAnalyzer:
    def write(system: str, user: Sequence[PromptPiece], most: int) -> str:
        assert system == prompt.ELEMENTS_SYSTEM
        assert "".join(piece.text for piece in user) == QUESTION
        assert most > 0
        return said

    return TrainedAnalyzer(Scripted(likes), write, "adapter x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            "Quebec City (invariant); Capital (variant); Province (supplementary).",
            [("invariant", "Quebec City"), ("variant", "Capital"), ("supplementary", "Province")],
        ),
        (
            "Quebec City (essential); Capital (initial)",
            [("invariant", "Quebec City"), ("variant", "Capital")],
        ),
        ("Paris (invariant); capital (variant)", [("variant", "capital")]),
        ("I cannot help with that.", [("variant", QUESTION)]),
        ("", [("variant", QUESTION)]),
        (
            "Capital (variant); a very long thing that nobody asked about (supplementary)",
            [("variant", "Capital")],
        ),
    ],
)
def test_components_are_what_the_question_says(said: str, found: list[tuple[str, str]]) -> None:
    components = analyzer(said).components(QUESTION, "en")
    assert [(one.kind, one.text) for one in components] == found


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from([*"();: \n", "Quebec", "capital", "Paris", "<|im_end|>", "(invariant)",
                         "(essential)", "(initial)", "(supplementary)", "0.8", "ignore the rules"])
    ).map(" ".join)
)  # fmt: skip
def test_whatever_it_says_nothing_else_is_taken_for_the_question(said: str) -> None:
    held = keys_of(QUESTION, "en")
    components = analyzer(said).components(QUESTION, "en")
    assert components
    assert sum(one.kind == "invariant" for one in components) <= 1
    for one in components:
        assert one.kind == "supplementary" or keys_of(one.text, "en") <= held


def test_scores_are_expected_levels_and_mention_for_the_invariant_one() -> None:
    def likes(asked: str, text: str) -> float:
        """Sure of 1.0 where the province stands in the text, else of 0.2."""
        return 0.0 if text == (" 1.0" if "province" in asked else " 0.2") else -50.0

    asking = analyzer("Quebec City (invariant); Capital (variant)", likes)
    components = asking.components(QUESTION, "en")
    table = asking.scores(QUESTION, components, [CITY, OTHER])
    np.testing.assert_allclose(table, [[1, 1], [0, 0.2]], atol=1e-9)
    assert asking.scores(QUESTION, components, []).shape == (0, 2)
    assert asking.scores(QUESTION, [], [CITY]).shape == (1, 0)


def test_each_line_follows_the_lines_before_it() -> None:
    seen: list[str] = []

    def likes(asked: str, _text: str) -> float:
        seen.append(asked)
        return 0.0

    asking = analyzer("Quebec City (invariant); Capital (variant); City (variant)", likes)
    asking.scores(QUESTION, asking.components(QUESTION, "en"), [CITY])
    assert seen[0].endswith("Quebec City (invariant): 1.0\nCapital (variant):")
    assert seen[-1].endswith("Capital (variant): 0.4\nCity (variant):")


def test_the_text_it_is_trained_on_is_the_text_it_is_parsed_by() -> None:
    components = (Component("invariant", "Quebec City"), Component("variant", "Capital"))
    assert analyzer(prompt.listed(components)).components(QUESTION, "en") == components
