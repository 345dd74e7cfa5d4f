from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.decoding.contrast import calibrate
from ragcli.decoding.loop import BranchPrompts, RiskContext, Stop, generate
from ragcli.decoding.options import (
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.errors import ContextFull, Interrupted, ModelError
from ragcli.llm.base import EncodedPrompt, Feed, Output
from ragcli.types import Step
from tests.decoding.toy import (
    DOCUMENTS,
    END,
    NOISE,
    SENTENCES,
    SIZE,
    ToySession,
    ToyVocabulary,
    logits_after,
    prompt,
)

RISK = RiskContext(1.0, (0.9, 0.2), "retrieval")
SLOTS = (0, 0, 1)
EVERY: dict[str, DecoderOptions] = {
    "plain": PlainOptions(),
    "fke": FkeOptions(top_k=10),
    "fke paper": FkeOptions(preset="paper", tau_d=0, tau_s=0.2, draw="sample"),
    "drag": DragOptions(delta=0.2),
    "drag-all": DragOptions(tokens="all"),
    "drag probabilities": DragOptions(tokens="all", on="probabilities"),
    "cad": CadOptions(),
}


def branches(seed: int = 0) -> BranchPrompts:
    return BranchPrompts(
        prompt(DOCUMENTS, seed, slots=SLOTS), prompt(SENTENCES, seed), prompt(NOISE, seed)
    )


def run(
    decoder: DecoderOptions,
    session: ToySession | None = None,
    *,
    seed: int = 0,
    risk: RiskContext | None = RISK,
    prompts: BranchPrompts | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    stop: tuple[str, ...] = (),
    **sampling: object,
) -> tuple[list[Step], Stop]:
    options = SamplingOptions(**{"max_tokens": 60, "repeats": 0} | sampling)  # type: ignore[arg-type]
    session = session or ToySession()
    prompts = prompts or branches(seed)
    steps: list[Step] = []
    generator = generate(
        session, ToyVocabulary(), prompts, decoder, options, risk, cancelled=cancelled, stop=stop
    )
    while True:
        try:
            steps.append(next(generator))
        except StopIteration as end:
            return steps, end.value


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


def test_the_end_token_ends_and_is_not_part() -> None:
    steps, stop = run(PlainOptions(), ToySession(script=[3, 4, END]))
    assert [step.text for step in steps] == ["d", "e"]
    assert (stop.reason, stop.stats.tokens) == ("end", 2)


@pytest.mark.parametrize("draft", [True, False])
@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_decoded_after_the_last_token(name: str, draft: bool) -> None:
    for script, count in (([5, 6, 7, END], 3), ([5, 6, 7, 8], 4)):
        session = ToySession(script=script, apart=0.0)
        steps, _ = run(EVERY[name], session, max_tokens=4, draft=draft)
        assert len(steps) == count
        assert max(session.length(b) for b in (0, 1) if b in session._tokens) <= 12 + 3


@pytest.mark.parametrize(
    ("strings", "text"),
    [
        (("fg",), "cde"),
        (("de", "zz"), "c"),
        (("zz",), "cdefgcdefg"),
        (("gcx", "gcde"), "cdef"),
        (("c",), ""),
        (("",), "cdefgcdefg"),
    ],
)
def test_stop_strings_are_cut_off_wherever_they_begin(strings: tuple[str, ...], text: str) -> None:
    script = ToyVocabulary().tokenize("cdefg")
    steps, stop = run(PlainOptions(), ToySession(script=script), max_tokens=10, stop=strings)
    assert "".join(step.text for step in steps) == text
    assert stop.reason == ("length" if len(text) == 10 else "end")


def test_a_character_appears_once_it_is_whole() -> None:
    # 26, 27 are the two bytes of é; 28 is no UTF-8; 29 begins a character that never ends
    steps, _ = run(PlainOptions(), ToySession(script=[26, 27, 28, 2, 29]), max_tokens=5)
    assert [step.text for step in steps] == ["", "é", "\ufffd", "c", ""]


@pytest.mark.parametrize("period", [1, 2, 7, 20])
def test_an_endless_repetition_stops(period: int) -> None:
    script = list(range(2, 2 + period))
    steps, stop = run(PlainOptions(), ToySession(script=script), max_tokens=500, repeats=3)
    assert stop.reason == "repetition"
    assert len(steps) == max(30, 3 * period)
    assert stop.repeated == len(steps) - period
    _, stop = run(PlainOptions(), ToySession(script=script), max_tokens=100, repeats=0)
    assert stop.reason == "length"


def test_an_answer_without_circles_is_left_alone() -> None:
    steps, stop = run(PlainOptions(), ToySession(script=list(range(2, 45)) * 2 + [3]), max_tokens=87,
                      repeats=3)  # fmt: skip
    assert (len(steps), stop.reason) == (87, "length")


@pytest.mark.parametrize("name", EVERY)
def test_cancelling_stops_within_a_step(name: str) -> None:
    taken: list[Step] = []
    session = ToySession()
    options = SamplingOptions(max_tokens=50, repeats=0)
    generator = generate(
        session, ToyVocabulary(), branches(), EVERY[name], options, RISK,
        cancelled=lambda: len(taken) >= 5,
    )  # fmt: skip
    stop = None
    while stop is None:
        calls = session.calls
        try:
            taken.append(next(generator))
        except StopIteration as end:
            stop = end.value
            assert session.calls <= calls + 1
    assert stop.reason == "interrupted"
    # what one batch has settled is still given; nothing new is begun
    assert 5 <= len(taken) <= 5 + 32
    again, _ = run(PlainOptions(), session)
    assert again == run(PlainOptions())[0]


def test_cancelled_before_the_first_step_or_within_a_decode() -> None:
    session = ToySession()
    steps, stop = run(FkeOptions(), session, cancelled=lambda: True)
    assert (steps, stop.reason, session.calls) == ([], "interrupted", 0)

    class Aborting(ToySession):
        def advance(self, feeds: list[Feed]) -> list[Output]:  # type: ignore[override]
            if self.calls == 7:
                raise Interrupted("interrupted while the model was reading")
            return super().advance(feeds)

    steps, stop = run(PlainOptions(), Aborting())
    assert (len(steps), stop.reason) == (7, "interrupted")


@pytest.mark.parametrize("name", EVERY)
def test_a_full_context_ends_the_answer(name: str) -> None:
    steps, stop = run(EVERY[name], ToySession(n_ctx=60))
    assert stop.reason == "length"
    assert len(steps) >= 10
    assert any("the context of 60 tokens is full" in warning for warning in stop.warnings)
    with pytest.raises(ContextFull):
        run(EVERY[name], ToySession(n_ctx=5))


def test_a_model_that_gives_no_numbers_is_an_error() -> None:
    class Broken(ToySession):
        def advance(self, feeds: list[Feed]) -> list[Output]:  # type: ignore[override]
            return [
                Output(out.logits * np.float32("nan"), out.start, out.attention)
                for out in super().advance(feeds)
            ]

    for decoder in EVERY.values():
        with pytest.raises(ModelError, match="no numbers"):
            run(decoder, Broken())


def test_scores_are_checked() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        RiskContext(1.0, (1.5,), "x")
    with pytest.raises(ValueError, match="no score"):
        run(PlainOptions(), risk=RiskContext(1.0, (0.5,), "x"))
