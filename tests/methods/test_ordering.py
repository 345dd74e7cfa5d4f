"""Sentences by one score: which, in what order, how many; the generator's score by hand."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from ragcli.methods.registry import settings_from
from ragcli.methods.selecting import SELECTORS
from ragcli.methods.selectors import candidates_of, contexts_of
from ragcli.methods.stages import Selection, Tools
from ragcli.selection.signals import bm25, fused
from ragcli.text.normalise import readable
from tests.methods.fakes import FakeGenerator
from tests.methods.test_ko_rag import BIRTH, HITS, KEEPER, QUESTION, texts
from tests.selection.scripted import encode


class Likely:
    """Finds the question likelier after sentences that name Ribe, whatever their length."""

    vocabulary = FakeGenerator("").vocabulary

    def encode(self, prompt: Any) -> str:
        return "".join(piece.text for piece in prompt.pieces)

    def loglikelihood(self, prompts: list[str], tokens: list[list[int]]) -> np.ndarray:
        assert len({tuple(one) for one in tokens}) == 1  # the same question each time
        return np.array([-1.0 if "Ribe" in one else -9.0 for one in prompts])


def select(*assignments: str, decode: str = "plain", generator: Any = None) -> Selection:
    tools = Tools(
        lambda _q, _k: HITS, cast(Any, generator), encode, settings_from(assignments), decode
    )
    return SELECTORS["ordered"].stage(QUESTION, HITS, tools)


def expected(by: str) -> list[str]:
    """The order by other means than the stage's."""
    every = [one for one in candidates_of(contexts_of(HITS)) if len(one.text.split()) >= 5]
    titled = [readable(one.titled) for one in every]
    words = bm25(QUESTION, titled, [one.language for one in every])
    vectors = encode([QUESTION, *titled])
    near = vectors[1:] @ vectors[0]
    scores = {"bm25": words, "encoder": near, "hybrid": fused(words, np.asarray(near, float))}[by]
    return [every[at].text for at in np.argsort(-scores, kind="stable")]


@pytest.mark.parametrize("by", ["bm25", "encoder", "hybrid"])
@pytest.mark.parametrize("most", [1, 3, 100])
def test_the_best_ones_in_their_order(by: str, most: int) -> None:
    selection = select(f"ordered.by={by}", f"ordered.most={most}")
    found = [text for context in texts(selection.documents) for text in context]
    assert found == expected(by)[:most]
    assert selection.by.startswith(f"{len(found)} of 5 sentences by ")


def test_the_generator_s_likelihood() -> None:
    selection = select("ordered.by=likelihood", "ordered.most=1", generator=Likely())
    assert texts(selection.documents) == [[BIRTH]]
    assert selection.by == "1 of 5 sentences by likelihood of the question"
    assert selection.noise is not None
    assert selection.noise.document.id == 3


def test_for_two_branches_passages_stay_whole() -> None:
    selection = select("ordered.by=bm25", "ordered.most=1", "retrieval.k=1", decode="fke")
    assert [len(one) for one in texts(selection.documents)] == [3]
    assert texts(selection.sentences) == [[KEEPER]]
