"""The loop with each decoder on the toy model, from prompts to the stop."""

from __future__ import annotations

from collections.abc import Callable

from ragcli.decoding.loop import BranchPrompts, RiskContext, Stop, generate
from ragcli.decoding.options import (
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.types import Step
from tests.decoding.toy import DOCUMENTS, NOISE, SENTENCES, ToySession, ToyVocabulary, prompt

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
