"""Does a source support a claim? Answered with one token."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "verify-1"
SYSTEM = "You check whether a text supports a claim. Answer with Yes or No only."
YES, NO = "Yes", "No"


def user(premise: str, hypothesis: str) -> tuple[PromptPiece, ...]:
    """The user message; the premise comes first, so that claims about one text share a prefix."""
    return (
        PromptPiece("Text: ", fixed=True),
        PromptPiece(readable(premise)),
        PromptPiece("\n\nClaim: "),
        PromptPiece(readable(hypothesis)),
        PromptPiece("\n\nDoes the text say that the claim is true? Answer Yes or No."),
    )
