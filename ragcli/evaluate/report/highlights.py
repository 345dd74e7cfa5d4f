"""Where the tokens of an answer stand in its text, and which of them are marked.

The tokens' texts and the answer differ where the answer was cut or cleaned; where it does not
occur in what was written, nothing is marked in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragcli.text.normalise import safe_for_terminal

Token = Mapping[str, Any]  # as in `tokens[]` of `ragcli/answer@1`


@dataclass(frozen=True, slots=True)
class Levels:
    """Risk from which a token is marked, and strongly so."""

    risky: float
    high: float

    def of(self, token: Token) -> int:
        """0, 1 or 2. A token whose risk is unknown is not marked."""
        total = (token.get("risk") or {}).get("total")
        if total is None or total < self.risky:
            return 0
        return 2 if total >= self.high else 1


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text, safe to show. replaced: what a calibrated token stands in place of."""

    text: str
    level: int = 0
    calibrated: bool = False
    replaced: str = ""

    @property
    def marked(self) -> bool:
        return bool(self.level or self.calibrated)


@dataclass(frozen=True, slots=True)
class Mark:
    """A run's place in the answer, half open."""

    start: int
    end: int
    run: Run


def written(tokens: Sequence[Token]) -> str:
    """What the generator wrote."""
    return "".join(str(token["text"]) for token in tokens)


def marks_of(answer: str, tokens: Sequence[Token], levels: Levels) -> tuple[Mark, ...]:
    """The marked tokens of an answer, ascending; blanks around them are left out."""
    offset = written(tokens).find(answer)
    if not answer or offset < 0:
        return ()
    return tuple(
        mark
        for mark in _marks(tokens, levels, -offset)
        if mark.start >= 0 and mark.end <= len(answer)
    )


def runs_of(text: str, start: int, end: int, marks: Sequence[Mark]) -> tuple[Run, ...]:
    """text[start:end] cut at the marks; a mark that crosses an end is clipped."""
    runs: list[Run] = []
    position = start
    for mark in marks:
        begin, stop = max(mark.start, position), min(mark.end, end)
        if begin >= stop:
            continue
        if position < begin:
            runs.append(Run(safe_for_terminal(text[position:begin])))
        run = mark.run
        runs.append(
            Run(safe_for_terminal(text[begin:stop]), run.level, run.calibrated, run.replaced)
        )
        position = stop
    if position < end:
        runs.append(Run(safe_for_terminal(text[position:end])))
    return tuple(runs)


def runs_written(tokens: Sequence[Token], levels: Levels) -> tuple[Run, ...]:
    """All that was written, cut at the marked tokens."""
    text = written(tokens)
    return runs_of(text, 0, len(text), tuple(_marks(tokens, levels, 0)))


def _marks(tokens: Sequence[Token], levels: Levels, position: int) -> list[Mark]:
    found: list[Mark] = []
    for token in tokens:
        text = str(token["text"])
        body = text.strip()
        run = _run(token, body, levels)
        if run.marked and body:
            start = position + len(text) - len(text.lstrip())
            found.append(Mark(start, start + len(body), run))
        position += len(text)
    return found


def _run(token: Token, body: str, levels: Levels) -> Run:
    other = token.get("alternative")
    replaced = "" if other is None else visible(str(other))
    return Run(body, levels.of(token), bool(token.get("calibrated")), replaced)


def visible(token: str) -> str:
    """A token's text by itself: blanks and line ends can be seen."""
    text = safe_for_terminal(token)
    return text.strip() or text.replace("\n", "⏎").replace("\t", "⇥").replace(" ", "␣") or "nothing"
