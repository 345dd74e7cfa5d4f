"""Is a passage of use for a question, and do passages suffice? Answered with one token."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "suffice-1"
SYSTEM = "You judge whether texts help to answer a question. Answer with Yes or No only."
YES, NO = "Yes", "No"


def useful(text: str, question: str) -> tuple[PromptPiece, ...]:
    """One text."""
    return (
        PromptPiece("Question: ", fixed=True),
        PromptPiece(readable(question)),
        PromptPiece("\n\nText: "),
        PromptPiece(readable(text)),
        PromptPiece("\n\nDoes the text help to answer the question? Answer Yes or No."),
    )


def sufficient(texts: Sequence[str], question: str) -> tuple[PromptPiece, ...]:
    """All texts together."""
    shown = [PromptPiece(f"Text {n}: {readable(text)}\n\n") for n, text in enumerate(texts, 1)]
    return (
        *shown,
        PromptPiece("Question: "),
        PromptPiece(readable(question)),
        PromptPiece("\n\nDo the texts answer the question? Answer Yes or No."),
    )
