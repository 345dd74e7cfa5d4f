"""Scores by logits, against the plain way: one prompt, one session, one after another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.llm.base import EncodedPrompt, Feed
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.llm.scoring import GROUP, groups, log_softmax
from tests.llm import tiny

EXACT = 5e-3  # float16 cache, see test_stress
RANDOM = np.random.default_rng(1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaGenerator]:
    path = tiny.write_llama(tmp_path_factory.mktemp("tiny") / "llama.gguf")
    with open_generator(path, threads=1) as generator:
        yield generator


def prompt(tokens: list[int]) -> EncodedPrompt:
    array = np.array(tokens, np.int32)
    return EncodedPrompt(array, (), np.full(len(array), -1, np.int32))


def some(n: int) -> list[int]:
    return RANDOM.integers(0, tiny.VOCABULARY, n).tolist()


def rows(generator: LlamaGenerator, tokens: list[int]) -> np.ndarray:
    """Log-probabilities (n, vocabulary) after each token, the plain way."""
    with generator.session(1, tap=False) as session:
        session.start({0: tokens[:1]})
        (output,) = session.advance([Feed(0, tokens[1:], "all")])
    return log_softmax(output.logits)


def test_next_tokens(small: LlamaGenerator) -> None:
    shared = some(300)
    lists = [shared + some(5) for _ in range(40)] + [some(700), some(3), shared[:10]]
    wanted = [3, 1, 60]
    scores = small.score_next([prompt(tokens) for tokens in lists], wanted)
    assert scores.shape == (43, 3)
    expected = [rows(small, tokens)[-1, wanted] for tokens in lists]
    np.testing.assert_allclose(scores, expected, atol=EXACT)


def test_loglikelihood(small: LlamaGenerator) -> None:
    shared = some(50)
    prompts = [shared + some(n) for n in (1, 5, 1, 200, 3, 4)]
    continuations = [some(1), some(40), [], some(300), some(2), some(9)]
    found = small.loglikelihood([prompt(tokens) for tokens in prompts], continuations)
    for got, before, after in zip(found, prompts, continuations, strict=True):
        table = rows(small, before + after)
        places = np.arange(len(before) - 1, len(before) + len(after) - 1)
        assert got == pytest.approx(table[places, after].sum() if after else 0, abs=EXACT * 50)


def test_same_prompt_twice_and_none(small: LlamaGenerator) -> None:
    twice = [prompt([1, 2, 3])] * 2
    scores = small.score_next(twice, [5])
    assert scores[0] == scores[1]
    assert small.score_next([], [5]).shape == (0, 1)
    assert small.loglikelihood([], []).shape == (0,)


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=400), max_size=40))
def test_groups_hold_every_prompt_once(lists: list[list[int]]) -> None:
    arrays = [np.array(tokens, np.int32) for tokens in lists]
    found = list(groups(arrays))
    assert sorted(index for group in found for index in group) == list(range(len(lists)))
    assert all(0 < len(group) <= GROUP for group in found)


def test_log_softmax_by_hand() -> None:
    # e^0 = 1 and e^ln3 = 3: probabilities 1/4 and 3/4, whatever is added to both
    logits = np.array([[0, np.log(3)], [1000, 1000 + np.log(3)]], np.float32)
    np.testing.assert_allclose(np.exp(log_softmax(logits)), [[0.25, 0.75]] * 2, atol=1e-4)
    assert logits[0, 0] == 0
