"""Drafts: the same answer as in lock step, with fewer decodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.decoding.loop import BranchPrompts, RiskContext
from ragcli.decoding.options import FkeOptions
from ragcli.llm.base import EncodedPrompt
from ragcli.types import Step
from tests.decoding.answering import EVERY, branches, run
from tests.decoding.toy import DOCUMENTS, NOISE, SENTENCES, ToySession, prompt


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    apart=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    temperature=st.sampled_from([0.0, 0.7, 1.0]),
    max_tokens=st.integers(1, 70),
    end_bias=st.sampled_from([-99.0, 0.0]),
)
def test_drafting_gives_what_lock_step_gives(
    name: str, seed: int, apart: float, temperature: float, max_tokens: int, end_bias: float
) -> None:
    def answer(draft: bool) -> tuple[list[Step], str, ToySession]:
        session = ToySession(apart=apart, end_bias=end_bias)
        steps, stop = run(
            EVERY[name], session, seed=seed, temperature=temperature, top_k=20,
            max_tokens=max_tokens, draft=draft,
        )  # fmt: skip
        return steps, stop.reason, session

    drafted, reason, _ = answer(draft=True)
    stepped, same_reason, _ = answer(draft=False)
    assert drafted == stepped  # every field of every step, bit by bit
    assert reason == same_reason


def test_lock_step_is_one_decode_a_token_for_both() -> None:
    session = ToySession()
    run(FkeOptions(), session, draft=False, max_tokens=30)
    assert session.log[0] == {0: 12, 1: 12}
    assert session.log[1:] == [{0: 1, 1: 1}] * 29


def test_a_draft_that_stands_is_checked_in_few_batches() -> None:
    session = ToySession(apart=0.0, script=range(2, 26))  # sure of itself, branches agree
    steps, stop = run(FkeOptions(), session, max_tokens=96)
    assert len(steps) == 96
    assert stop.stats.acceptance == 1.0
    assert len(session.calls_of(1)) <= 1 + 96 / 24
    assert sum(session.calls_of(1)) == 12 + 95  # each token once: nothing is wasted
    assert sum(session.calls_of(0)) == 12 + 95


@pytest.mark.parametrize("name", ["fke", "drag-all", "cad"])
def test_what_the_prompt_says_is_copied_and_checked_at_once(name: str) -> None:
    text = branches().main.tokens[1:].tolist()  # eleven tokens, which the model goes on saying
    script, options = [text[i % 11] for i in range(11)], {"max_tokens": 44}
    session = ToySession(script=script, apart=0.1)
    steps, stop = run(EVERY[name], session, **options)
    slow = ToySession(script=script, apart=0.1)
    assert steps == run(EVERY[name], slow, draft=False, **options)[0]
    assert stop.stats.acceptance > 0.8
    assert session.calls < 44 * 0.7 < slow.calls
    # copied tokens are read by both branches in the same call
    assert any(call.get(0, 0) > 3 and call.get(1, 0) > 3 for call in session.log[1:])


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["fke", "fke paper", "drag-all", "cad"]),
    script=st.lists(st.integers(2, 5), min_size=2, max_size=12),
    loud=st.floats(0, 4),
    temperature=st.sampled_from([0.0, 1.0]),
    n_ctx=st.sampled_from([70, 10_000]),
)
def test_copies_that_fail_leave_no_trace(
    name: str, script: list[int], loud: float, temperature: float, n_ctx: int
) -> None:
    text = np.array([DOCUMENTS, *(script * 20)[:30]], np.int32)
    main = EncodedPrompt(text, (), np.full(31, -1, np.int32))
    prompts = BranchPrompts(main, prompt(SENTENCES), prompt(NOISE))

    def answer(draft: bool) -> list[Step]:
        session = ToySession(script=script, loud=loud, n_ctx=n_ctx)
        options = {"prompts": prompts, "risk": RiskContext(1.0, (), "none"), "draft": draft}
        return run(EVERY[name], session, temperature=temperature, **options)[0]  # type: ignore[arg-type]

    drafted, stepped = answer(draft=True), answer(draft=False)
    common = min(len(drafted), len(stepped))
    assert drafted[:common] == stepped[:common]
    assert len(stepped) - len(drafted) <= 2 if n_ctx == 70 else len(drafted) == len(stepped)


def test_branches_that_never_agree_are_hardly_drafted() -> None:
    session = ToySession(apart=5.0)
    steps, stop = run(FkeOptions(alpha=100, tau_d=1, tau_s=1), session, max_tokens=60)
    assert len(steps) == 60
    assert stop.stats.acceptance < 0.5
    assert stop.stats.mean_draft < 2
    assert stop.stats.fed_main < 2 * 60
