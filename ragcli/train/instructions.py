"""Rows as tokens: exactly what ragcli asks an analyzer, and what it should say (paper 001, eq. 9).

Eq. 9 has input and output the other way round; here the output is learnt, given the input. Of a
question's components all of the output is learnt; of scores only those, since ragcli writes the
rest itself and reads them off the probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragcli.llm.base import Generator
from ragcli.llm.prompts import analyzer as prompt
from ragcli.selection.analyzers import mentions
from ragcli.selection.trained import (
    believed,
    elements_prompt,
    level,
    level_tokens,
    scores_prompt,
)
from ragcli.text.language import detect
from ragcli.text.words import keys_of
from ragcli.train.analyzer_data import Elements, Relevance, Row
from ragcli.types import Component

Kind = Literal["elements", "scores"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """Input and output in one. learnt: ascending places of the tokens that are learnt."""

    kind: Kind
    question: str
    tokens: tuple[int, ...]
    learnt: tuple[int, ...]


def instructions(rows: Iterable[Row], generator: Generator) -> tuple[list[Instruction], list[Row]]:
    """Of all rows, and the rows that teach nothing.

    Those are rows none of whose components stands in the question, without a score that is
    learnt (an invariant component's is a mention or none), or longer than the context.
    """
    found: list[Instruction] = []
    useless: list[Row] = []
    for row in rows:
        made = [
            one
            for one in (_elements if isinstance(row, Elements) else _scores)(row, generator)  # type: ignore[arg-type]
            if len(one.tokens) <= generator.n_ctx_train
        ]
        found += made
        useless += [] if made else [row]
    return found, useless


def _elements(row: Elements, generator: Generator) -> Iterator[Instruction]:
    """Only components that ragcli would believe: what the question does not say is not taught."""
    language = detect(row.question) or "en"
    held = keys_of(row.question, language)
    components = [one for one in row.components if believed(one, held, language)]
    if not components:
        return
    asked = elements_prompt(generator, row.question).tokens.tolist()
    said = generator.vocabulary.tokenize(prompt.listed(components))
    end = generator.vocabulary.end
    tokens = (*asked, *said, *([] if end is None else [end]))
    yield Instruction("elements", row.question, tokens, tuple(range(len(asked), len(tokens))))


def _scores(row: Relevance, generator: Generator) -> Iterator[Instruction]:
    """A score after another, as `TrainedAnalyzer.scores` asks for them."""
    said = ""
    made: list[Instruction] = []
    found = mentions(row.components, [row.text])[0]
    for one, given, mentioned in zip(row.components, row.scores, found, strict=True):
        said += prompt.line(one)
        score = float(mentioned) if one.kind == "invariant" or given is None else given
        if one.kind != "invariant":
            made.append(_score(row, row.components, said, score, generator))
        said += f"{level(score)}\n"
    yield from merged(made)


def _score(
    row: Relevance,
    components: Sequence[Component],
    begun: str,
    score: float,
    generator: Generator,
) -> Instruction:
    asked = scores_prompt(generator, row.question, components, row.text, begun).tokens.tolist()
    said = level_tokens(generator.vocabulary, level(score).strip())
    places = tuple(range(len(asked), len(asked) + len(said)))
    return Instruction("scores", row.question, (*asked, *said), places)


def merged(made: Sequence[Instruction]) -> list[Instruction]:
    """Those that begin as the one before them are one with it; tokens may be cut otherwise."""
    kept: list[Instruction] = []
    for one in made:
        if kept and one.tokens[: len(kept[-1].tokens)] == kept[-1].tokens:
            before = kept.pop()
            one = Instruction(one.kind, one.question, one.tokens, (*before.learnt, *one.learnt))
        kept.append(one)
    return kept
