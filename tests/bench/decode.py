"""What a token costs: every decoder against plain decoding, in one process, interleaved.

    python tests/bench/decode.py [--model GGUF] [--questions 8] [--repeats 1] [--json]

Answers of `--tokens` (64 or more) over three documents, greedy; ends of text are masked, so
that every answer has that length. Each figure is the median over questions and repeats, of
decoding alone: the prompts' share is taken off. `drag` calibrates about the riskiest 15 % of
its tokens. `tap`: plain with attention rows against plain without. Naive: both
prompts evaluated anew at each token, as with two high-level calls, against our plain.
`prefill_ratio_shared`: four questions about the same documents, read with the shared part
decoded once, against each by itself. `--cpu` counts processor time of this process
instead of wall time, for a machine that is busy otherwise (use one thread then).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ragcli.decoding import lanes  # noqa: E402
from ragcli.decoding.loop import BranchPrompts, Stop, generate  # noqa: E402
from ragcli.decoding.options import (  # noqa: E402
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.llm.base import Feed, Output, Vocabulary  # noqa: E402
from ragcli.llm.generator import LlamaGenerator  # noqa: E402
from ragcli.llm.llama import open_generator  # noqa: E402
from ragcli.llm.registry import resolve_model  # noqa: E402
from ragcli.types import Step  # noqa: E402
from tests.decoding import framing  # noqa: E402

DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data"
NAMES = ("plain", "fke", "drag", "drag-all", "cad")
NAIVE_STEPS = 2


class Talkative:
    """A session whose model never ends a text."""

    def __init__(self, session: Any, ends: Sequence[int]) -> None:
        self._session, self._ends = session, list(ends)

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        outputs: list[Output] = self._session.advance(feeds)
        for output in outputs:
            output.logits[:, self._ends] = -1e4
        return outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


@dataclass(frozen=True)
class Run:
    name: str
    ms: float  # a token, decoding alone
    seconds: float  # end to end
    steps: list[Step]
    stop: Stop


@dataclass(frozen=True)
class Bench:
    generator: LlamaGenerator
    session: Talkative
    untapped: Talkative
    tokens: int
    clock: Callable[[], float]

    def run(
        self,
        name: str,
        question: framing.Question,
        decoder: DecoderOptions,
        *,
        draft: bool = True,
        tap: bool = True,
    ) -> Run:
        sampling = SamplingOptions(max_tokens=self.tokens, repeats=0, draft=draft)
        prompts = self.prompts(question, name)
        session = self.session if tap else self.untapped
        steps: list[Step] = []
        started = self.clock()
        answer = generate(
            session,  # type: ignore[arg-type]
            self.generator.vocabulary,
            prompts,
            decoder,
            sampling,
            framing.retrieval_risk(question),
        )
        while True:
            try:
                steps.append(next(answer))
            except StopIteration as end:
                stop: Stop = end.value
                break
        seconds = self.clock() - started
        assert len(steps) == self.tokens, stop
        ms = (seconds - stop.stats.prefill_seconds) / len(steps) * 1e3
        return Run(name, ms, seconds, steps, stop)

    def prompts(self, question: framing.Question, name: str) -> BranchPrompts:
        noise = "question" if name.startswith("cad") else "lowest"
        return framing.branch_prompts(self.generator, question, noise=noise)


def threshold(runs: Sequence[Run]) -> float:
    """The risk that 15 % of the tokens of these answers reach."""
    totals = [step.risk.total for run in runs for step in run.steps if step.risk]
    return float(np.quantile([total for total in totals if total is not None], 0.85))


def decoders(delta: float) -> dict[str, DecoderOptions]:
    return {
        "plain": PlainOptions(),
        "fke": FkeOptions(),
        "drag": DragOptions(delta=delta),
        "drag-all": DragOptions(tokens="all"),
        "cad": CadOptions(),
    }


def naive_ms(bench: Bench, question: framing.Question, name: str) -> tuple[float, float]:
    """Milliseconds to evaluate the main and the second prompt anew."""
    prompts = bench.prompts(question, name)
    second = prompts.fine if name == "fke" else prompts.noise
    assert second is not None
    costs = []
    for prompt in (prompts.main, second):
        taken = []
        for _ in range(NAIVE_STEPS):
            bench.untapped.start({0: prompt.tokens})
            started = bench.clock()
            bench.untapped.advance([Feed(0)])
            taken.append(bench.clock() - started)
        costs.append(statistics.median(taken) * 1e3)
    return costs[0], costs[1]


def shared_prefill(bench: Bench, questions: Sequence[framing.Question]) -> tuple[float, float, int]:
    """Seconds to read four prompts over the same documents together and apart, and tokens."""
    documents = questions[0].passages[:3]
    asked = [questions[i % len(questions)].text + "?" * (i // len(questions)) for i in range(4)]
    prompts = [
        framing.framed(bench.generator, text, documents, framing.LONG).tokens for text in asked
    ]
    with bench.generator.session(4, tap=False) as session:
        session.start(dict(enumerate(prompts)))
        started = bench.clock()
        session.advance([Feed(i) for i in range(4)])
        together = bench.clock() - started
        apart = 0.0
        for prompt in prompts:
            session.start({0: prompt})
            started = bench.clock()
            session.advance([Feed(0)])
            apart += bench.clock() - started
    return together, apart, sum(map(len, prompts))


def measure(bench: Bench, questions: Sequence[framing.Question], repeats: int) -> dict[str, Any]:
    """All runs, interleaved: by repeat, by question, by decoder."""
    delta = threshold([bench.run("plain", question, PlainOptions()) for question in questions])
    for _ in range(2):  # a calibrated answer goes another way than a plain one, with other risks
        delta = threshold(
            [bench.run("drag", question, DragOptions(delta=delta)) for question in questions]
        )
    table = decoders(delta)
    runs: dict[str, list[Run]] = {}
    for _ in range(repeats):
        for question in questions:
            for name in NAMES:
                runs.setdefault(name, []).append(bench.run(name, question, table[name]))
            runs.setdefault("plain, no tap", []).append(
                bench.run("plain", question, table["plain"], tap=False)
            )
            for name in ("fke", "drag-all"):
                step = bench.run(name, question, table[name], draft=False)
                runs.setdefault(f"{name}, lock-step", []).append(replace(step, name=name))
    naive = {name: naive_ms(bench, questions[0], name) for name in NAMES[1:]}
    return {"runs": runs, "naive": naive, "prefill": shared_prefill(bench, questions)}


def document(found: dict[str, Any]) -> dict[str, Any]:
    """The `--json` document."""
    ms = {name: statistics.median(run.ms for run in runs) for name, runs in found["runs"].items()}
    drag = [run.stop.stats for run in found["runs"]["drag"]]
    fraction = sum(one.calibrated for one in drag) / sum(one.tokens for one in drag)
    shares = {"fke": 1.0, "drag": fraction, "drag-all": 1.0, "cad": 1.0}
    together, apart, _ = found["prefill"]
    return {
        "ms_per_token": {name: round(value, 3) for name, value in ms.items()},
        "ratio": {name: round(ms[name] / ms["plain"], 3) for name in NAMES[1:]}
        | {"tap": round(ms["plain"] / ms["plain, no tap"], 3)},
        "calibrated_fraction": round(fraction, 3),
        "prefill_ratio_shared": round(together / apart, 3),
        "naive_ratio": {
            name: round((main + shares[name] * second) / ms["plain"], 1)
            for name, (main, second) in found["naive"].items()
        },
    }


def table(found: dict[str, Any], shown: dict[str, Any]) -> str:
    lines = [
        "decoder             ms/token  ratio  accepted  draft  main/token  second/token  seconds"
    ]
    for name, runs in found["runs"].items():
        stats = [run.stop.stats for run in runs]
        tokens = sum(one.tokens for one in stats)
        drafted = sum(one.drafted for one in stats)
        rounds = max(1, sum(one.rounds for one in stats))
        accepted = sum(one.accepted for one in stats) / drafted if drafted else 1.0
        lines.append(
            f"{name:18}  {shown['ms_per_token'][name]:8.2f}"
            f"  {shown['ms_per_token'][name] / shown['ms_per_token']['plain']:5.2f}"
            f"  {accepted:8.2f}  {drafted / rounds:5.1f}"
            f"  {sum(one.fed_main for one in stats) / tokens:10.2f}"
            f"  {sum(one.fed_second for one in stats) / tokens:12.2f}"
            f"  {statistics.median(run.seconds for run in runs):7.2f}"
        )
    together, apart, tokens = found["prefill"]
    lines += [
        f"tap {shown['ratio']['tap']:.3f}, calibrated {shown['calibrated_fraction']:.1%}",
        f"prefill {tokens / together:.0f} tokens/s shared, {tokens / apart:.0f} apart",
        f"naive against plain: {shown['naive_ratio']}",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", help="a GGUF file; default: the bundled model")
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    clock = time.process_time if asked.cpu else time.perf_counter
    lanes.clock = clock
    questions = framing.hotpot(DATA, asked.questions)
    path = Path(asked.model) if asked.model else resolve_model(None).path
    with open_generator(path, threads=asked.threads) as generator:
        ends = end_tokens(generator.vocabulary)
        with generator.session(2) as tapped, generator.session(2, tap=False) as untapped:
            bench = Bench(
                generator, Talkative(tapped, ends), Talkative(untapped, ends), asked.tokens, clock
            )
            found = measure(bench, questions, asked.repeats)
    shown = document(found)
    print(json.dumps(shown) if asked.json else table(found, shown))


def end_tokens(vocabulary: Vocabulary) -> list[int]:
    return [token for token in range(vocabulary.size) if vocabulary.is_end(token)]


if __name__ == "__main__":
    main()
