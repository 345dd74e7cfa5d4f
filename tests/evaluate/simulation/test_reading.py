"""Prompts read in blocks: the same rows as alone, and what is there already is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.simulation.reading import BlockSession
from ragcli.llm.base import Feed
from ragcli.llm.llama import open_generator
from ragcli.llm.session import BranchSession
from tests.llm.fakes import FakeContext, logits_of

PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=14), min_size=1, max_size=6)


def opened(*, cuttable: bool = True, block: int = 3) -> tuple[BlockSession, FakeContext]:
    context = FakeContext(64, n_batch=8, cuttable=cuttable, tap=False)
    inner = BranchSession(lambda _size: context, 1, limit=64, n_ctx=64)
    return BlockSession(inner, block), context


def answered(session: BlockSession, prompt: Sequence[int], said: Sequence[int]) -> None:
    """Reads a prompt and feeds what was said; every row is that of a context of its own."""
    session.start({0: prompt})
    tokens = list(prompt)
    assert session.length(0) == len(tokens)
    for more in ([], *([token] for token in said)):
        (output,) = session.advance([Feed(0, more)])
        tokens += more
        np.testing.assert_array_equal(output.logits[-1], logits_of(list(enumerate(tokens))))
        assert session.tokens(0).tolist() == tokens


@given(PROMPTS, st.lists(st.integers(0, 1), max_size=4), st.booleans())
def test_rows_are_those_of_the_prompt_alone(
    prompts: list[list[int]], said: list[int], cuttable: bool
) -> None:
    session, _ = opened(cuttable=cuttable)
    for prompt in prompts:
        answered(session, prompt, said)
    assert session.read + session.kept == sum(map(len, prompts))
    assert cuttable or not session.kept


@given(PROMPTS)
def test_a_prompt_is_cut_into_the_same_batches_whatever_was_read_before(
    prompts: list[list[int]],
) -> None:
    alone, before = opened()
    answered(alone, prompts[-1], [])
    session, context = opened()
    for prompt in prompts[:-1]:
        answered(session, prompt, [1])
    kept, batches = session.kept, len(context.decodes)
    answered(session, prompts[-1], [])
    left = context.decodes[batches:]
    assert left == before.decodes[len(before.decodes) - len(left) :]
    assert session.kept - kept == sum(before.decodes) - sum(left)


def test_whole_blocks_are_kept_and_no_more() -> None:
    session, context = opened()
    answered(session, [0, 1, 0, 1, 0, 1, 0, 1], [])
    assert context.decodes == [3, 3, 2]
    answered(session, [0, 1, 0, 1, 0, 0, 0], [])  # five are the same: one block
    assert (session.kept, context.decodes[3:]) == (3, [3, 1])
    answered(session, [0, 1, 0], [])  # a token must be left to read
    assert (session.kept, context.decodes[5:]) == (3, [3])


def test_the_end_of_a_prompt_can_be_taken_back() -> None:
    session, _ = opened()
    session.start({0: [0, 1, 0, 1, 1]})
    session.truncate(0, 4)
    (output,) = session.advance([Feed(0, [0])])
    expected = logits_of(list(enumerate([0, 1, 0, 1, 0])))
    np.testing.assert_array_equal(output.logits[-1], expected)
    session.truncate(0, 2)
    assert session.tokens(0).tolist() == [0, 1]
    with pytest.raises(ValueError, match="has 2 tokens, not 3"):
        session.truncate(0, 3)


def test_one_branch_only() -> None:
    two = BranchSession(lambda _size: FakeContext(8), 2, limit=8, n_ctx=8)
    with pytest.raises(ValueError, match="one branch"):
        BlockSession(two)


@pytest.mark.model
def test_kept_blocks_change_no_bit_of_what_the_bundled_model_predicts(bundled_model: Path) -> None:
    with open_generator(bundled_model, threads=1) as generator:
        texts = ["The lighthouse keeper " * 30, "The lighthouse keeper " * 25 + "slept. " * 9]
        prompts = [generator.vocabulary.tokenize(text) for text in texts]
        with BlockSession(generator.session(1, tap=False, n_ctx=512)) as fresh:
            fresh.start({0: prompts[1]})
            (alone,) = fresh.advance([Feed(0)])
        with BlockSession(generator.session(1, tap=False, n_ctx=512)) as session:
            session.start({0: prompts[0]})
            session.advance([Feed(0)])
            session.start({0: prompts[1]})
            (after,) = session.advance([Feed(0)])
            assert session.kept >= 64
    assert after.logits.tobytes() == alone.logits.tobytes()
