"""`evidence.enough`: the score of the evidence from which an answer is tried.

Each question is judged with its source there and with it taken away; nothing is generated. The
threshold is the one with the largest Youden J (abstained without the source, less abstained with
it) of those that abstain on at most a given share of the questions whose source is there.
Youden, Index for rating diagnostic tests, 1950; the bound is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragcli.evaluate.metrics.bootstrap import Interval, mean_interval, paired_difference
from ragcli.evaluate.tuning.fit import Fit
from ragcli.evaluate.tuning.folds import Numbers, by_fold, folds, held_out

KEY = "evidence.enough"
MOST = 0.15  # of the questions with their source


@dataclass(frozen=True, slots=True)
class Weighed:
    """Evidence on one question. refused: by rules that no threshold of the score changes."""

    score: float
    refused: bool = False

    def abstains(self, enough: float) -> bool:
        return self.refused or self.score < enough


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its source there, and with it taken away."""

    id: str
    there: Weighed
    gone: Weighed

    def youden(self, enough: float) -> float:
        """1, 0 or -1: abstained where it should, less abstained where it should not."""
        return float(self.gone.abstains(enough)) - float(self.there.abstains(enough))


def candidates(judged: Sequence[Judged], in_force: float) -> list[float]:
    """Every way to part the scores, half-way between neighbours, and what is in force."""
    scores = sorted({w.score for one in judged for w in (one.there, one.gone)})
    middles = [round((low + high) / 2, 3) for low, high in pairwise(scores)]
    return sorted({in_force, 0.0, *(one for one in middles if 0 <= one <= 2)})


def choose(judged: Sequence[Judged], in_force: float, most: float = MOST) -> float:
    """The threshold by the rule above; among equals the nearest to what is in force.

    Where the other rules alone abstain too often, the one with the fewest abstentions.
    """

    def rank(enough: float) -> tuple[bool, float, float]:
        with_source = _rate([one.there for one in judged], enough)
        within = with_source <= most + 1e-9
        j = sum(one.youden(enough) for one in judged)
        return within, j if within else -with_source, -abs(enough - in_force)

    return max(candidates(judged, in_force), key=rank)


def fit_abstention(
    judged: Sequence[Judged], *, in_force: float, k: int, seed: int, most: float = MOST
) -> Fit:
    """The threshold on these questions, and each fold's on the others.

    It is kept where J is larger beyond noise on held-out questions, or where what is in force
    breaks the bound beyond noise. Raises UsageError for fewer questions than folds.
    """
    parts = folds(len(judged), k, seed)
    enough = choose(judged, in_force, most)

    def inside(numbers: Numbers) -> float:
        return choose([judged[at] for at in numbers], in_force, most)

    chosen = by_fold(parts, inside)
    crossed = held_out(parts, chosen, lambda one, at: judged[at].youden(one))
    before = [one.youden(in_force) for one in judged]
    gain = paired_difference(crossed, before, seed=seed)
    strict = _abstained([one.there for one in judged], in_force, seed)
    breaks = strict.low is not None and strict.low > most
    better = gain.low is not None and gain.low > 0
    return Fit(
        "abstain", len(judged), {KEY: enough}, {KEY: in_force}, "Youden J",
        mean_interval(before, seed=seed),
        mean_interval([one.youden(enough) for one in judged], seed=seed),
        mean_interval(crossed, seed=seed),
        gain, (better or breaks) and enough != in_force,
        _why(in_force, strict, breaks, better, most),
        tuple({KEY: one} for one in chosen),
        {
            "most": most,
            "default_with_source": strict.estimate,
            "default_without_source": _rate([one.gone for one in judged], in_force),
            "with_source": _rate([one.there for one in judged], enough),
            "without_source": _rate([one.gone for one in judged], enough),
            "crossed_with_source": _mean(
                held_out(parts, chosen, lambda one, at: judged[at].there.abstains(one))
            ),
            "crossed_without_source": _mean(
                held_out(parts, chosen, lambda one, at: judged[at].gone.abstains(one))
            ),
        },
    )  # fmt: skip


def _why(in_force: float, strict: Interval, breaks: bool, better: bool, most: float) -> str:
    if breaks:
        return (
            f"{in_force:g} abstains on {strict.estimate:.0%} of the questions whose source is"
            f" there, more than {most:.0%} beyond noise"
        )
    return f"on held-out questions {'better' if better else 'not better'} beyond noise"


def _abstained(weighed: Sequence[Weighed], enough: float, seed: int) -> Interval:
    return mean_interval([float(one.abstains(enough)) for one in weighed], seed=seed)


def _rate(weighed: Sequence[Weighed], enough: float) -> float:
    return _mean([float(one.abstains(enough)) for one in weighed])


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6)
