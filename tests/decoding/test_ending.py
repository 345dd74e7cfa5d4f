"""How an answer ends: its end, stop strings, repetition, cancelling, a full context, errors."""

from __future__ import annotations

import numpy as np
import pytest

from ragcli.decoding.loop import generate
from ragcli.decoding.options import FkeOptions, PlainOptions, SamplingOptions
from ragcli.errors import ContextFull, Interrupted, ModelError
from ragcli.llm.base import Feed, Output
from ragcli.types import Step
from tests.decoding.answering import EVERY, RISK, branches, run
from tests.decoding.toy import END, ToySession, ToyVocabulary


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
