"""DRAG's analyzer: the question's components and the documents' scores, both backends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.llm.prompts import decompose
from ragcli.selection.analyzers import (
    EncoderAnalyzer,
    GeneratorAnalyzer,
    Text,
    mentions,
    sought_by_words,
)
from ragcli.selection.mention import STRICT
from ragcli.types import Component
from tests.selection.scripted import Scripted, encode

OSKAN = Text("Mira Oskan", ("Mira Oskan kept bees.", "She was the first keeper of the light."))
SHIPS = Text("Harbour", ("Ships pass the island at night.",))
EMPTY = Text("", ())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What sport does Nobuhiro Ishizaki play?",
         [("invariant", "Nobuhiro Ishizaki"), ("variant", "sport"), ("variant", "play")]),
        ("Where was Al Capone born?",
         [("invariant", "Al Capone"), ("variant", "born"), ("supplementary", "place")]),
        ('Who wrote "Seven Bells" with Ada Lund?',
         [("invariant", "Seven Bells"), ("variant", "wrote"), ("variant", "Ada Lund"),
          ("supplementary", "person")]),
        ("How many seats are there?", [("variant", "seats"), ("supplementary", "number")]),
        ("What is it?", []),
    ],
)  # fmt: skip
def test_components_by_rules(question: str, expected: list[tuple[str, str]]) -> None:
    found = EncoderAnalyzer(encode).components(question, "en")
    assert [(one.kind, one.text) for one in found] == expected


def test_a_question_of_another_language_is_sought_by_no_words() -> None:
    assert sought_by_words("Wer war der erste Wärter?", "de") == ""
    assert sought_by_words("Who?", "en") == "person"


def test_scores_by_the_encoder() -> None:
    query = (
        Component("invariant", "Mira Oskan"), Component("variant", "bees"),
        Component("supplementary", "person"),
    )  # fmt: skip
    analyzer = EncoderAnalyzer(encode, in_context=False)
    table = analyzer.scores("Did Mira Oskan keep bees?", query, [OSKAN, SHIPS, EMPTY])
    assert table.shape == (3, 3)
    assert table[:, 0].tolist() == [1, 0, 0]
    assert table[0, 1] == 1  # mentioned as it is
    assert table[1, 1] == table[2, 1] == 0


def test_an_invariant_is_mentioned_or_not_however_similar() -> None:
    near = Text("", ("Mira kept bees with Oskan.",))
    assert mentions((Component("invariant", "Mira Oskan"),), [near]).tolist() == [[0.0]]
    article = (Component("invariant", "The Harbour"),)
    assert mentions(article, [SHIPS]).tolist() == [[1.0]]
    assert mentions(article, [SHIPS], STRICT).tolist() == [[0.0]]


def likes(prompt: str, text: str) -> float:
    """Prefers Al Capone as fixed, "disease claimed the life" as one, a date as sought."""
    wanted = {"Fixed:": " Al Capone", "Sought:": " date"}
    for blank, answer in wanted.items():
        if prompt.endswith(blank):
            return -0.1 if text == answer else -5.0
    return -0.5 if text == " disease claimed the life" else -3.0


def test_components_by_the_generator() -> None:
    generator = Scripted(likes)
    question = "What disease claimed the life of notorious American gangster, Al Capone?"
    found = GeneratorAnalyzer(generator).components(question, "en")
    assert [(one.kind, one.text) for one in found] == [
        ("invariant", "Al Capone"), ("variant", "disease claimed the life"),
        ("variant", "notorious"), ("variant", "American"), ("variant", "gangster"),
        ("supplementary", "date"),
    ]  # fmt: skip


def test_the_generator_may_say_none() -> None:
    generator = Scripted(lambda _prompt, text: 0.0 if text == f" {decompose.ABSENT}" else -1.0)
    found = GeneratorAnalyzer(generator).components("Where was Al Capone born?", "en")
    assert [one.kind for one in found] == ["variant", "variant"]


def test_relevance_is_the_yes_beyond_that_of_an_empty_text() -> None:
    def odds(prompt: str, token: str) -> float:
        yes = 2.0 if "bees" in prompt.partition("Does")[0] else 1.0
        return yes if token == "Y" else 0.0

    table = GeneratorAnalyzer(Scripted(odds)).scores(
        "Honey?", (Component("variant", "honey"),), [OSKAN, SHIPS]
    )
    assert table[:, 0].tolist() == pytest.approx([1 / (1 + np.exp(-1.0)), 0.5])


@settings(max_examples=50, deadline=None)
@given(
    st.text(max_size=80) | st.from_regex(r"(Who|What|Ab Cd|the|\"x y\"|, | e)( \w{2,7}){0,6}\?"),
    st.lists(st.lists(st.text(max_size=30), max_size=3), max_size=3),
)
def test_any_question_and_document(question: str, bodies: list[list[str]]) -> None:
    documents = [Text("", tuple(body)) for body in bodies]
    for analyzer in (EncoderAnalyzer(encode), GeneratorAnalyzer(Scripted())):
        found = analyzer.components(question, "en")
        assert sum(one.kind == "invariant" for one in found) <= 1
        for one in found:
            assert one.text in (decompose.INVENTORY if one.kind == "supplementary" else question)
        table = analyzer.scores(question, found, documents)
        assert table.shape == (len(documents), len(found))
        assert np.all((table >= 0) & (table <= 1))
        fixed = [at for at, one in enumerate(found) if one.kind == "invariant"]
        assert set(table[:, fixed].ravel().tolist()) <= {0.0, 1.0}
