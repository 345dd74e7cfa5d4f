"""Labelled outputs, weighted sums, who is in and who is noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.components import (
    LABELS,
    MOST_COMPONENTS,
    calibrate,
    document_scores,
    parse_components,
    parse_scores,
    relative,
    settle,
    split,
    weights,
)
from ragcli.types import Component

OUTPUTS = [
    ("Nobuhiro Ishizaki (invariant); Sport (variant).",
     [("invariant", "Nobuhiro Ishizaki"), ("variant", "Sport")], [None, None]),
    ("Quebec City (essential): 1.0 (Quebec City is explicitly mentioned) Capital (initial): 0.8"
     " (related (somehow) to capital) Province (supplementary): 0.0 (not mentioned)",
     [("invariant", "Quebec City"), ("variant", "Capital"), ("supplementary", "Province")],
     [1.0, 0.8, 0.0]),
    ("Elements: Farxiga [Invariant]; FDA (invariant element)\n- Drug approval <SUPPLEMENTARY>",
     [("invariant", "Farxiga"), ("variant", "FDA"), ("supplementary", "Drug approval")],
     [None, None, None]),
    ("Henry (politician) (invariant): 1; born (variant): 7 ; x (variant)=0,5",
     [("invariant", "Henry (politician)"), ("variant", "born"), ("variant", "x")],
     [1.0, None, 0.5]),
    ("Sport (variant); sport (variant); None (supplementary)", [("variant", "Sport")], [None]),
    ("I cannot do that.", [], []),
    ("", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("output", "expected", "scores"), OUTPUTS)
def test_outputs(output: str, expected: list[tuple[str, str]], scores: list[float | None]) -> None:
    found = parse_components(output)
    assert [(one.kind, one.text) for one in found] == expected
    assert list(parse_scores(output, found)) == scores


LABELLED = st.text(alphabet="ab (;:)[<>]1.0\n", max_size=20).flatmap(
    lambda text: st.sampled_from(sorted(LABELS)).map(lambda label: f"{text} ({label}): 0.5 (why)")
)


@given(st.lists(st.one_of(LABELLED, st.text(max_size=30)), max_size=12).map(" ".join))
def test_any_output_gives_valid_components(output: str) -> None:
    found = parse_components(output)
    assert sum(one.kind == "invariant" for one in found) <= 1
    assert len(found) <= MOST_COMPONENTS
    assert len({one.text.casefold() for one in found}) == len(found)
    assert all(one.text and one.text == one.text.strip() for one in found)
    assert all(score is None or 0 <= score <= 1 for score in parse_scores(output, found))


NAMES = st.from_regex(r"[A-Z][a-z]{1,6}( [a-z]{2,6}){0,2}", fullmatch=True).filter(
    lambda text: text.casefold() not in ("none", "output", "answer")
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["invariant", "variant", "supplementary"]), NAMES), max_size=6
    )
)
def test_what_is_written_is_read_back(pairs: list[tuple[str, str]]) -> None:
    components = settle(Component(kind, text) for kind, text in pairs)  # type: ignore[arg-type]
    written = "; ".join(f"{one.text} ({one.kind})" for one in components)
    assert parse_components(written) == components


def test_hostile_outputs_take_linear_time() -> None:
    for text in ("(" * 100_000, "a (variant): 1 (" * 20_000, "(variant" * 50_000, "; " * 50_000):
        assert len(parse_components(text)) <= MOST_COMPONENTS


QUERY = (
    Component("invariant", "Ribe"), Component("variant", "seats"), Component("supplementary", "number")
)  # fmt: skip


def test_weighted_sums_by_hand() -> None:
    assert weights(QUERY, 0.7, 0.3).tolist() == [1.0, 0.7, 0.3]
    table = [[1, 0.5, 1], [0, 1, 0], [1, 0, 0]]
    # 1 + 0.35 + 0.3; 0.7; 1
    assert document_scores(QUERY, table, 0.7, 0.3).tolist() == pytest.approx([1.65, 0.7, 1.0])
    assert relative(np.array([1.65, 2.0]), QUERY, 0.7, 0.3).tolist() == pytest.approx([0.825, 1])
    assert relative(np.zeros(2), (), 0.7, 0.3).tolist() == [0.0, 0.0]
    assert document_scores((), np.zeros((2, 0)), 0.7, 0.3).tolist() == [0.0, 0.0]


def test_split_by_hand() -> None:
    found = split([0.2, 0.9, 0.2, 0.5], 2)
    assert (found.top, found.noise) == ((1, 3), 2)
    assert split([0.2, 0.9], 2).noise is None
    assert split([], 5) == split([], 1)


@given(st.lists(st.floats(0, 3), max_size=12), st.integers(1, 12))
def test_noise_is_the_lowest_and_never_among_the_top(scores: list[float], r: int) -> None:
    found = split(scores, r)
    assert len(found.top) == min(r, len(scores))
    if len(scores) <= r:
        assert found.noise is None
    else:
        assert found.noise is not None
        assert found.noise not in found.top
        assert scores[found.noise] == min(scores)
        assert all(scores[at] >= scores[found.noise] for at in found.top)


def test_calibration_is_linear_and_clipped() -> None:
    assert calibrate(np.array([-1.0, 0.2, 0.4, 0.6, 1.0]), 0.2, 0.6).tolist() == pytest.approx(
        [0, 0, 0.5, 1, 1]
    )
