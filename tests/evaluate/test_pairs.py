"""Pairs of known truth: how they are made, and that the truth holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragcli.evaluate.datasets import load
from ragcli.evaluate.metrics.short import contains, normalise
from ragcli.evaluate.pairs import Pair, make_pairs
from ragcli.evaluate.types import GivenPassage, Question


def passage(title: str, *sentences: str, gold: tuple[int, ...] = ()) -> GivenPassage:
    marks = tuple(at in gold for at in range(len(sentences)))
    return GivenPassage(title, title, sentences, marks, "sentence")


LIGHT = passage(
    "Sandholm", "The light was lit in 1908.", "Mira Oskan kept it with Jon Berg.", gold=(1,)
)
KEEPER = Question(
    "keeper",
    "Who kept the Sandholm light?",
    answers=("Mira Oskan", "Oskan"),
    passages=(
        LIGHT,
        passage("Bees", "Bees make honey.", "Mira Oskan wrote of bees.", "A keeper kept a light."),
    ),
)
YEAR = Question(
    "year",
    "When was the mill built?",
    answers=("1846",),
    passages=(
        passage("Mill", "The mill was built in 1846 for 12 men.", gold=(0,)),
        passage("Dam", "The dam was built in 1912."),
    ),
)
BRIDGE = Question(
    "bridge",
    "When was the bridge built?",
    answers=("1799",),
    passages=(
        passage("Bridge", "The bridge is of 1799.", gold=(0,)),
        passage("Ford", "No bridge."),
    ),
)
LENA = Question(
    "lena",
    "Who built the bridge?",
    answers=("Lena Falk",),
    passages=(passage("Bridge", "Lena Falk built the bridge.", gold=(0,)),),
)
EIGHTEEN = replace(LENA, id="book", text="Which book is it?", answers=("Red Book",))
YES = Question(
    "yes",
    "Is the mill old?",
    answers=("yes",),
    passages=(passage("Mill", "The mill is old.", gold=(0,)), passage("Dam", "The dam is new.")),
)
ALL = (KEEPER, YEAR, BRIDGE, EIGHTEEN, LENA, YES)


def of(question: Question) -> dict[tuple[str, str], Pair]:
    return {
        (pair.making, pair.form): pair
        for pair in make_pairs(ALL)
        if pair.question_id == question.id
    }


def test_every_pair_of_a_question() -> None:
    pairs = of(KEEPER)
    premise = "Sandholm: Mira Oskan kept it with Jon Berg."
    assert {key: (pair.premise, pair.claim) for key, pair in pairs.items()} == {
        ("gold", "sentence"): (premise, "Mira Oskan kept it with Jon Berg."),
        # one gold sentence, so one other: the one that shares "kept" and not the answer
        ("distractor", "sentence"): ("Bees: A keeper kept a light.",
                                     "Mira Oskan kept it with Jon Berg."),
        # Lena Falk answers a who, Red Book does not
        ("swapped", "sentence"): (premise, "Lena Falk kept it with Jon Berg."),
        ("gold", "answer"): (premise, "Who kept the Sandholm light? Mira Oskan"),
        ("distractor", "answer"): ("Bees: A keeper kept a light.",
                                   "Who kept the Sandholm light? Mira Oskan"),
        ("swapped", "answer"): (premise, "Who kept the Sandholm light? Lena Falk"),
        ("misplaced", "answer"): (premise, "Who kept the Sandholm light? Jon Berg"),
    }  # fmt: skip
    assert {key for key, pair in pairs.items() if pair.supported} == {
        ("gold", "sentence"), ("gold", "answer"),
    }  # fmt: skip


def test_years_are_swapped_for_years() -> None:
    pairs = of(YEAR)
    assert pairs["swapped", "sentence"].claim == "The mill was built in 1799 for 12 men."
    assert pairs["misplaced", "answer"].claim == "When was the mill built? 12"


def test_yes_is_swapped_for_no_and_in_no_sentence() -> None:
    pairs = of(YES)
    assert pairs["swapped", "answer"].claim == "Is the mill old? no"
    assert ("swapped", "sentence") not in pairs
    assert ("misplaced", "answer") not in pairs


def test_without_other_passages_there_is_no_distractor() -> None:
    assert not [key for key in of(LENA) if key[0] == "distractor"]


@pytest.mark.parametrize(
    "question",
    [
        Question("q", "Who?", answers=("Ann",)),
        Question("q", "Who?", passages=(LIGHT,)),
        replace(KEEPER, passages=(replace(LIGHT, gold_level="passage"),)),
    ],
)
def test_questions_that_cannot_be_used(question: Question) -> None:
    assert make_pairs([question]) == ()


def test_pairs_of_real_questions_are_as_labelled(shared_data: Path) -> None:
    questions = {one.id: one for one in load(shared_data / "qa" / "hotpotqa_dev.jsonl").questions}
    pairs = make_pairs(tuple(questions.values()))
    assert pairs == make_pairs(tuple(questions.values()))
    assert len(pairs) > 600
    for pair in pairs:
        question = questions[pair.question_id]
        if pair.making == "distractor":
            titles = [one.title for one in question.passages if any(one.gold)]
            assert not any(pair.premise.startswith(f"{title}:") for title in titles)
        if pair.making in ("swapped", "misplaced") and pair.form == "answer":
            said = pair.claim.removeprefix(question.text).strip()
            assert normalise(said) not in [normalise(answer) for answer in question.answers]
            if pair.making == "misplaced":
                assert said in pair.premise
            else:
                assert said in ("yes", "no") or not contains(pair.premise, [said])
