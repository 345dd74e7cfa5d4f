"""Reading instructions: both formats, single components, and what is wrong with a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import UsageError
from ragcli.train.analyzer_data import Elements, Relevance, read
from ragcli.types import Component
from tests.train import instructed

QUESTION = "What is Portland the capital of?"
PORTLAND = {"text": "Portland", "attribute": "invariant"}
CAPITAL = {"text": "capital", "attribute": "Variant"}


def rows(tmp_path: Path, *lines: Any) -> tuple[Any, ...]:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    return read([file])


def test_both_formats(tmp_path: Path) -> None:
    scored = [PORTLAND, {**CAPITAL, "relevant": 0.8}]
    first, second = rows(
        tmp_path,
        {"question": QUESTION, "components": [PORTLAND, CAPITAL], "source": "mine"},
        "",
        {"question": QUESTION, "passage": "A city.", "title": "Maine", "components": scored},
    )
    parts = (Component("invariant", "Portland"), Component("variant", "capital"))
    assert first == Elements(QUESTION, parts)
    assert isinstance(second, Relevance)
    assert (second.components, second.scores) == (parts, (None, 0.8))
    assert second.text.whole == "Maine\nA city."


def test_single_components_are_one_row_in_the_order_of_the_question(tmp_path: Path) -> None:
    single = {"question": QUESTION, "passage": "A city."}
    found = rows(
        tmp_path,
        {**single, "component": {"text": "state", "attribute": "supplementary"}, "relevant": 0.2},
        {**single, "component": "capital", "relevant": True},
        {**single, "component": "Portland", "relevant": False},
        {**single, "passage": "Another.", "component": "capital", "relevant": 0},
        {"question": QUESTION, "components": [PORTLAND, CAPITAL]},
    )
    assert [type(one) for one in found] == [Elements, Relevance, Relevance]
    assert [one.text for one in found[1].components] == ["Portland", "capital", "state"]
    assert found[1].scores == (0.0, 1.0, 0.2)
    assert found[2].scores == (0.0,)


def test_components_are_as_the_engine_reads_them_back(tmp_path: Path) -> None:
    (found,) = rows(
        tmp_path,
        {
            "question": "Is the U.S. in it?",
            "components": [
                {"text": " the  U.S. ", "attribute": "<Invariant>"},
                {"text": "it", "attribute": "essential"},
                {"text": "IT", "attribute": "variant"},
            ],
        },
    )
    assert found.components == (Component("invariant", "the U.S"), Component("variant", "it"))


def test_equal_rows_count_once(tmp_path: Path) -> None:
    line = {"question": QUESTION, "components": [CAPITAL]}
    assert len(rows(tmp_path, line, line)) == 1
    file = instructed.write(tmp_path / "more.jsonl")
    assert len(read([file, file])) == len(instructed.lines())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: is no JSON"),
        ("[" * 100_000, "line 2: is no JSON"),
        ("[]", "line 2: is no JSON object"),
        ({"components": [CAPITAL]}, "line 2: question is missing"),
        (
            {"question": "", "components": [CAPITAL]},
            "line 2: question must be a text, not an empty",
        ),
        ({"question": 3, "components": [CAPITAL]}, "line 2: question must be a text"),
        ({"question": "q"}, "line 2: components is missing"),
        ({"question": "q", "components": []}, "line 2: components must be a list"),
        ({"question": "q", "components": ["x"]}, r"line 2: components\[0\] must be an object"),
        (
            {"question": "q", "components": [CAPITAL, {"attribute": "variant"}]},
            r"line 2: components\[1\].text is missing",
        ),
        (
            {"question": "q", "components": [{"text": "a", "attribute": "odd"}]},
            r"line 2: components\[0\].attribute must be one of invariant",
        ),
        (
            {"question": "q", "components": [{"text": "a; b (variant)", "attribute": "variant"}]},
            r"line 2: components\[0\].text holds what parts",
        ),
        (
            {"question": "q", "passage": "p", "components": [CAPITAL]},
            r"line 2: components\[0\].relevant is missing",
        ),
        (
            {"question": "q", "passage": "p", "component": CAPITAL, "relevant": 7},
            "line 2: relevant must be true, false or from 0 to 1",
        ),
        (
            {"question": "q", "passage": "p", "component": CAPITAL, "relevant": "yes"},
            "line 2: relevant must be",
        ),
        (
            {"question": "q", "passage": "p", "component": "capital", "relevant": 1},
            "line 2: component has no attribute",
        ),
        ({"question": "q", "component": "capital", "relevant": 1}, "line 2: passage is missing"),
        (
            {"question": "q", "passage": "p", "title": 1, "component": CAPITAL, "relevant": 1},
            "line 2: title must be a text",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_field(tmp_path: Path, line: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        rows(tmp_path, {"question": QUESTION, "components": [CAPITAL]}, line)
    assert "rows.jsonl" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00"])
def test_a_file_without_rows_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "none.jsonl"
    file.write_bytes(content)
    with pytest.raises(UsageError):
        read([file])
    with pytest.raises(UsageError, match="cannot read"):
        read([tmp_path / "missing.jsonl"])
