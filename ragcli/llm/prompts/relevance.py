"""DRAG's analyzer: does a document have to do with a component? Answered with one token."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "relevance-1"
SYSTEM = "You judge what a text tells. Answer with Yes or No only."
YES, NO = "Yes", "No"
NO_TEXT = "This page has no text."


def user(title: str, text: str, component: str) -> tuple[PromptPiece, ...]:
    """The document comes first, so that all components of one document share a prefix."""
    return (
        PromptPiece("Text: ", fixed=True),
        PromptPiece(readable(f"{title}. {text}" if title else text)),
        PromptPiece("\n\nDoes the text tell something about this: "),
        PromptPiece(readable(component)),
        PromptPiece("? Answer Yes or No."),
    )
