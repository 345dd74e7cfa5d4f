"""ROUGE-L and BLEU-1: by hand, and against a recurrence and nltk."""

from __future__ import annotations

import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.evaluate.metrics import overlap
from ragcli.evaluate.metrics.overlap import bleu_1, rouge_l

WORDS = st.lists(
    st.sampled_from(["keeper", "bee", "honey", "red", "old", "1908", "light"]), max_size=9
)


def test_rouge_l_by_hand() -> None:
    # common subsequence "keeper kept bees", 3 of 4 and 3 of 5: 2 · 0.75 · 0.6 / 1.35
    score = rouge_l("keeper often kept bees", ["keeper Oskan kept black bees"])
    assert score == pytest.approx(2 / 3)
    assert rouge_l("bees kept", ["kept bees"]) == pytest.approx(0.5)  # one word in order
    assert rouge_l("", ["kept bees"]) == 0
    assert rouge_l("keeping bee", ["keeps bees"]) == 1  # stems
    assert rouge_l("bees", ["wrong", "bees"]) == 1  # the best reference


def test_rouge_l_of_other_scripts() -> None:
    # 北京大学 and 北京: 2 letters of 4, 2 of 2
    assert rouge_l("北京大学", ["北京"]) == pytest.approx(2 / 3)
    assert rouge_l("Кот спит", ["кот не спит"]) == pytest.approx(0.8)  # 2 of 2, 2 of 3


def test_bleu_1_by_hand() -> None:
    # 2 of 3 words are there; not shorter than the reference
    assert bleu_1("the red bee", ["the old bee"]) == pytest.approx(2 / 3)
    # all words right, half as long: exp(1 - 6/3)
    assert bleu_1("the cat sat", ["the cat sat on the mat"]) == pytest.approx(0.36787944)
    # "the" stands twice in the reference: 2 of 4
    assert bleu_1("the the the the", ["the cat on the"]) == pytest.approx(0.5)
    assert bleu_1("honey", ["bees"]) == 0
    assert bleu_1("", ["bees"]) == 0
    assert bleu_1("北京", ["北京"]) == 1


@pytest.mark.parametrize("metric", [rouge_l, bleu_1])
def test_no_reference_is_an_error(metric) -> None:
    with pytest.raises(ValueError):
        metric("bees", [])


@given(WORDS, WORDS.filter(bool))
def test_rouge_l_by_recurrence(said: list[str], reference: list[str]) -> None:
    @cache
    def common(i: int, j: int) -> int:
        if i == len(said) or j == len(reference):
            return 0
        if said[i] == reference[j]:
            return 1 + common(i + 1, j + 1)
        return max(common(i + 1, j), common(i, j + 1))

    expected = 2 * common(0, 0) / (len(said) + len(reference))
    assert rouge_l(" ".join(said), [" ".join(reference)]) == pytest.approx(expected)


@given(WORDS.filter(bool), st.lists(WORDS.filter(bool), min_size=1, max_size=3))
def test_bleu_1_as_nltk_has_it(said: list[str], references: list[list[str]]) -> None:
    from nltk.translate.bleu_score import brevity_penalty, closest_ref_length, modified_precision

    precision = float(modified_precision(references, said, 1))
    penalty = brevity_penalty(closest_ref_length(references, len(said)), len(said))
    ours = bleu_1(" ".join(said), [" ".join(one) for one in references])
    assert ours == pytest.approx(precision * penalty)


@pytest.mark.parametrize(
    ("metric", "module", "cached"),
    [
        (rouge_l, "rouge_score.rouge_scorer", overlap._rouge),
        (bleu_1, "sacrebleu.metrics.bleu", overlap._bleu),
    ],
)
def test_a_missing_library_is_one_line(metric, module, cached, monkeypatch) -> None:
    cached.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError) as caught:
        metric("bees", ["bees"])
    assert "ragcli[eval]" in caught.value.hint
    cached.cache_clear()
