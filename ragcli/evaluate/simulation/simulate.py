"""Runs a simulation: every mix of every question answered, each set of sentences once.

Rows are answers, by all that an answer depends on; points are made of them. A run that was
stopped goes on, and a finer grid or another cap pays only for the sets that are new.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ragcli.decoding.loop import BranchPrompts, generate
from ragcli.decoding.options import PlainOptions, SamplingOptions
from ragcli.evaluate.metrics.short import exact_match, token_f1
from ragcli.evaluate.simulation.analysis import Baselines, Outcome, Point, behaviour, point
from ragcli.evaluate.simulation.certainty import agreement
from ragcli.evaluate.simulation.pools import Pool
from ragcli.evaluate.simulation.reading import BlockSession
from ragcli.evaluate.simulation.sampling import (
    capped,
    draws,
    noisy,
    precision_recall_f1,
    sample,
)
from ragcli.evaluate.store import Row, Store
from ragcli.llm.base import Generator, Session
from ragcli.llm.prompts import answer, closed_book
from ragcli.llm.session import BranchSession
from ragcli.methods.fit import DEFAULT_CONTEXT, fit
from ragcli.methods.frames import ClosedBook, Plain
from ragcli.methods.stages import Selection
from ragcli.text.normalise import readable

STYLE = "short"
LONGEST = 48  # tokens of an answer


@dataclass(frozen=True, slots=True)
class Design:
    """What is simulated. cap: most sentences, None for no limit (the full baseline has none)."""

    p_gold: tuple[float, ...]
    p_noise: tuple[float, ...]
    cap: int | None = None
    noisy_gold: bool = False
    seed: int = 0
    alone: bool = False  # also each sentence by itself (appendix A.4)

    @property
    def cells(self) -> tuple[tuple[float, float], ...]:
        return tuple((gold, noise) for gold in self.p_gold for noise in self.p_noise)


@dataclass(frozen=True, slots=True)
class Mix:
    """One set of sentences of a question, and the marks it is judged by."""

    pool: Pool
    gold: tuple[bool, ...]
    chosen: tuple[int, ...]


@dataclass(slots=True)
class Result:
    """What was found on the questions that are done.

    agreement: of other draws of the questions with the verdict on the generator, None without
    one. cut: sets of sentences that did not fit into the context whole; knowledge metrics
    speak of the whole set.
    """

    points: list[Point] = field(default_factory=list)
    baselines: Baselines | None = None
    alone: list[float] = field(default_factory=list)
    questions: int = 0
    agreement: float | None = None
    cut: int = 0


def mixes(pool: Pool, design: Design) -> dict[tuple[float, float], Mix]:
    """The set of each cell."""
    name = pool.question.id
    gold = noisy(pool.gold, design.seed, name) if design.noisy_gold else pool.gold
    numbers = draws(design.seed, name, len(gold))
    return {
        (p_gold, p_noise): Mix(
            pool,
            gold,
            capped(sample(gold, p_gold, p_noise, numbers), design.cap, design.seed, name),
        )
        for p_gold, p_noise in design.cells
    }


def bounds(pool: Pool, design: Design) -> tuple[Mix, Mix, Mix]:
    """No knowledge, all of it, the sentences that count as gold; never capped."""
    name = pool.question.id
    gold = noisy(pool.gold, design.seed, name) if design.noisy_gold else pool.gold
    every = tuple(range(len(gold)))
    return (
        Mix(pool, gold, ()),
        Mix(pool, gold, every),
        Mix(pool, gold, tuple(at for at in every if gold[at])),
    )


def singles(pool: Pool) -> list[Mix]:
    """Each sentence alone."""
    return [Mix(pool, pool.gold, (at,)) for at in range(len(pool.gold))]


class Simulator:
    """Answers mixes with one generator, greedily; answers are kept in the store."""

    def __init__(self, generator: Generator, store: Store, n_ctx: int | None = None) -> None:
        self._generator, self._store = generator, store
        limit = min(n_ctx or DEFAULT_CONTEXT, generator.n_ctx_train or DEFAULT_CONTEXT)
        self._budget = max(limit - LONGEST, limit // 4)
        self._session: Session | None = None

    def close(self) -> None:
        """Frees the session; the generator stays open."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def wanted(self, pool: Pool, design: Design) -> list[Mix]:
        """All mixes of a question that differ, those with the same beginning together."""
        every = [*bounds(pool, design), *mixes(pool, design).values()]
        every += singles(pool) if design.alone else []
        once = {mix.chosen: mix for mix in every}
        return sorted(once.values(), key=lambda mix: mix.chosen)

    def missing(self, pools: Sequence[Pool], design: Design) -> list[Mix]:
        """Mixes still to be answered."""
        return [
            mix
            for pool in pools
            for mix in self.wanted(pool, design)
            if self._store.get(self.key(mix)) is None
        ]

    def key(self, mix: Mix) -> str:
        """Names an answer by all it depends on."""
        prompts = closed_book.version(STYLE) if not mix.chosen else answer.version(STYLE)
        texts = [(mix.pool.titles[at], mix.pool.sentences[at]) for at in mix.chosen]
        question = mix.pool.question
        parts = (
            self._generator.identity.sha256, prompts, self._budget, LONGEST,
            question.text, question.answers, texts,
        )  # fmt: skip
        text = json.dumps(parts).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:24]

    def run(
        self,
        pools: Sequence[Pool],
        design: Design,
        *,
        stop: Callable[[float], bool] = lambda seconds: False,
        tick: Callable[[int], None] = lambda done: None,
    ) -> Iterator[Pool]:
        """Answers question by question, and yields each when all its mixes are on the disk.

        stop: asked before each answer, with the seconds the last one took; a question that is
        not whole then is not yielded, but what it has is kept. tick: told how many answers were
        made. Raises ModelError.
        """
        made, spent = 0, 0.0
        for pool in pools:
            for mix in self.missing([pool], design):
                if stop(spent):
                    return
                began = time.monotonic()
                self._answer(mix)
                spent = time.monotonic() - began
                made += 1
                tick(made)
            yield pool

    def result(self, done: Sequence[Pool], design: Design) -> Result:
        """Points over the questions that are done. Raises ValueError for none."""
        found = Result(questions=len(done))
        by_cell: dict[tuple[float, float], list[Outcome]] = {cell: [] for cell in design.cells}
        by_bound: list[list[Outcome]] = [[], [], []]
        for pool in done:
            for cell, mix in mixes(pool, design).items():
                by_cell[cell].append(self._outcome(mix))
            for outcomes, mix in zip(by_bound, bounds(pool, design), strict=True):
                outcomes.append(self._outcome(mix))
            if design.alone:
                found.alone += [self._outcome(mix).f1 for mix in singles(pool)]
        every = by_bound[1]
        found.points = [point(*cell, outcomes, every) for cell, outcomes in by_cell.items()]
        none, full, gold = (
            point(*rates, outcomes, every)
            for rates, outcomes in zip(((0, 0), (1, 1), (1, 0)), by_bound, strict=True)
        )
        found.baselines = Baselines(none, full, gold)
        found.agreement = agreement(list(by_cell.values()), behaviour(found.points), design.seed)
        rows = [self._row(mix) for pool in done for mix in self.wanted(pool, design)]
        found.cut = sum(row["cut"] > 0 for row in rows)
        return found

    def _row(self, mix: Mix) -> Row:
        row = self._store.get(self.key(mix))
        assert row is not None, "the mix was not answered"
        return row

    def _outcome(self, mix: Mix) -> Outcome:
        row = self._row(mix)
        kp, kr, kf1 = precision_recall_f1(mix.chosen, mix.gold)
        return Outcome(kp, kr, kf1, row["em"], row["f1"], len(mix.chosen))

    def _answer(self, mix: Mix) -> None:
        question = mix.pool.question
        text, cut = self._write(mix)
        self._store.add(
            {
                "key": self.key(mix),
                "question_id": question.id,
                "sentences": list(mix.chosen),
                "answer": text,
                "em": exact_match(text, question.answers),
                "f1": token_f1(text, question.answers),
                "cut": cut,
            }
        )

    def _write(self, mix: Mix) -> tuple[str, int]:
        """The answer, and how many sentences did not fit into the context."""
        selection = Selection(mix.pool.contexts(mix.chosen))
        frame = Plain(STYLE) if mix.chosen else ClosedBook(STYLE)
        fitted = fit(
            frame(mix.pool.question.text, selection, "").main, self._generator, self._budget
        )
        steps = generate(
            self._opened(),
            self._generator.vocabulary,
            BranchPrompts(fitted.prompt),
            PlainOptions(),
            SamplingOptions(max_tokens=LONGEST),
        )
        return readable("".join(step.text for step in steps)), fitted.dropped

    def _opened(self) -> Session:
        """One session for all answers, of the size that the longest prompt needs."""
        if self._session is None:
            inner = self._generator.session(1, tap=False, n_ctx=self._budget + LONGEST + 1)
            self._session = BlockSession(inner) if isinstance(inner, BranchSession) else inner
        return self._session
