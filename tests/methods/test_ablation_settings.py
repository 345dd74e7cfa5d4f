"""Settings that leave a part of a method out, for the papers' ablations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragcli.decoding.risk import combine
from ragcli.events import Finished
from ragcli.methods.analysing import of_kind
from ragcli.methods.registry import METHODS, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.types import AlignmentLabel, Component, Hit
from tests.methods.fakes import FakeGenerator

from .test_ggatrieval import FULL, NOTHING, ONE_OF_THREE, QUESTION, TWO_OF_THREE, Library

PARTS = (Component("invariant", "Sandholm"), Component("variant", "keeper"))


@pytest.mark.parametrize(
    ("factors", "attention", "total"),
    [
        ("all", 0.5, 2.0 * 0.5 * 0.3),
        ("attention-prediction", 0.5, 0.5 * 0.3),
        ("prediction", 0.5, 0.3),
        ("prediction", None, 0.3),
        ("attention-prediction", None, None),
        ("all", None, None),
    ],
)
def test_a_factor_left_out_counts_one(
    factors: str, attention: float | None, total: float | None
) -> None:
    risk = combine(2.0, attention, 0.3, factors)
    assert (risk.lexical, risk.attention, risk.prediction) == (2.0, attention, 0.3)
    assert risk.total == (None if total is None else pytest.approx(total))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("all", PARTS),
        ("invariant", PARTS[:1]),
        ("variant", PARTS[1:]),
        ("supplementary", (Component("variant", "the question"),)),
    ],
)
def test_components_of_one_kind(kind: str, expected: tuple[Component, ...]) -> None:
    assert of_kind(PARTS, kind, "the question") == expected


def kept(*assignments: str) -> list[Hit]:
    """What two passages are kept of four, the best one found last."""
    found = [NOTHING, ONE_OF_THREE, TWO_OF_THREE, FULL]
    ranked = [replace(hit, score=1.0 / (60 + rank)) for rank, hit in enumerate(found, start=1)]
    library = Library({QUESTION: ranked})
    settings = settings_from(["ggatrieval.keep=2", "ggatrieval.iterations=1", *assignments])
    model = FakeGenerator("The first keeper was Mira Oskan.")
    with Asker(library, model, settings, AskOptions(force=True)) as asker:  # type: ignore[arg-type]
        *_, last = asker.ask(QUESTION, METHODS["ggatrieval"])
    assert isinstance(last, Finished)
    assert last.answer.trace is not None
    ids = last.answer.trace.iterations[-1].kept
    return [hit for id in ids for hit in last.answer.hits if hit.passage.id == id]


def test_passages_are_kept_by_alignment_or_by_retrieval() -> None:
    assert [hit.passage.id for hit in kept()] == [1, 2]
    assert [hit.passage.id for hit in kept("ggatrieval.order=retrieval")] == [4, 3]


def test_passages_of_a_label_are_left_out() -> None:
    labels = [hit.alignment.label for hit in kept("ggatrieval.without=full") if hit.alignment]
    assert labels == [AlignmentLabel.PARTIAL, AlignmentLabel.PARTIAL]
    labels = [hit.alignment.label for hit in kept("ggatrieval.without=partial") if hit.alignment]
    assert labels == [AlignmentLabel.FULL, AlignmentLabel.NONE]
