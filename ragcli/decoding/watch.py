"""Risk and attention of the token about to be chosen, from the main branch's own row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragcli.decoding.lanes import Row
from ragcli.decoding.options import DragOptions
from ragcli.decoding.risk import (
    attention_risk,
    combine,
    document_masses,
    prediction_risk,
    source_masses,
)
from ragcli.llm.base import EncodedPrompt
from ragcli.types import Risk


@dataclass(frozen=True, slots=True)
class RiskContext:
    """What risk needs to know of the question and of the documents in the main prompt.

    lexical: r_lex of the question, 1 without an analyzer. document_scores: s_i in [0, 1]
    by document slot. source: what gave the scores, for people ("retrieval", an analyzer).
    """

    lexical: float
    document_scores: tuple[float, ...]
    source: str

    def __post_init__(self) -> None:
        if not self.lexical >= 0 or not all(0 <= s <= 1 for s in self.document_scores):
            raise ValueError("lexical risk is at least 0, document scores lie from 0 to 1")


@dataclass(frozen=True, slots=True)
class Seen:
    """attention: mass on each source sentence, empty without attention rows.

    looked: the whole row up to the predicting position, where the watch keeps rows.
    """

    risk: Risk | None
    attention: tuple[float, ...]
    looked: tuple[float, ...] = ()


class Watch:
    """Reads rows of the main branch. `blind` once a row came without attention."""

    def __init__(
        self,
        prompt: EncodedPrompt,
        context: RiskContext | None,
        reading: DragOptions,
        keep_rows: bool = False,
    ) -> None:
        self._prompt, self._context, self._reading = prompt, context, reading
        self._slots = np.array([one.document_slot for one in prompt.sources], np.intp)
        self._scores = np.array(context.document_scores if context else (), np.float64)
        if context and self._slots.size and self._slots.max() >= len(self._scores):
            raise ValueError("a document in the prompt has no score")
        self._keep_rows = keep_rows
        self.blind = False

    def see(self, row: Row, log_top: float, step: int) -> Seen:
        """log_top: log of the largest probability of the row. step: answer tokens before it."""
        prediction = prediction_risk(log_top)
        if row.attention is None:
            self.blind = True
            return Seen(self._risk(None, prediction), ())
        masses = source_masses(row.attention, self._prompt.owner, len(self._prompt.sources))
        by_document = document_masses(masses, self._slots, len(self._scores))
        how = self._reading.attention
        attention = attention_risk(by_document, self._scores, how) if self._context else None
        end = len(self._prompt) + step
        looked = tuple(row.attention[:end].tolist()) if self._keep_rows else ()
        return Seen(self._risk(attention, prediction), tuple(masses.tolist()), looked)

    def _risk(self, attention: float | None, prediction: float) -> Risk | None:
        if self._context is None:
            return None
        factors = self._reading.factors
        return combine(self._context.lexical, attention, prediction, factors)
