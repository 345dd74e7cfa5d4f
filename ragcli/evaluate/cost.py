"""What a run will take, said before it begins: the model's speed is measured, tokens are counted.

An estimate is rough by nature (answers are not written yet); rows that are there already tell
what an arm really took, and stand in for the reckoning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragcli.decoding.options import DECODERS
from ragcli.evaluate.arms import method_of
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.plan import Plan
from ragcli.evaluate.types import Arm
from ragcli.llm.base import Feed, Generator
from ragcli.types import Hit

READ, WRITTEN = 256, 6  # tokens of the measurement
_WORDS = 60  # tokens of a prompt beside its documents
_OWN = 0.4  # seconds a question beside the generator: search, encoding, attribution
_SENTENCE = 40  # tokens
_ANSWER = {"short": 8, "sentence": 40}  # tokens that are written
_SCORING = frozenset({"generator", "hybrid", "llm"})  # values of settings that have it judge
_ROUNDS = {"ggatrieval": 2.0, "crag": 1.0, "dragin": 0.5}  # further retrievals a question, about


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second: in a prompt, and one by one."""

    reading: float
    writing: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds a question, by arm; missing: answers to make, by arm. known: from rows."""

    seconds: dict[str, float]
    missing: dict[str, int]
    known: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        """Seconds of all answers to be made."""
        return sum(self.seconds[name] * n for name, n in self.missing.items())


def measure(generator: Generator, text: str) -> Speed:
    """Reads and writes a little. text: of the kind that will be read. Raises ModelError."""
    tokens = (generator.vocabulary.tokenize(text) or [1])[:READ]
    with generator.session(1, tap=False) as session:
        session.start({0: tokens[:8]})
        session.advance([Feed(0)])  # buffers are made now
        session.start({0: tokens})
        reading = _timed(lambda: session.advance([Feed(0)]))
        writing = _timed(
            lambda: [session.advance([Feed(0, (token,))]) for token in tokens[:WRITTEN]]
        )
    return Speed(len(tokens) / reading, min(len(tokens), WRITTEN) / writing)


def estimate(
    plan: Plan,
    corpus: Corpus,
    generator: Generator,
    missing: Mapping[str, int],
    taken: Mapping[str, Sequence[float]],
) -> Estimate:
    """Seconds a question for each arm. taken: what its rows took, where there are any."""
    known = {arm.name for arm in plan.arms if taken.get(arm.name)}
    seconds = {name: sum(taken[name]) / len(taken[name]) for name in known}
    left = [arm for arm in plan.arms if arm.name not in known]
    if left and any(missing.values()):
        question = plan.questions[0]
        hits = corpus.reader.search(question.text, k=10, where=corpus.where(question))
        lengths = [len(generator.vocabulary.tokenize(hit.passage.text)) for hit in hits] or [100]
        speed = measure(generator, _text(hits) or question.text)
        seconds |= {arm.name: _reckoned(arm, plan, lengths, speed) for arm in left}
    return Estimate(
        {a.name: seconds.get(a.name, 0.0) for a in plan.arms}, dict(missing), frozenset(known)
    )


def _reckoned(arm: Arm, plan: Plan, lengths: Sequence[int], speed: Speed) -> float:
    """lengths: tokens of the passages found for a question."""
    if arm.verbatim:
        return _OWN
    method, settings = method_of(arm), plan.settings(arm)
    second = DECODERS[method.decode].second
    main = sum(lengths[: int(settings.extra["retrieval.k"])])
    if arm.knowledge == "none":
        main = 0
    elif arm.knowledge == "gold" or (arm.select == "fke" and second != "fine"):
        main = settings.fke.m * _SENTENCE
    read = main + _WORDS
    if second:
        read += settings.fke.m * _SENTENCE if second == "fine" else lengths[-1]
    rounds = 1 + max(_ROUNDS.get(method.name, 0.0), _ROUNDS.get(method.base, 0.0))
    if _SCORING & {text.partition("=")[2] for text in (*plan.assignments, *arm.settings)}:
        read += 2 * sum(lengths)
    written = _ANSWER[str(settings.extra["answer.style"])]
    return _OWN * rounds + read * rounds / speed.reading + written / speed.writing


def _text(hits: Sequence[Hit]) -> str:
    return " ".join(hit.passage.text for hit in hits[:4])


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return max(time.perf_counter() - began, 1e-6)
