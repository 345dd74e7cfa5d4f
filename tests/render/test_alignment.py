"""Alignment and rounds of retrieval, for people and as JSON."""

from __future__ import annotations

import io
from dataclasses import replace

import jsonschema
import pytest

from ragcli import schemas
from ragcli.render.alignment import print_alignment
from ragcli.render.json import answer_document
from ragcli.render.terminal import Printer
from ragcli.types import (
    Alignment,
    Answer,
    AugmentedQuery,
    Constituent,
    Iteration,
    Matched,
    Span,
    Trace,
)
from tests.render.records import answer, hit

BOILER = Constituent("subject", "the boiler", 10, 20)
HOLD = Constituent("predicate", "ho\x1bld", 21, 25)
ALIGNED = Alignment((Matched(BOILER, Span(4, 10), 1.0),), (HOLD,), "encoder", (HOLD,))
ABOVE = Alignment((Matched(BOILER, None, 1.0),), (), "encoder")
ROUND = Iteration(
    (AugmentedQuery("What? \x1b[2J The boiler." + "x" * 200, "aligned", 5, 3),),
    3, 0, 1, 2, (5, 99), ("ho\x1bld",), 0.5, False,
)  # fmt: skip
TRACE = Trace((BOILER, HOLD), (ROUND,), "encoder: rules", "the last round")


def whole(alignment: Alignment | None = ALIGNED) -> Answer:
    return answer(hits=(replace(hit(), alignment=alignment),), trace=TRACE)


def shown(one: Answer) -> str:
    out = io.StringIO()
    print_alignment(Printer(out), one)
    return out.getvalue()


@pytest.mark.parametrize("alignment", [ALIGNED, ABOVE, None])
def test_the_document_is_valid(alignment: Alignment | None) -> None:
    document = answer_document(whole(alignment))
    jsonschema.validate(document, schemas.load("answer@1"))
    assert document["trace"]["iterations"][0]["kept"] == [1]
    assert document["trace"]["iterations"][0]["queries"][0]["of"] == 1


def test_segments_quote_the_passage() -> None:
    (one,) = answer_document(whole())["hits"]
    (match,) = one["alignment"]["matched"]
    assert match["segment"] == {"start": 4, "end": 10, "text": "boiler"}
    assert one["alignment"]["ratio"] == 0.5
    (above,) = answer_document(whole(ABOVE))["hits"]
    assert above["alignment"]["matched"][0]["segment"] is None


def test_explained() -> None:
    text = shown(whole())
    assert "the boiler → “boiler”" in text
    assert "3 candidates, 0 full, 1 partial, 2 no alignment; 2 kept; verified 0.50" in text
    assert "ended: the last round" in text
    assert "\x1b" not in text
    assert "xxx…" in text
    assert "the boiler → its heading" in shown(whole(ABOVE))


def test_nothing_without_alignment() -> None:
    assert shown(answer()) == ""
    document = answer_document(answer())
    assert (document["trace"], document["hits"][0]["alignment"]) == (None, None)
