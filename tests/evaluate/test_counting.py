"""Arms of a question share a read prompt, and nothing of the answers depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.evaluate.counting import CountingGenerator
from ragcli.llm.base import EncodedPrompt, Feed, Generator, Prompt, PromptPiece
from ragcli.llm.llama import open_generator
from tests.methods.fakes import FakeGenerator

MAIN = "The keeper of the light kept bees. " * 8 + "Who kept bees?"
FINE, OTHER = "The keeper of the light kept bees. Who?", "Something else. " * 9


@pytest.fixture(scope="module")
def generator(bundled_model: Path) -> Iterator[Generator]:
    with open_generator(bundled_model, threads=1, gpu_layers=0, n_ctx=512) as opened:
        yield opened


def rows(counting: CountingGenerator, *texts: str) -> list[NDArray[np.float32]]:
    """Logits and attention after the prompts, and after one more token each."""
    prompts = [counting.encode(Prompt((PromptPiece(text),))) for text in texts]
    with counting.session(len(prompts)) as session:
        session.start({at: prompt.tokens for at, prompt in enumerate(prompts)})
        outputs = session.advance([Feed(at) for at in range(len(prompts))])
        outputs += session.advance([Feed(at, (5,)) for at in range(len(prompts))])
    return [array for one in outputs for array in (one.logits, one.attention) if array is not None]


@pytest.mark.model
def test_a_kept_prompt_gives_the_very_same_rows(generator: Generator) -> None:
    kept = CountingGenerator(generator)
    asked = [(MAIN,), (MAIN, FINE), (OTHER,), (MAIN, FINE), (MAIN, OTHER), (MAIN,)]
    there = [rows(kept, *texts) for texts in asked]
    for texts, found in zip(asked, there, strict=True):
        fresh = CountingGenerator(generator)
        expected = rows(fresh, *texts)
        fresh.close_shared()
        assert len(found) == len(expected) == 4 * len(texts)
        assert all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True))
    kept.close_shared()


@pytest.mark.model
def test_what_a_kept_prompt_took_counts_for_every_arm(generator: Generator) -> None:
    counting = CountingGenerator(generator)
    rows(counting, MAIN, OTHER)  # the context is as large as it will be
    rows(counting, OTHER)
    rows(counting, MAIN)
    assert counting.reset().saved == 0
    rows(counting, MAIN, FINE)
    assert counting.reset().saved > 0
    rows(counting, OTHER)
    assert counting.reset().saved == 0
    counting.close_shared()


def encoded(*tokens: int) -> EncodedPrompt:
    return EncodedPrompt(np.asarray(tokens, np.int32), (), np.full(len(tokens), -1, np.int32))


def test_what_prompts_share_counts_once_and_waiting_branches_do_not() -> None:
    counting = CountingGenerator(FakeGenerator("a b"))
    with counting.session(2) as session:
        session.start({0: [1, 2, 3], 1: [1, 2, 4, 5]})
        session.advance([Feed(0)])
        assert counting.count.read == 3
        session.advance([Feed(0, (7,)), Feed(1, (7,))])
    assert (counting.count.read, counting.count.fed, counting.count.calls) == (5, 2, 2)
    counting.reset()
    counting.score_next([encoded(1, 2, 3), encoded(1, 2, 4)], [0])
    counting.loglikelihood([encoded(1, 2)], [[3, 4]])
    assert counting.reset().read == 4 + 4
    assert counting.count.read == 0
