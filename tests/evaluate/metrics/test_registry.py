"""The registry: what is applied where, and that nothing fails quietly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.evaluate.metrics import registry
from ragcli.evaluate.metrics.citation import Cited
from ragcli.evaluate.metrics.knowledge import Piece
from ragcli.evaluate.metrics.registry import (
    DERIVED,
    METRICS,
    Case,
    MetricError,
    Outcome,
    f1_of_means,
    score,
    summarise,
)
from ragcli.evaluate.types import Question

GOLD = Piece("d", 0, 30)
OUTCOME = Outcome(
    text="Mira Oskan kept bees.",
    sentences=(Cited("Mira Oskan kept bees.", ("Mira Oskan kept bees and hens.",)),),
    selected=(GOLD, Piece("d", 30, 60)),
    cited=(GOLD,),
    gold=(GOLD,),
    knowledge="Mira Oskan kept bees and hens.",
    knowledge_tokens=9,
    prompt_tokens=80,
    generated_tokens=6,
    seconds=1.5,
)
SHORT = Question("q1", "Who kept bees?", answers=("Mira Oskan",))
ALWAYS = {"answer_words", "abstention", "seconds", "prompt_tokens", "generated_tokens",
          "knowledge_tokens"}  # fmt: skip


def yes(premise: str, claim: str) -> bool:
    return True


def test_a_row() -> None:
    assert score(Case(OUTCOME, SHORT, yes)) == {
        "em": 0,
        "f1": pytest.approx(2 / 3),  # 2 of 4 tokens, 2 of 2
        "contains": 1,
        "answer_words": 4,
        "rouge_l": pytest.approx(2 / 3),
        "bleu_1": pytest.approx(2 / 5),  # the full stop is a token
        "knowledge_precision": 0.5,
        "knowledge_recall": 1,
        "knowledge_f1": pytest.approx(2 / 3),
        "knowledge_tokens": 9,
        "knowledge_answer": 1,
        "citation_recall": 1,
        "citation_precision": 1,
        "label_precision": 1,
        "label_recall": 1,
        "label_f1": 1,
        "abstention": 0,
        "seconds": 1.5,
        "prompt_tokens": 80,
        "generated_tokens": 6,
    }


LISTS = {"list_precision", "list_recall", "list_recall_5", "list_f1", "list_f1_5"}


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (Question("q", "?"), set()),
        (Question("q", "?", parts=(("a",), ("b",))), {"str_em", "str_hit"} | LISTS),
        (Question("q", "?", parts=(("a",),), reference="a b"),
         {"str_em", "str_hit", "rouge_l", "bleu_1"}),
        (Question("q", "?", claims=("a",)), {"claim_recall"}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_scored(question: Question, more: set[str]) -> None:
    row = score(Case(Outcome("a, b"), question, yes))
    assert set(row) == ALWAYS | more


def test_without_a_verifier_nothing_is_judged() -> None:
    row = score(Case(OUTCOME, replace(SHORT, claims=("bees",))))
    assert not {"claim_recall", "citation_recall", "citation_precision"} & set(row)
    assert "label_f1" in row


def test_abstaining_costs_the_answer_and_not_the_citations() -> None:
    row = score(Case(Outcome("", abstained=True, gold=(GOLD,)), SHORT, yes))
    assert (row["abstention"], row["em"], row["f1"], row["rouge_l"]) == (1, 0, 0, 0)
    assert (row["knowledge_precision"], row["knowledge_recall"]) == (0, 0)
    assert not {"citation_recall", "label_recall"} & set(row)


def test_every_metric_says_what_it_is() -> None:
    assert all(key == metric.name for key, metric in METRICS.items())
    assert all(metric.doc and metric.source for metric in [*METRICS.values(), *DERIVED.values()])
    assert not METRICS.keys() & DERIVED.keys()
    assert all(set(derived.of) <= set(METRICS) for derived in DERIVED.values())


def broken(premise: str, claim: str) -> bool:
    raise ZeroDivisionError("by the verifier")


def test_a_failure_is_an_error_that_names_metric_and_question() -> None:
    with pytest.raises(MetricError, match=r"citation_recall failed on question q1 \(ZeroDiv"):
        score(Case(OUTCOME, SHORT, broken))


def test_a_users_error_stays_one() -> None:
    def missing(premise: str, claim: str) -> bool:
        raise UsageError("no model")

    with pytest.raises(UsageError, match="no model"):
        score(Case(OUTCOME, SHORT, missing))


def test_what_is_no_number_is_an_error() -> None:
    with pytest.raises(MetricError, match="seconds gave nan"):
        score(Case(replace(OUTCOME, seconds=float("nan")), SHORT))


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        score(Case(OUTCOME, SHORT), ["em", "emm"])


def test_means_are_of_the_rows_that_have_them() -> None:
    rows = [
        {"em": 1.0, "citation_recall": 1.0, "citation_precision": 0.5},
        {"em": 0.0},
        {"em": 0.0, "citation_recall": 0.0, "citation_precision": 0.5},
    ]
    means = summarise(rows)
    assert means["em"] == pytest.approx(1 / 3)
    assert means["citation_recall"] == 0.5
    # F1 of the means 0.5 and 0.5, not the mean of the F1s 2/3 and 0
    assert means["citation_f1"] == 0.5
    assert summarise([]) == {}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_f1_takes_arrays_as_it_takes_numbers(pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array(column) for column in zip(*pairs, strict=True))
    expected = [f1_of_means(*pair) for pair in pairs]
    assert f1_of_means(one, other) == pytest.approx(expected)
    assert all(
        min(pair) - 1e-9 <= f1 <= max(pair) + 1e-9 for pair, f1 in zip(pairs, expected, strict=True)
    )


def test_names_are_those_of_the_registry() -> None:
    assert list(registry.METRICS)[:2] == ["em", "f1"]  # the headline comes first
