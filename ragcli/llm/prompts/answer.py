"""The question with numbered documents."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable
from ragcli.types import Source

NAME = "answer"
STYLES = ("sentence", "short")
_TASKS = {
    "sentence": "Answer in one short, complete sentence. ",
    "short": "Answer with a name, a date, a number or a short phrase only, no sentence. ",
}


def version(style: str = "sentence") -> str:
    """Of the wording, which is one a style."""
    return {"sentence": "answer-1", "short": "answer-short-1"}[style]


def system(style: str = "sentence") -> str:
    """The system message; style is one of STYLES."""
    task = _TASKS[style]
    return f"You answer questions from the documents given. {task}Use only what the documents say."


def user(
    question: str, headings: Sequence[str], sources: Sequence[Source]
) -> tuple[PromptPiece, ...]:
    """Documents, one paragraph each under its heading line, then the question.

    headings: one a document slot. sources: ascending by slot.
    """
    pieces: list[PromptPiece] = []
    for slot, heading in enumerate(headings):
        name = readable(heading)
        pieces.append(
            PromptPiece(f"Document {slot + 1}: {name}\n" if name else f"Document {slot + 1}:\n")
        )
        pieces += [
            PromptPiece(readable(source.sentence.text) + " ", source=source)
            for source in sources
            if source.document_slot == slot
        ]
        pieces.append(PromptPiece("\n\n"))
    pieces.append(PromptPiece(f"Question: {readable(question)}"))
    return tuple(pieces)
