"""What a trained analyzer (a LoRA adapter) is asked: instructions in paper 001's two formats.

The elements of a question, each with its label, parted by semicolons; and the score of each
element for a paragraph, one a line. Training writes the same texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable
from ragcli.types import Component

VERSION = "analyzer-1"
ELEMENTS_SYSTEM = "You name the key elements of a question."
SCORES_SYSTEM = "You score a paragraph by the key elements of a question."
LEVELS = ("0.0", "0.2", "0.4", "0.6", "0.8", "1.0")  # what a score is written as


def elements(question: str) -> tuple[PromptPiece, ...]:
    """The user message; the answer is `listed`."""
    return (PromptPiece(readable(question)),)


def listed(components: Sequence[Component]) -> str:
    """Components as an output names them: "Ribe (invariant); seats (variant)."."""
    return "; ".join(f"{readable(one.text)} ({one.kind})" for one in components) + "."


def scored(
    question: str, components: Sequence[Component], paragraph: str
) -> tuple[PromptPiece, ...]:
    """The user message; the answer has a `line` for each component."""
    return (
        PromptPiece("Question: ", fixed=True),
        PromptPiece(readable(question)),
        PromptPiece(f"\nElement: {listed(components)}\nParagraph: "),
        PromptPiece(readable(paragraph)),
    )


def line(component: Component) -> str:
    """How the score of a component begins; a blank and one of `LEVELS` follow."""
    return f"{readable(component.text)} ({component.kind}):"
