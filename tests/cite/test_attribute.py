"""Which sources an answer sentence is said to rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.attribute import (
    AttributionOptions,
    attention_shares,
    attribute,
    choose,
    overlaps,
    premise,
)
from ragcli.cite.claims import claims
from ragcli.cite.verify import LexicalVerifier
from ragcli.types import AnswerSentence, Step, Verdict
from tests.cite.records import DOCUMENTS, sources

TEXTS = (
    "The Sandholm light stands on an island.",
    "Mira Oskan was the first keeper of the light.",
    "She kept bees and sold 12 jars of honey a year.",
    "Ships pass the island at night.",
)
SOURCES = sources(*TEXTS)


def no_similarity(said: Sequence[str], known: Sequence[str]) -> np.ndarray:  # type: ignore[type-arg]
    return np.zeros((len(said), len(known)), dtype=np.float32)


def cite(
    text: str, question: str = "Who?", steps: Sequence[Step] = ()
) -> tuple[AnswerSentence, ...]:
    return attribute(question, text, steps, SOURCES, DOCUMENTS, no_similarity, LexicalVerifier())


def cited(sentence: AnswerSentence) -> list[int]:
    return [citation.sentence.id for citation in sentence.citations]


def test_a_sentence_gets_the_source_that_says_it() -> None:
    (sentence,) = cite("Mira Oskan was the first keeper.")
    assert cited(sentence) == [2]
    assert sentence.verdict is Verdict.SUPPORTED
    assert sentence.citations[0].verdict is Verdict.SUPPORTED


def test_a_joined_claim_gets_both_sources() -> None:
    (sentence,) = cite("Mira Oskan, the first keeper, kept bees and sold 12 jars of honey.")
    assert sorted(cited(sentence)) == [2, 3]
    assert sentence.verdict is Verdict.SUPPORTED
    assert {c.verdict for c in sentence.citations} == {Verdict.PARTLY}


def test_a_heading_is_never_cited() -> None:
    heading, body = sources("The first keeper of the light", "Mira Oskan came in 1871.")
    heading = replace(heading, sentence=replace(heading.sentence, is_heading=True))
    (sentence,) = attribute(
        "Who was it?", "Mira Oskan was the first keeper of the light.", (), (heading, body),
        DOCUMENTS, no_similarity, LexicalVerifier(),
        options=AttributionOptions(floor=0.05),
    )  # fmt: skip
    assert cited(sentence) == [2]


def test_the_headings_of_the_prompt_are_no_statement() -> None:
    under = [
        replace(one, sentence=replace(one.sentence, heading="4. The Sandholm light"))
        for one in SOURCES
    ]
    text = "Island > 4. Mira Oskan was the first keeper of the light."
    copied, said = attribute("Who?", text, (), under, DOCUMENTS, no_similarity, LexicalVerifier())
    assert (cited(copied), copied.verdict) == ([], Verdict.UNSUPPORTED)
    assert cited(said) == [2]


def test_a_bare_answer_is_read_with_its_question() -> None:
    (sentence,) = cite("12", "How many jars of honey were sold a year?")
    assert cited(sentence) == [3]
    assert sentence.verdict is Verdict.SUPPORTED


def test_numbers_follow_first_use_over_the_whole_answer() -> None:
    first, second, third = cite(
        "She kept bees and sold honey. Mira Oskan was the first keeper. She sold 12 jars of honey."
    )
    assert [c.number for s in (first, second, third) for c in s.citations] == [1, 2, 1]


@pytest.mark.parametrize(
    "text", ["Sure!", "The documents do not mention a second keeper.", "Rome."]
)
def test_nothing_to_cite(text: str) -> None:
    (sentence,) = cite(text, "What is the capital of Italy?")
    assert sentence.citations == ()
    assert sentence.verdict is Verdict.UNSUPPORTED


def test_a_false_quotation_is_flagged() -> None:
    (sentence,) = cite("Mira Oskan “was the last keeper” of the light.")
    assert sentence.false_quotations == ("was the last keeper",)


def test_no_sources_no_citation() -> None:
    (sentence,) = attribute("Who?", "Mira.", (), (), {}, no_similarity, LexicalVerifier())
    assert sentence.citations == ()


def test_attention_decides_between_equals() -> None:
    twins = sources("The valve is red.", "The valve is red.")
    steps = [
        Step(1, "The valve", 0, 0, attention=(0.1, 0.4)),
        Step(2, " is", 0, 0, attention=(0.2, 0.2)),
        Step(3, " red.", 0, 0, attention=(0.1, 0.1)),
    ]
    (sentence,) = attribute(
        "Which?", "The valve is red.", steps, twins, DOCUMENTS, no_similarity, LexicalVerifier()
    )
    assert cited(sentence) == [2]


def test_attention_is_the_rise_over_the_median_share() -> None:
    text = "Ab. Cd."
    steps = [
        Step(1, " Ab", 0, 0, attention=(0.4, 0.1)),  # shares 0.8, 0.2
        Step(2, ".", 0, 0, attention=(0.1, 0.1)),  # 0.5, 0.5
        Step(3, " Cd.", 0, 0, attention=(0.1, 0.3)),  # 0.25, 0.75
    ]
    # medians 0.5, 0.5; rises (0.3, 0), (0, 0), (0, 0.25); the last step is the second claim's
    rises = attention_shares(text, claims(text), steps, 2)
    assert rises == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]))


def test_attention_on_nothing_is_no_share() -> None:
    steps = [Step(1, "Ab.", 0, 0, attention=(0.0, 0.0))]
    assert attention_shares("Ab.", claims("Ab."), steps, 2) == pytest.approx(np.zeros((1, 2)))


def test_without_a_tap_there_are_no_shares() -> None:
    assert attention_shares("Ab.", claims("Ab."), [Step(1, "Ab.", 0, 0)], 2) is None
    assert attention_shares("Ab.", claims("Ab."), [], 2) is None


def test_words_of_the_question_weigh_less() -> None:
    (row,) = overlaps(["The light was red."], "Which light?", ["A light.", "Red paint."], 0.3)
    assert row[1] > row[0] > 0


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_at_most_three_and_never_below_the_floor(scores: list[float]) -> None:
    options = AttributionOptions()
    text = "Mira Oskan on the Sandholm island kept bees, honey, ships at night."
    chosen = choose(text, np.asarray(scores), SOURCES, options)
    assert len(chosen) == len(set(chosen)) <= options.most
    assert all(scores[i] >= options.floor for i in chosen)
    assert bool(chosen) == (max(scores) >= options.floor)


def test_the_premise_names_the_title_once() -> None:
    assert premise(SOURCES[:2], DOCUMENTS) == f"Island: {TEXTS[0]} {TEXTS[1]}"
