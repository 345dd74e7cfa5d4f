"""The loop on the bundled model: drafting against lock-step, decoders, stop rules.

The engine's arithmetic depends on the shape of a batch, so two ways of decoding may part
where two tokens are nearly tied. Every first difference must be such a near-tie.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragcli.decoding.blends import blend_of, sampling_of
from ragcli.decoding.loop import BranchPrompts, Stop, generate
from ragcli.decoding.options import (
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.decoding.sampling import perturbed
from ragcli.llm.base import Feed, Generator
from ragcli.types import Step
from tests.decoding.framing import (
    Passage,
    Question,
    branch_prompts,
    retrieval_risk,
)

pytestmark = pytest.mark.model

# Largest gap between two scores (nats, after temperature and noise) that counts as a tie.
# Single logits of the bundled model move by up to 1.7 with the batch, differences of likely
# tokens by far less; a decoder multiplies that. The largest gap seen here is 0.43 (cad).
NOISE = 0.75
STRENGTH = {"fke": 1.0, "fke sharp": 5.0, "drag": 1.5, "drag-all": 1.5, "cad": 2.0, "plain": 1.0}

DECODERS: dict[str, tuple[DecoderOptions, float]] = {  # and the temperature
    "fke": (FkeOptions(tau_d=1, tau_s=1), 0.0),
    "fke sharp": (FkeOptions(tau_d=1, tau_s=0.2), 0.0),
    "fke sampled": (FkeOptions(preset="paper", tau_d=0, tau_s=0.2, draw="sample"), 1.0),
    "drag": (DragOptions(delta=0.1), 0.0),
    "drag sampled": (DragOptions(delta=0.1), 0.8),
    "drag-all": (DragOptions(tokens="all"), 0.0),
    "cad": (CadOptions(), 0.0),
    "cad sampled": (CadOptions(), 0.8),
}

_PASSAGES = (
    Passage("Lighthouse of Orrin", (
        "The lighthouse of Orrin was built in 1874 by the engineer Marta Keld.",
        "It stands on the northern cape and is 41 metres high.",
        "Its lamp was lit with whale oil until 1911, and with gas from then on.",
    )),
    Passage("Harbour of Orrin", (
        "The harbour of Orrin was dug by hand between 1851 and 1856.",
        "Herring boats landed there every morning, and the market opened at six.",
        "A storm destroyed the outer wall in 1903; it was rebuilt with granite.",
    )),
    Passage("Marta Keld", (
        "Marta Keld was an engineer who built bridges and lighthouses.",
        "She studied in Sandby and returned to the island in 1869.",
        "Her notebooks are kept in the town library.",
    )),
    Passage("Folding boats", (
        "A paper boat floats best when the paper is thick.",
        "Fold the corners to the middle line, then pull the sides apart.",
    )),
)  # fmt: skip
QUESTIONS = [
    Question(text, _PASSAGES)
    for text in (
        "Who built the lighthouse of Orrin, and when?",
        "What happened to the harbour of Orrin in 1903?",
        "Describe the life of Marta Keld.",
        "How was the lamp of the lighthouse lit over the years?",
    )
]


@pytest.fixture(scope="module")
def generator(bundled_model: Path) -> Iterator[Generator]:
    from ragcli.llm.llama import open_generator

    with open_generator(bundled_model, threads=min(2, os.cpu_count() or 1)) as opened:
        yield opened


def answer(
    generator: Generator,
    prompts: BranchPrompts,
    decoder: DecoderOptions,
    sampling: SamplingOptions,
    question: Question,
) -> tuple[list[Step], Stop]:
    steps: list[Step] = []
    with generator.session(2) as session:
        run = generate(
            session, generator.vocabulary, prompts, decoder, sampling, retrieval_risk(question)
        )
        while True:
            try:
                steps.append(next(run))
            except StopIteration as end:
                return steps, end.value


def gap(
    generator: Generator,
    prompts: BranchPrompts,
    decoder: DecoderOptions,
    sampling: SamplingOptions,
    before: list[int],
    tokens: tuple[int, int],
) -> float:
    """How far apart two tokens are in the choice that follows `before`, decoded afresh."""
    blend = blend_of(decoder)
    second = prompts.fine if blend.second == "fine" else prompts.noise
    assert second is not None
    with generator.session(2, tap=False) as session:
        session.start({0: [*prompts.main.tokens, *before], 1: [*second.tokens, *before]})
        z_main, z_second = (out.logits[0] for out in session.advance([Feed(0), Feed(1)]))
    both = blend.together(z_main, z_second)
    scores = perturbed(both, sampling_of(decoder, sampling), len(before))
    found = [scores.logprob(token) for token in tokens]
    distance = abs(found[0] - found[1]) if np.isfinite(found).all() else float("inf")
    if isinstance(decoder, FkeOptions) and decoder.tau_d == 0 and int(z_main.argmax()) in tokens:
        # all mass on the likeliest token: a tie may also be which one that is
        distance = min(distance, abs(float(z_main[tokens[0]] - z_main[tokens[1]])))
    share = getattr(decoder, "plausibility", 0.0)
    if share:  # a tie may also be whether a token is plausible at all
        edge = float(z_main.max()) + math.log(share)
        distance = min(distance, *(abs(float(z_main[token]) - edge) for token in tokens))
    return distance


@pytest.mark.slow
@pytest.mark.parametrize("name", DECODERS)
def test_drafting_parts_from_lock_step_at_near_ties_only(generator: Generator, name: str) -> None:
    decoder, temperature = DECODERS[name]
    bound = NOISE * STRENGTH[name.removesuffix(" sampled")] / (temperature or 1.0)
    tokens = parted = 0
    for number, question in enumerate(QUESTIONS):
        prompts = branch_prompts(
            generator, question, noise="question" if name.startswith("cad") else "lowest"
        )
        sampling = SamplingOptions(max_tokens=40, temperature=temperature, seed=number, top_k=40)
        drafted, stop = answer(generator, prompts, decoder, sampling, question)
        unhurried = SamplingOptions(
            max_tokens=40, temperature=temperature, seed=number, top_k=40, draft=False
        )
        stepped, _ = answer(generator, prompts, decoder, unhurried, question)
        tokens += len(stepped)
        assert stop.stats.drafted or name.startswith("drag")
        same = next(
            (
                i
                for i, (a, b) in enumerate(zip(drafted, stepped, strict=False))
                if a.token != b.token
            ),
            None,
        )
        if same is None:
            continue
        parted += 1
        a, b = drafted[same], stepped[same]
        if a.calibrated != b.calibrated:
            assert a.risk is not None
            assert isinstance(decoder, DragOptions)
            assert a.risk.total == pytest.approx(decoder.delta, rel=0.2)
            continue
        before = [step.token for step in stepped[:same]]
        distance = gap(generator, prompts, decoder, sampling, before, (a.token, b.token))
        print(f"{name}: parted at {same}, gap {distance:.3f} of {bound:.2f}")
        assert distance <= bound
    print(f"{name}: {parted} of {len(QUESTIONS)} answers parted, {tokens} tokens")
    assert tokens > 40


def test_every_decoder_answers_with_risk_and_attention(generator: Generator) -> None:
    question = QUESTIONS[0]
    for decoder in (PlainOptions(), FkeOptions(), DragOptions(), DragOptions(tokens="all")):
        prompts = branch_prompts(generator, question)
        steps, stop = answer(generator, prompts, decoder, SamplingOptions(max_tokens=12), question)
        assert stop.warnings == ()
        assert len(steps) == 12
        for step in steps:
            assert step.risk is not None
            assert step.risk.total is not None
            assert len(step.attention) == len(prompts.main.sources)
            assert 0 < sum(step.attention) < 1
            assert step.logprob <= 1e-6
            assert step.entropy >= 0


def test_the_same_seed_gives_the_same_bytes(generator: Generator) -> None:
    question = QUESTIONS[1]
    prompts = branch_prompts(generator, question)
    sampling = SamplingOptions(max_tokens=16, temperature=0.9, top_p=0.95, seed=5)
    one, two = (answer(generator, prompts, FkeOptions(), sampling, question) for _ in range(2))
    assert one[0] == two[0]


def test_the_noise_branch_waits_for_the_first_risky_token(generator: Generator) -> None:
    question = QUESTIONS[0]
    prompts = branch_prompts(generator, question)
    with generator.session(2) as session:
        sampling = SamplingOptions(max_tokens=8)
        run = generate(
            session, generator.vocabulary, prompts, DragOptions(delta=1e9), sampling,
            retrieval_risk(question),
        )  # fmt: skip
        assert len(list(run)) == 8
        assert session.decoded(1) == 0
