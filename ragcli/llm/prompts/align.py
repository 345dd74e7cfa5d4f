"""Does a text match a part of a question? Answered with one token, then asked the other way."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "align-1"
SYSTEM = (
    "You compare a text with one part of a question. You do not answer the question. "
    "Answer with Yes or No only."
)
YES, NO = "Yes", "No"
NO_TEXT = "Nothing is written here."  # how a model answers to this is its bias


def user(
    text: str, question: str, part: str, kind: str, *, again: bool = False
) -> tuple[PromptPiece, ...]:
    """The user message; the text comes first, so that the parts of a question share a prefix.

    again: the second look, in which No means that the text does match.
    """
    ask = (
        f"Is the {kind} “{readable(part)}” missing from the text?"
        if again
        else f"Does the text mention, or say in other words, the {kind} “{readable(part)}”?"
    )
    return (
        PromptPiece("Text: ", fixed=True),
        PromptPiece(readable(text)),
        PromptPiece("\n\nQuestion: "),
        PromptPiece(readable(question)),
        PromptPiece(f"\n\n{ask} Answer Yes or No."),
    )
