"""The one generation loop: prompts and options in, steps out, and why it stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from ragcli.decoding.blends import PLAIN, Blend, blend_of, sampling_of
from ragcli.decoding.chooser import Chooser, Decided
from ragcli.decoding.detokenise import Utf8, text_of
from ragcli.decoding.lanes import MAIN, SECOND, Lanes
from ragcli.decoding.options import DecoderOptions, DragOptions, SamplingOptions
from ragcli.decoding.stop import Reason, Repetition, Stats, Stop, StopStrings
from ragcli.decoding.watch import RiskContext, Watch
from ragcli.errors import ContextFull, Interrupted
from ragcli.llm.base import EncodedPrompt, Session, Vocabulary
from ragcli.types import Step

__all__ = ["BranchPrompts", "RiskContext", "Stats", "Stop", "generate"]


@dataclass(frozen=True, slots=True, eq=False)
class BranchPrompts:
    """One question, framed for each branch.

    main: the documents. fine: the query-focused sentences (FKE). noise: DRAG's reference,
    or the question without context (CAD). None: there is nothing to put there.
    """

    main: EncodedPrompt
    fine: EncodedPrompt | None = None
    noise: EncodedPrompt | None = None


def generate(
    session: Session,
    vocabulary: Vocabulary,
    branches: BranchPrompts,
    decoder: DecoderOptions,
    sampling: SamplingOptions,
    risk: RiskContext | None = None,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    stop: Sequence[str] = (),
    rows: bool = False,
) -> Generator[Step, None, Stop]:
    """Generates one answer: yields its steps, returns why and how it ended.

    The session needs two branches for a decoder that reads a second one; it is started
    anew, and left as it stands at the end. Without a second prompt, or without attention
    rows where the risk decides, the main branch answers alone and `Stop.warnings` says so.
    risk: what risk is computed from; None leaves `Step.risk` empty.
    stop: texts that end the answer; they and what follows are not part of it.
    rows: keep whole attention rows (`Step.looked`, `Stop.looked`).

    Deterministic for a seed. Raises ModelError when the prompt does not fit or the model
    fails; a context that fills up later ends the answer ("length").
    """
    answer = _Answer(vocabulary, sampling_of(decoder, sampling), StopStrings(stop))
    blend, second = _arrange(decoder, branches, answer.warnings)
    reading = decoder if isinstance(decoder, DragOptions) else DragOptions()
    watch = Watch(branches.main, risk, reading, rows)
    lanes = Lanes(session, branches.main, second)
    chooser = Chooser(
        lanes, branches.main.tokens, blend, answer.sampling, watch, vocabulary.is_end, cancelled
    )
    reason: Reason = "end"
    try:
        for decided in chooser.tokens():
            yield from answer.add(decided)
            if answer.ended:
                reason = answer.ended
                break
    except ContextFull as error:
        if not answer.count:
            raise
        reason = "length"
        answer.warnings.append(f"the answer is cut: {error.message}")
    except Interrupted:
        reason = "interrupted"
    yield from answer.rest()
    if isinstance(decoder, DragOptions) and not blend.always and blend.calibrates:
        answer.warnings += _blindness(watch, risk)
    stats = _stats(answer, lanes, chooser)
    return Stop(reason, tuple(answer.warnings), stats, answer.repeated, answer.looked)


def _arrange(
    decoder: DecoderOptions, branches: BranchPrompts, warnings: list[str]
) -> tuple[Blend, EncodedPrompt | None]:
    """The decoder and the prompt of its second branch, plain where that is missing."""
    blend = blend_of(decoder)
    if not blend.second:
        return blend, None
    second = branches.fine if blend.second == "fine" else branches.noise
    if second is None:
        warnings.append(_MISSING[blend.second])
        return PLAIN, None
    return blend, second


_MISSING = {
    "fine": "no sentences to fuse: the documents answer alone",
    "noise": "no noise reference: tokens are not calibrated",
}


def _blindness(watch: Watch, risk: RiskContext | None) -> list[str]:
    if risk is None:
        return ["no document scores: risk is unknown and no token is calibrated"]
    if watch.blind:
        return ["attention cannot be read: risk is unknown and no token is calibrated by it"]
    return []


def _stats(answer: _Answer, lanes: Lanes, chooser: Chooser) -> Stats:
    return Stats(
        tokens=answer.count,
        calls=lanes.calls,
        fed_main=lanes.decoded[MAIN],
        fed_second=lanes.decoded[SECOND],
        rounds=chooser.rounds,
        drafted=chooser.drafted,
        accepted=chooser.accepted,
        calibrated=answer.calibrated,
        prefill_seconds=lanes.prefill_seconds,
    )


class _Answer:
    """Turns chosen tokens into steps and notices the end. `ended`: None while it goes on."""

    def __init__(
        self, vocabulary: Vocabulary, sampling: SamplingOptions, strings: StopStrings
    ) -> None:
        self._vocabulary, self.sampling, self._strings = vocabulary, sampling, strings
        self._text = Utf8(vocabulary)
        self._repetition = Repetition(sampling.repeats)
        self.warnings: list[str] = []
        self.count = self.calibrated = self.repeated = 0
        self.ended: Reason | None = None
        self.looked: tuple[float, ...] = ()

    def add(self, decided: Decided) -> list[Step]:
        """The steps that are certain once this token is chosen."""
        if self._vocabulary.is_end(decided.token):
            self.ended, self.looked = "end", decided.draft.seen.looked
            return []
        self.count += 1
        self.calibrated += decided.calibrated
        steps = self._strings.push(self._step(decided))
        self.repeated = self._repetition.push(decided.token)
        if self._strings.hit:
            self.ended = "end"
        elif self.repeated:
            self.ended = "repetition"
        elif self.count >= self.sampling.max_tokens:
            self.ended = "length"
        return steps

    def rest(self) -> list[Step]:
        return self._strings.rest()

    def _step(self, decided: Decided) -> Step:
        before = decided.draft.choice.token
        return Step(
            token=decided.token,
            text=self._text.push(decided.token),
            logprob=decided.distribution.logprob(decided.token),
            entropy=decided.distribution.entropy(),
            risk=decided.draft.seen.risk,
            calibrated=decided.calibrated,
            alternative=None if before == decided.token else text_of(self._vocabulary, before),
            attention=decided.draft.seen.attention,
            looked=decided.draft.seen.looked,
        )
