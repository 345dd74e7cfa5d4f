"""Other words for a part of a question, and a short passage that would answer it."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "compensate-1"
SYNONYM_SYSTEM = "You say a phrase in other words. Answer with the new phrase only."
PASSAGE_SYSTEM = "You write one or two plain sentences, as they could stand in an encyclopedia."


def synonym(part: str, question: str) -> tuple[PromptPiece, ...]:
    """Asks for another wording of a part of the question."""
    return (
        PromptPiece("Question: "),
        PromptPiece(readable(question)),
        PromptPiece(f"\nSay in other words: {readable(part)}"),
    )


def passage(question: str) -> tuple[PromptPiece, ...]:
    """Asks for a passage that matches every part of the question and answers it."""
    return (
        PromptPiece("Write a short passage that answers this question: "),
        PromptPiece(readable(question)),
    )
