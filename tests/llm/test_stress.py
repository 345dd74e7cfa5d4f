"""Branches of the real engine under a random program, against fresh contexts.

The tiny model is float32, its cache float16: fresh and shared contexts differ by rounding,
at most EXACT (logits are within about 10 of 0; the median difference is 4e-6). Faults that
bookkeeping could make, planted beneath it, must show twenty times larger.

The bundled model multiplies quantised numbers: its logits depend on the shapes of batches
and, through the order of sums, on the order of cells. There the fresh context decodes in
batches of the same shapes, and rows differ by at most NOISE; their choices are the same
unless the two best tokens are closer than twice that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from ragcli.llm.backend import Batch, Status
from ragcli.llm.base import Feed
from ragcli.llm.context import Context, ContextOptions
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import C, open_generator
from ragcli.llm.session import BranchSession
from ragcli.llm.tap import Tap
from tests.llm import tiny
from tests.llm.program import Program, Reference, differences
from tests.llm.recorder import Recorder, expected_rows

EXACT, NOISE = 5e-3, 1.5
BRANCHES = 4
WORDS = np.random.default_rng(3).integers(0, tiny.VOCABULARY, 3000).tolist()
TEXT = (
    "The lighthouse keeper wrote down the weather every evening. In March the wind came from "
    "the north, and two ships waited in the bay. A letter arrived by boat on the ninth. "
)


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaGenerator]:
    path = tiny.write_llama(tmp_path_factory.mktemp("tiny") / "llama.gguf")
    with open_generator(path, threads=1) as generator:
        yield generator


def made(
    generator: LlamaGenerator, sequences: int, *, n_batch: int = 128, kind: type[Context] = Context
) -> Context:
    options = ContextOptions(threads=generator._options.threads, n_batch=n_batch)
    tap = Tap(generator.tap_layers) if generator.tap_available else None
    return kind(generator._model, 1024, sequences, options, tap=tap)


def run_tiny(
    generator: LlamaGenerator, steps: int, kind: type[Context] = Context, n_batch: int = 128
) -> tuple[float, float, int]:
    """(largest difference of a logit, of an attention weight, rows)."""
    reasons: list[str] = []
    busy = made(generator, BRANCHES + 1, n_batch=n_batch, kind=kind)
    with (
        BranchSession(
            lambda _n: busy, BRANCHES, limit=1024, n_ctx=1024, no_tap=reasons.append
        ) as s,
        BranchSession(lambda _n: made(generator, 2), 1, limit=1024, n_ctx=1024) as fresh,
    ):
        seen = Program(s, WORDS, seed=5).run(steps)
        found = differences(seen, Reference(fresh))
    assert kind is not Context or not reasons
    return float(found[:, 0].max()), float(found[:, 1].max()), len(found)


@pytest.mark.parametrize("n_batch", [128, 7])  # 7: prompts are cut into many batches
def test_rows_are_those_of_fresh_contexts(transformer: LlamaGenerator, n_batch: int) -> None:
    logits, attention, rows = run_tiny(transformer, 1000, n_batch=n_batch)
    assert rows > 1500
    assert logits < EXACT
    assert attention < EXACT


class Faulty(Context):
    """Does one thing wrong, at every 10th opportunity."""

    opportunities = 0

    def due(self) -> bool:
        self.opportunities += 1
        return self.opportunities % 10 == 0


class ForeignCell(Faulty):
    """A token sees one more cell: another sequence's."""

    def decode(self, batch: Batch) -> Status:
        mine = batch.sequences[0][0]
        last = {
            other: C.llama_memory_seq_pos_max(self._memory, other)
            for other in range(BRANCHES)
            if other != mine
        }
        other = max(last, key=lambda sequence: last[sequence])
        at = min(last[other], int(batch.positions[0]) - 1)
        if len(batch) < 4 and at > 1 and self.due():
            C.llama_memory_seq_cp(self._memory, other, mine, at, at + 1)
        return super().decode(batch)


class ShiftedPosition(Faulty):
    """A cell is taken for one that is a position earlier."""

    def decode(self, batch: Batch) -> Status:
        at = int(batch.positions[0]) - 2
        if len(batch) < 4 and at > 1 and self.due():
            C.llama_memory_seq_add(self._memory, batch.sequences[0][0], at, at + 1, -1)
        return super().decode(batch)


class CellLeft(Faulty):
    """A cut leaves one cell behind."""

    def remove(self, sequence: int, start: int) -> None:
        last = C.llama_memory_seq_pos_max(self._memory, sequence)
        if 2 < start <= last and self.due():
            C.llama_memory_seq_add(self._memory, sequence, start, start + 1, -1)
        super().remove(sequence, start)


@pytest.mark.parametrize("kind", [ForeignCell, ShiftedPosition, CellLeft])
def test_planted_faults_show(transformer: LlamaGenerator, kind: type[Faulty]) -> None:
    logits, _, _ = run_tiny(transformer, 300, kind)
    assert logits > 20 * EXACT


def test_a_model_whose_memory_cannot_be_cut_gives_the_same_rows(tmp_path: Path) -> None:
    with open_generator(tiny.write_mamba(tmp_path / "mamba.gguf"), threads=1) as generator:
        assert "recurrent" in generator.tap_reason
        logits, _, rows = run_tiny(generator, 200)
    assert rows > 200
    assert logits < EXACT


@pytest.mark.model
def test_the_bundled_model_too(generator: LlamaGenerator) -> None:
    words = generator.vocabulary.tokenize(TEXT * 3)
    recorder = Recorder(made(generator, BRANCHES + 1))
    with BranchSession(lambda _n: recorder, BRANCHES, limit=1024, n_ctx=1024) as session:
        Program(session, words, seed=5).run(40)
    fresh = made(generator, 2)
    pairs = expected_rows(recorder, fresh, np.array(words, np.int32)[::-1].copy())
    fresh.close()
    assert len(pairs) > 40
    for given, expected in pairs:
        assert np.abs(given - expected).max() < NOISE
        if given.argmax() != expected.argmax():
            second, first = np.sort(expected)[-2:]
            assert first - second < 2 * NOISE
    assert generator.tap_reason == ""  # the engine's mask agreed with the books at every row


def test_memory_stays_flat(transformer: LlamaGenerator) -> None:
    """Contexts made, grown and closed: the last quarter as large as the second, within 2 %."""
    process, sizes = psutil.Process(), []
    for question in range(200):
        with transformer.session(2) as session:
            session.start({0: WORDS[question : question + 40], 1: WORDS[:30]})
            session.advance([Feed(0), Feed(1)])
            session.start({0: WORDS[: 300 + question % 7], 1: WORDS[:900]})  # larger: replaced
            session.advance([Feed(0, [1, 2, 3], "all")])
        sizes.append(process.memory_info().rss)
    assert np.mean(sizes[150:]) < 1.02 * np.mean(sizes[50:100])


def test_many_questions_in_one_session_leave_nothing_behind(transformer: LlamaGenerator) -> None:
    with transformer.session(2) as session:
        first = []
        for question in range(50):
            session.start({0: WORDS[:200], 1: WORDS[:100] + WORDS[300:350]})
            session.advance([Feed(0), Feed(1)])
            (output,) = session.advance([Feed(1, WORDS[question : question + 3])])
            session.start({0: WORDS[:40]})
            (output,) = session.advance([Feed(0)])
            first.append(output.logits.tobytes())
    assert len(set(first)) == 1  # to the bit: a start is a fresh start
