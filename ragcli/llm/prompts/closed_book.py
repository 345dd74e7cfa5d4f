"""The question alone, from the model's memory."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

NAME = "closed-book"
_TASKS = {
    "sentence": "Answer in one short, complete sentence.",
    "short": "Answer with a name, a date, a number or a short phrase only, no sentence.",
}


def version(style: str = "sentence") -> str:
    """Of the wording, which is one a style."""
    return {"sentence": "closed-book-1", "short": "closed-book-short-1"}[style]


def system(style: str = "sentence") -> str:
    """The system message; style as in the prompt with documents."""
    return f"You answer questions. {_TASKS[style]}"


def user(question: str) -> tuple[PromptPiece, ...]:
    return (PromptPiece(f"Question: {readable(question)}"),)
