"""Per-token risk made visible: colour and underline, or marks where neither can be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.render.terminal import Piece, clean
from ragcli.text.normalise import safe_for_terminal
from ragcli.types import AnswerSentence, Step

# Strong highlights start at so many times the risk from which a token is highlighted. The 95th
# percentile of development tokens is 1.3 to 1.6 times the default drag.delta where retrieval
# scores the documents, 2.3 times with an analyzer.
HIGH_FACTOR = 2.0

_STYLE = ("", "risk", "high-risk")
_MARKS = (("", ""), ("‹", "›"), ("«", "»"))


@dataclass(frozen=True, slots=True)
class Levels:
    """Risk from which a token is highlighted, and strongly so."""

    risky: float
    high: float

    def of(self, step: Step) -> int:
        """0, 1 or 2. A token whose risk is unknown is not highlighted."""
        total = step.risk.total if step.risk is not None else None
        if total is None or total < self.risky:
            return 0
        return 2 if total >= self.high else 1


def pieces(steps: Sequence[Step], levels: Levels, *, styled: bool) -> list[Piece]:
    """The tokens' text; risky ones styled, or between marks. Blanks stay unmarked."""
    found: list[Piece] = []
    for step in steps:
        text = safe_for_terminal(step.text)
        body = text.strip()
        level = levels.of(step) if body else 0
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        if not level:
            found.append(text)
        elif styled:
            found += [before, (body, _STYLE[level]), after]
        else:
            opening, closing = _MARKS[level]
            found.append(f"{before}{opening}{body}{closing}{after}")
    return found


def legend(levels: Levels, *, styled: bool) -> list[Piece]:
    """What the highlights mean."""
    names: list[Piece] = (
        [("risky", "risk"), " ", ("very risky", "high-risk")]
        if styled
        else ["‹risky› «very risky»"]
    )
    return [
        *names,
        (f"  tokens of irrelevance risk from {levels.risky:g} and {levels.high:g}", "dim"),
    ]


def steps_of(sentence: AnswerSentence, steps: Sequence[Step]) -> list[Step]:
    """The steps whose text makes up the sentence: those that begin within its span.

    Empty where the steps' texts do not add up to the answer (it was cut or cleaned).
    """
    found: list[Step] = []
    raw = "".join(step.text for step in steps)
    position = len(raw.lstrip()) - len(raw)  # the answer begins with its first character
    for step in steps:
        begin = position + len(step.text) - len(step.text.lstrip())
        if sentence.span.start <= begin < sentence.span.end and step.text:
            found.append(step)
        position += len(step.text)
    joined = clean("".join(step.text for step in found))
    return found if joined == clean(sentence.text) else []
