"""The stages of training: a supervised start, individual and integrated feedback (paper 002, 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.selection.organiser import organise
from ragcli.train.agreement import kappa, pair_accuracy
from ragcli.train.checkpoint import Checkpoint
from ragcli.train.epochs import Epochs, Resumable
from ragcli.train.examples import Example
from ragcli.train.feedback import Asked, Feedback
from ragcli.train.losses import info_nce, integrated, terms
from ragcli.train.options import INTEGRATED, STAGES, Stage, TrainOptions
from ragcli.train.plackett import log_partial, sample

Values = Mapping[str, Sequence[float]]  # helpfulness by question id, the placeholder's last
Watch = Callable[[str, int, int], None]
_TRIES = 8  # draws until two orders differ


class Trainable(Resumable, Protocol):
    """See `ragcli.train.scorer.Scorer`."""

    def scores(self, question: str, sentences: Sequence[str], *, drop: bool = False) -> Any: ...
    def values(self, question: str, sentences: Sequence[str]) -> NDArray[np.float64]: ...
    def constant(self, values: NDArray[np.float64]) -> Any: ...
    def add(self, loss: Any) -> float: ...
    def update(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Preference:
    """Two orders of one question; `win` makes the answer likelier. flipped: `win` was drawn second.

    Orders are indices of candidates; the last one is the placeholder, whose index is their number.
    """

    example: Example
    win: tuple[int, ...]
    lose: tuple[int, ...]
    flipped: bool


def texts(example: Example) -> list[str]:
    """The candidates as the organiser reads them."""
    return [one.titled for one in example.candidates]


def supervised(examples: Sequence[Example]) -> dict[str, list[float]]:
    """Values of the warm start: what holds the answer, then nothing, then the rest.

    Questions of which no sentence is known to hold it are left out.
    """
    return {
        one.id: [1.0 if candidate.gold else -1.0 for candidate in one.candidates] + [0.0]
        for one in examples
        if any(candidate.gold for candidate in one.candidates)
    }


def individual_requests(example: Example) -> list[Asked]:
    """What stage 1 asks the generator: the answer after each sentence, and after none."""
    orders = [*((one,) for one in example.candidates), ()]
    return [Asked(example.question, example.answer, order) for order in orders]


def organised_request(example: Example, order: Sequence[int]) -> Asked:
    """The answer after an order, whose last item is the placeholder."""
    chosen = tuple(example.candidates[at] for at in order[:-1])
    return Asked(example.question, example.answer, chosen)


class Trainer:
    """Runs stages one after another; each ends with its best development numbers."""

    def __init__(
        self,
        scorer: Trainable,
        feedback: Feedback | None,
        options: TrainOptions,
        checkpoint: Checkpoint,
        watch: Watch = lambda what, done, total: None,
    ) -> None:
        self._scorer, self._feedback, self._options = scorer, feedback, options
        self._checkpoint, self._watch = checkpoint, watch

    def ranked(
        self, name: str, training: Sequence[Example], development: Sequence[Example], values: Values
    ) -> None:
        """Warm start or individual feedback: InfoNCE over what `values` orders."""
        learnt = [one for one in training if one.id in values]
        held = [one for one in development if one.id in values]
        stage = self._options.stage(name)

        def epoch(number: int) -> float:
            return self._ranked_epoch(name, stage, learnt, values, number)

        steps = stage.epochs * -(-len(learnt) // stage.batch)
        self._run(name, stage, steps, epoch, lambda: self.judge_ranked(held, values))

    def compared(
        self,
        training: Sequence[Example],
        development: Sequence[Example],
        before: Values,
        held: Sequence[Preference],
    ) -> None:
        """Integrated feedback: DPO on orders drawn from the model as it is (section 3.2).

        before: scores under the frozen reference, by question id, of both parts. held: known
        preferences between orders of the development part. What is best is told by how likely
        the answers are after the model's own orders (eq. 1): the loss on orders that the
        reference drew grows as the model learns to leave them.
        """
        stage = self._options.integrated
        pairs = max(1, self._options.pairs // max(1, stage.epochs))

        def epoch(number: int) -> float:
            return self._compared_epoch(stage, training, before, pairs, number)

        steps = stage.epochs * -(-pairs // stage.batch)

        def judge() -> dict[str, float]:
            return {**self.judge_compared(held, before), **self.likelihood(development)}

        self._run(INTEGRATED, stage, steps, epoch, judge, "surprise")

    def preferences(
        self, examples: Sequence[Example], scores: Values, rng: np.random.Generator
    ) -> list[Preference]:
        """Two orders a question, drawn from the scores and compared by the generator (eq. 6).

        Questions whose draws are all alike, or are as good, are left out.
        """
        assert self._feedback is not None
        drawn = []
        for one in examples:
            array = np.asarray(scores[one.id], np.float64)
            first = sample(array, len(array) - 1, rng)
            others = (sample(array, len(array) - 1, rng) for _ in range(_TRIES))
            second = next((order for order in others if order != first), None)
            if second is not None:
                drawn.append((one, first, second))
        asked = [organised_request(one, order) for one, *pair in drawn for order in pair]
        likely = iter(self._feedback.scores(asked))
        found = []
        for (one, first, second), a, b in zip(drawn, likely, likely, strict=False):
            if a != b:
                win, lose = (first, second) if a > b else (second, first)
                found.append(Preference(one, win, lose, b > a))
        return found

    def likelihood(self, examples: Sequence[Example]) -> dict[str, float]:
        """Surprise: mean -log P of the answers after the sentences as the model organises them."""
        assert self._feedback is not None
        if not examples:
            return {}
        asked = []
        for one in examples:
            *scores, placeholder = self._scorer.values(one.question, texts(one)).tolist()
            order = organise(scores, placeholder).kept
            asked.append(organised_request(one, (*order, len(scores))))
        return {"surprise": -float(np.mean(self._feedback.scores(asked)))}

    def judge_ranked(self, examples: Sequence[Example], values: Values) -> dict[str, float]:
        """Loss and pair accuracy on questions with values."""
        losses, right, pairs = [], 0, 0
        rng = np.random.default_rng(self._options.seed)
        for one in examples:
            scores = self._scorer.values(one.question, texts(one))
            chosen = terms(values[one.id], rng, self._options.negatives)
            if chosen:
                loss = info_nce(self._scorer.constant(scores), chosen, self._options.tau)
                losses.append(float(loss))
            good, all_ = pair_accuracy(scores.tolist(), values[one.id])
            right, pairs = right + good, pairs + all_
        if not losses:
            return {}
        return {"loss": float(np.mean(losses)), "pair_accuracy": right / max(1, pairs)}

    def judge_compared(self, held: Sequence[Preference], before: Values) -> dict[str, float]:
        """Loss, agreement with the generator and Cohen's kappa (Figure 3) on known preferences."""
        if not held:
            return {}
        losses, generator, model = [], [], []
        for one in held:
            scores = self._scorer.values(one.example.question, texts(one.example))
            losses.append(float(self._loss(self._scorer.constant(scores), one, before)))
            gap = log_partial(scores, one.win) - log_partial(scores, one.lose)
            generator.append(one.flipped)
            model.append(one.flipped if gap > 0 else not one.flipped)
        agreed = np.mean([a == b for a, b in zip(generator, model, strict=True)])
        return {
            "loss": float(np.mean(losses)),
            "agreement": float(agreed),
            "kappa": kappa(generator, model),
        }

    def _loss(self, scores: Any, one: Preference, before: Values) -> Any:
        frozen = self._scorer.constant(np.asarray(before[one.example.id], np.float64))
        options = self._options
        return integrated(scores, frozen, one.win, one.lose, options.beta, options.weight)

    def _ranked_epoch(
        self, name: str, stage: Stage, learnt: Sequence[Example], values: Values, number: int
    ) -> float:
        rng = self._rng(name, number)
        losses: list[float] = []
        for batch in _batches(rng.permutation(len(learnt)), stage.batch):
            self._watch(f"{name}, epoch {number + 1}", len(losses), len(learnt))
            for at in batch:
                one = learnt[at]
                chosen = terms(values[one.id], rng, self._options.negatives)
                if chosen:
                    scores = self._scorer.scores(one.question, texts(one), drop=True)
                    loss = info_nce(scores, chosen, self._options.tau) / len(batch)
                    losses.append(self._scorer.add(loss) * len(batch))
            self._scorer.update()
        return float(np.mean(losses)) if losses else 0.0

    def _compared_epoch(
        self, stage: Stage, training: Sequence[Example], before: Values, pairs: int, number: int
    ) -> float:
        rng = self._rng(INTEGRATED, number)
        order = np.concatenate(
            [rng.permutation(len(training)) for _ in range(-(-pairs // len(training)))]
        )[:pairs]
        losses: list[float] = []
        for done, batch in enumerate(_batches(order, stage.batch)):
            self._watch(f"{INTEGRATED}, epoch {number + 1}", done * stage.batch, pairs)
            examples = [training[at] for at in batch]
            now = {
                one.id: self._scorer.values(one.question, texts(one)).tolist() for one in examples
            }
            found = self.preferences(examples, now, rng)
            for one in found:
                scores = self._scorer.scores(one.example.question, texts(one.example))
                loss = self._loss(scores, one, before) / len(found)
                losses.append(self._scorer.add(loss) * len(found))
            if found:
                self._scorer.update()
        return float(np.mean(losses)) if losses else 0.0

    def _run(
        self,
        name: str,
        stage: Stage,
        steps: int,
        epoch: Callable[[int], float],
        judge: Callable[[], dict[str, float]],
        by: str = "loss",
    ) -> None:
        epochs = Epochs(self._scorer, self._checkpoint, name, epoch, judge, by)
        epochs.run(stage.rate, steps, stage.epochs, self._options.patience)

    def _rng(self, name: str, number: int) -> np.random.Generator:
        return np.random.default_rng([self._options.seed, STAGES.index(name), number])


def _batches(order: NDArray[np.int64], size: int) -> Iterator[list[int]]:
    for start in range(0, len(order), size):
        yield [int(at) for at in order[start : start + size]]
