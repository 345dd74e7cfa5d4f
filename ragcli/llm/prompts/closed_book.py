"""The question alone, from the model's memory."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

NAME = "closed-book"
VERSION = "closed-book-1"
SYSTEM = "You answer questions. Answer in one short, complete sentence."


def user(question: str) -> tuple[PromptPiece, ...]:
    return (PromptPiece(f"Question: {readable(question)}"),)
