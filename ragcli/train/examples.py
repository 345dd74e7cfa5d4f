"""What an organiser is trained on: questions with answers, and sentences that may help. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcli.text.words import fold

MOST_CANDIDATES = 24
RANDOM = 4  # of them
MOST_GOLD = 12  # of them


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence under its document's heading. gold: whether it holds what is asked for."""

    text: str
    title: str = ""
    gold: bool = False

    @property
    def titled(self) -> str:
        """The sentence under its title, as the organiser reads it."""
        return f"{self.title}: {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its answer and the sentences to organise, in the retriever's order.

    answers: aliases, of which the first is what the generator's probability is asked of.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    @property
    def answer(self) -> str:
        return self.answers[0]


def choose(
    gold: Sequence[Candidate],
    ranked: Sequence[Candidate],
    pool: Sequence[Candidate],
    seed: str,
    most: int = MOST_CANDIDATES,
) -> tuple[Candidate, ...]:
    """At most `most`: sentences of the needed passages, the retriever's best, four at random.

    gold: the first half of `most` of them. ranked: best first. pool: what the random ones are
    drawn from. Each text once; those of `ranked` keep their order, the others follow.
    """
    wanted = list(dict.fromkeys(gold))[: max(1, most // 2)]
    taken = {one.text for one in wanted}
    drawn = _drawn([one for one in pool if one.text not in taken], ranked, most, len(taken), seed)
    chosen = {one.text: one for one in (*wanted, *drawn)}
    for one in ranked:
        if len(chosen) >= most:
            break
        chosen.setdefault(one.text, one)
    place = {one.text: at for at, one in reversed(list(enumerate(ranked)))}
    return tuple(sorted(chosen.values(), key=lambda one: place.get(one.text, len(place))))


def _drawn(
    pool: Sequence[Candidate], ranked: Sequence[Candidate], most: int, taken: int, seed: str
) -> list[Candidate]:
    """Random ones, none of those that the retriever's order would bring anyway."""
    near = {one.text for one in ranked[: max(0, most - taken - RANDOM)]}
    far = [one for one in dict.fromkeys(pool) if one.text not in near]
    rng = np.random.default_rng(_number(seed))
    picked = rng.permutation(len(far))[: min(RANDOM, max(0, most - taken))]
    return [far[at] for at in picked]


def split(
    examples: Sequence[Example], share: float, seed: int
) -> tuple[list[Example], list[Example]]:
    """Training and development part, by a hash of the ids: the same whatever else is there."""
    held = held_aside([one.id for one in examples], share, seed)
    ordered = sorted(examples, key=lambda one: _number(f"{seed}/{one.id}"))
    return [o for o in ordered if o.id not in held], [o for o in ordered if o.id in held]


def held_aside(ids: Sequence[str], share: float, seed: int) -> frozenset[str]:
    """The share of the ids that no stage learns from; never all of them."""
    ordered = sorted(ids, key=lambda one: _number(f"{seed}/{one}"))
    return frozenset(ordered[: max(0, min(len(ordered) - 1, round(share * len(ordered))))])


def says(text: str, answers: Sequence[str]) -> bool:
    """Whether the text holds one of the answers, whatever its case (the paper's fuzzy match)."""
    folded = _plain(text)
    return any(
        _plain(answer).strip() and f" {_plain(answer).strip()} " in folded for answer in answers
    )


def _plain(text: str) -> str:
    kept = "".join(one if one.isalnum() else " " for one in fold(text))
    return f" {' '.join(kept.split())} "


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
