"""Stages and helpers of methods, one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import ModelError, UsageError
from ragcli.methods.finish import finished_text
from ragcli.methods.fit import fit, shorten
from ragcli.methods.frames import DocumentsAndNoise, Plain, heading_of, unrelated_context
from ragcli.methods.registry import METHODS, SETTINGS, describe, find_method, settings_from
from ragcli.methods.retrieval import merge, scaled
from ragcli.methods.selectors import only
from ragcli.methods.stages import Context, Selection, sources_of
from tests.methods.fakes import FakeGenerator, document, hit


def context(rank: int, *texts: str) -> Context:
    found = hit(rank, *texts)
    return Context(found.document, "", found.passage.sentences, 1.0)


@pytest.mark.parametrize(
    ("raw", "stop", "text"),
    [
        (" One. Two. ", "end", "One. Two."),
        ("One is one. Two is", "length", "One is one."),
        ("One is", "length", "One is"),
        ("One is one. Two is two.", "length", "One is one. Two is two."),
        ("One is", "end", "One is"),
        ("Bees are. Goats are. Bees are. Goats are. Bees", "repetition", "Bees are. Goats are."),
        ("", "end", ""),
    ],
)
def test_finished_text(raw: str, stop: str, text: str) -> None:
    assert finished_text(raw, stop) == text


@given(st.text(alphabet="ab. \n", max_size=60), st.sampled_from(["end", "length", "repetition"]))
def test_the_text_is_a_prefix_of_what_was_generated(raw: str, stop: str) -> None:
    assert raw.strip().startswith(finished_text(raw, stop))


def test_shorten_takes_the_last_sentences_first() -> None:
    contexts = (context(1, "a", "b"), context(2, "c", "d"))
    left = shorten(contexts, [5, 5, 5, 5], 6)
    assert [len(c.sentences) for c in left] == [2]
    assert [len(c.sentences) for c in shorten(contexts, [5, 5, 5, 5], 1)] == [2, 1]
    assert shorten(contexts, [1, 1, 1, 1], 100) == ()
    assert [len(c.sentences) for c in contexts] == [2, 2]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 60))
def test_shorten_keeps_a_prefix_and_always_moves(sizes: list[int], excess: int) -> None:
    contexts = tuple(context(n, *["word"] * size) for n, size in enumerate(sizes, start=1))
    before = [s.id for c in contexts for s in c.sentences]
    after = [s.id for c in shorten(contexts, [3] * len(before), excess) for s in c.sentences]
    assert after == before[: len(after)]
    assert len(after) < len(before)


def test_a_question_that_cannot_fit_is_refused() -> None:
    framed = Plain()("word " * 50, Selection((context(1, "a"),)), "")
    with pytest.raises(ModelError, match="question alone"):
        fit(framed.main, FakeGenerator(""), 30)


def test_fit_leaves_a_short_prompt_alone() -> None:
    framed = Plain()("Who?", Selection((context(1, "a b", "c"),)), "")
    fitted = fit(framed.main, FakeGenerator(""), 200)
    assert fitted.dropped == 0
    assert fitted.prompt.sources == sources_of(fitted.contexts)
    assert set(fitted.prompt.owner.tolist()) == {-1, 0, 1}


def test_queries_are_merged_by_reciprocal_rank() -> None:
    a, b, c = hit(1, "a"), hit(2, "b"), hit(3, "c")
    # b: 1/62 + 1/61 > a: 1/61 > c: 1/62
    merged = merge([[a, b], [hit(2, "b"), hit(3, "c")]])
    assert [h.passage.id for h in merged] == [2, 1, 3]
    assert [h.rank for h in merged] == [1, 2, 3]
    assert merged[0].score == pytest.approx(1 / 62 + 1 / 62)
    assert (a.rank, b.rank, c.rank) == (1, 2, 3)


def test_scores_are_scaled_to_the_best() -> None:
    assert scaled([hit(1, "a"), hit(2, "b")]) == [1.0, 0.5]
    assert scaled([]) == []


def test_only_keeps_text_order_and_drops_empty_contexts() -> None:
    contexts = (context(1, "a", "b", "c"), context(2, "d"))
    (left,) = only(contexts, [102, 100])
    assert [s.id for s in left.sentences] == [100, 102]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("", "Island"),
        ("Island", "Island"),
        ("Island > Rocks", "Island > Rocks"),
        ("Rocks", "Island — Rocks"),
    ],
)
def test_headings(heading: str, expected: str) -> None:
    assert heading_of(Context(document(1), heading, (), 1.0)) == expected


def test_the_fixed_noise_text_is_in_no_index() -> None:
    noise = unrelated_context()
    assert all(s.id < 0 for s in noise.sentences)
    framed = DocumentsAndNoise("fixed")("Who?", Selection((context(1, "a"),)), "")
    assert framed.noise is not None
    assert framed.noise.contexts == (noise,)


def test_methods_print_what_they_are() -> None:
    for name, method in METHODS.items():
        row = describe(name)
        assert row.name == name == method.name
        assert all(key.key.partition(".")[0] for key in row.settings)
    assert "TopPassages" in describe("plain").stages["select"]
    assert {row.key for row in describe("fke").settings} >= {"fke.alpha", "retrieval.k"}


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UsageError, match="plain"):
        find_method("plan")
    with pytest.raises(UsageError, match=r"retrieval\.k"):
        settings_from(["retrieval.kk=3"])
    with pytest.raises(UsageError):
        settings_from(["retrieval.k=0"])
    assert settings_from(["retrieval.k=7"]).extra["retrieval.k"] == 7
    assert set(SETTINGS) == set(settings_from().extra)
