"""Does a text match a part of a question? A first look answered with one token, and a second one.

The second look is put so that yes, or likelier, always means a match: to "is it missing?" a small
model says yes the more, the more the text is about it.
"""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "align-2"
SYSTEM = (
    "You compare a text with one part of a question. You do not answer the question. "
    "Answer with Yes or No only."
)
YES, NO = "Yes", "No"
NO_TEXT = "Nothing is written here."  # how a model answers to this is its bias


def first(text: str, part: str) -> tuple[PromptPiece, ...]:
    """The first look; the text comes first, so that the parts of a question share a prefix."""
    return (
        *_begun(text),
        PromptPiece(f"\n\nDoes the text say something about “{readable(part)}”? Answer Yes or No."),
    )


def found(text: str, question: str, part: str, segment: str) -> tuple[PromptPiece, ...]:
    """The second look, asked: is it right that this segment of the text matches the part?"""
    return (
        *_begun(text),
        PromptPiece("\n\nQuestion: "),
        PromptPiece(readable(question)),
        PromptPiece(
            f"\n\nAn analysis found that “{readable(segment)}” in the text matches"
            f" “{readable(part)}” in the question. Is the analysis correct? Answer Yes or No."
        ),
    )


def about(text: str) -> tuple[PromptPiece, ...]:
    """The second look, read off: what the text is about is left to be written."""
    return (*_begun(text), PromptPiece("\nThis text is about:"))


def _begun(text: str) -> tuple[PromptPiece, ...]:
    return (PromptPiece("Text: ", fixed=True), PromptPiece(readable(text)))
