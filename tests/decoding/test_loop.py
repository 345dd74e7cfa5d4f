"""The loop's answers: what the equations give, when noise is read, risk, seeds, missing prompts."""

from __future__ import annotations

import numpy as np
import pytest

from ragcli.decoding.contrast import calibrate
from ragcli.decoding.loop import BranchPrompts, RiskContext, generate
from ragcli.decoding.options import (
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.types import Step
from tests.decoding.answering import EVERY, RISK, branches, run
from tests.decoding.toy import SIZE, ToySession, ToyVocabulary, logits_after


def greedy_by_hand(decoder: DragOptions, length: int) -> list[int]:
    """drag-all without any of the machinery: whole texts, one row at a time."""
    main, noise = branches().main.tokens.tolist(), branches().noise
    assert noise is not None
    answer: list[int] = []
    for _ in range(length):
        z = logits_after([*main, *answer], 0.3, -99.0)
        z_noise = logits_after([*noise.tokens.tolist(), *answer], 0.3, -99.0)
        answer.append(int(calibrate(z, z_noise, decoder).dense(SIZE).argmax()))
    return answer


def test_the_answer_is_what_the_equations_give() -> None:
    decoder = DragOptions(tokens="all")
    steps, stop = run(decoder, max_tokens=40)
    assert [step.token for step in steps] == greedy_by_hand(decoder, 40)
    assert stop.reason == "length"
    assert any(step.alternative for step in steps)


def test_sparse_calibration_reads_the_noise_only_when_needed() -> None:
    session = ToySession()
    steps, stop = run(DragOptions(delta=1e9), session)
    assert session.calls_of(1) == []
    assert session.calls == 60
    assert not any(step.calibrated for step in steps)
    assert stop.stats.calibrated == 0

    totals = sorted(s.risk.total for s in steps if s.risk and s.risk.total is not None)
    session = ToySession()
    steps, stop = run(DragOptions(delta=totals[-6], gamma=0.0), session, draft=False)
    risky = [i for i, step in enumerate(steps) if step.calibrated]
    assert len(risky) == 6 == stop.stats.calibrated
    # first the prompt and all tokens so far, then what has come since
    before = [0, *risky]
    assert session.calls_of(1) == [
        (12 if i == 0 else 0) + risky[i] - before[i] for i in range(len(risky))
    ]


def test_risk_is_that_of_the_main_branch_before_calibration() -> None:
    plain, _ = run(PlainOptions(), max_tokens=1)
    calibrated, _ = run(DragOptions(tokens="all", gamma=2.0), max_tokens=1)
    assert plain[0].risk == calibrated[0].risk
    assert plain[0].attention == calibrated[0].attention
    risk = plain[0].risk
    assert risk is not None
    assert risk.attention is not None
    # slots (0, 0, 1) with scores 0.9 and 0.2: eq. 5 from the step's own record
    a = plain[0].attention
    assert risk.attention == pytest.approx((a[0] + a[1]) / 1.9 + a[2] / 1.2)
    z = logits_after(branches().main.tokens.tolist(), 0.3, -99.0).astype(np.float64)
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    assert risk.prediction == pytest.approx(1 - p.max(), abs=1e-6)
    assert plain[0].logprob == pytest.approx(np.log(p.max()), abs=1e-6)
    assert plain[0].entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-5)


def test_without_attention_rows_risk_is_unknown_and_says_so() -> None:
    steps, stop = run(DragOptions(delta=0.0), ToySession(attention=False))
    assert all(s.risk and s.risk.attention is None and s.risk.total is None for s in steps)
    assert not any(step.calibrated or step.attention for step in steps)
    assert stop.warnings == (
        "attention cannot be read: risk is unknown and no token is calibrated by it",
    )
    _, stop = run(DragOptions(tokens="all"), ToySession(attention=False))
    assert stop.warnings == ()
    steps, stop = run(DragOptions(), risk=None)
    assert all(step.risk is None for step in steps)
    assert "no document scores" in stop.warnings[0]


@pytest.mark.parametrize(
    ("decoder", "warning"),
    [
        (FkeOptions(), "no sentences to fuse: the documents answer alone"),
        (DragOptions(), "no noise reference: tokens are not calibrated"),
        (CadOptions(), "no noise reference: tokens are not calibrated"),
    ],
)
def test_without_a_second_prompt_the_documents_answer_alone(
    decoder: DecoderOptions, warning: str
) -> None:
    alone = BranchPrompts(branches().main)
    steps, stop = run(decoder, prompts=alone)
    assert steps == run(PlainOptions())[0]
    assert stop.warnings == (warning,)


@pytest.mark.parametrize("name", EVERY)
def test_same_seed_same_answer_another_seed_another_answer(name: str) -> None:
    def answer(seed: int) -> list[Step]:
        options = SamplingOptions(max_tokens=40, temperature=1.0, seed=seed, repeats=0)
        return list(generate(ToySession(), ToyVocabulary(), branches(), EVERY[name], options, RISK))

    assert answer(3) == answer(3)
    assert answer(3) != answer(4)


def test_the_paper_preset_draws_although_the_temperature_is_zero() -> None:
    cold, warm = (run(EVERY["fke paper"], temperature=t)[0] for t in (0.0, 1.0))
    assert cold == warm
    assert [s.token for s in cold] != [s.token for s in run(PlainOptions())[0]]


def test_scores_are_checked() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        RiskContext(1.0, (1.5,), "x")
    with pytest.raises(ValueError, match="no score"):
        run(PlainOptions(), risk=RiskContext(1.0, (0.5,), "x"))
