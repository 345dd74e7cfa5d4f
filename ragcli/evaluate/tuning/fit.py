"""What a part of the tuning comes to: values, and how good they are on questions not used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragcli.decoding.options import Value
from ragcli.evaluate.metrics.bootstrap import Interval


@dataclass(frozen=True, slots=True)
class Fit:
    """A part's values and their worth.

    values: fitted, by full key; before: those in force, same keys. measure: what the scores are.
    default: the score of what is in force; held_in: of the fitted values on the questions that
    they were fitted on; crossed: on each question, of values fitted without its fold; gain:
    crossed against default, paired (for delta: how far the share was off, less how far it is).
    keep: the fitted values are to be used; why: in a sentence, for people. folds: the values
    that each fold chose. facts: more numbers of the part.
    """

    part: str
    questions: int
    values: dict[str, Value]
    before: dict[str, Value]
    measure: str
    default: Interval
    held_in: Interval
    crossed: Interval
    gain: Interval
    keep: bool
    why: str
    folds: tuple[dict[str, Value], ...]
    facts: dict[str, Any]

    @property
    def changed(self) -> dict[str, Value]:
        """The fitted values that are not those in force."""
        return {key: value for key, value in self.values.items() if value != self.before[key]}
