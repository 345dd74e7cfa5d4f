"""FKE's extraction: which knowledge fragments, which sentences. Scored, never written.

The instruction and the worked example come first, then the question: all candidates of a
question share that beginning, which is decoded once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "extract-1"
YES, NO = "Yes", "No"
_TASK = (
    "To answer a question, first find the knowledge fragments that it needs, then copy the"
    " sentence that holds them, word for word.\n\n"
)
_QUESTION = "Which river runs through the town where Anna Lund was born?"
_FRAGMENTS = ("Anna Lund", "born in Ribe")
_SENTENCE = "Anna Lund (born 3 May 1921) was a Danish painter born in Ribe."


def _known(fragments: Sequence[str]) -> str:
    return "; ".join(readable(text) for text in fragments)


def fragment(question: str) -> tuple[PromptPiece, ...]:
    """What comes next is a fragment."""
    shown = f"{_TASK}Question: {_QUESTION}\nFragments: {_known(_FRAGMENTS)}\n\nQuestion: "
    return (
        PromptPiece(shown, fixed=True),
        PromptPiece(readable(question)),
        PromptPiece("\nFragments:"),
    )


def copying(question: str, fragments: Sequence[str]) -> tuple[PromptPiece, ...]:
    """What comes next is the sentence. Without fragments: the standard prompt."""
    example = f"\nFragments: {_known(_FRAGMENTS)}" if fragments else ""
    given = f"\nFragments: {_known(fragments)}" if fragments else ""
    return (
        PromptPiece(
            f"{_TASK}Question: {_QUESTION}{example}\nSentence: {_SENTENCE}\n\nQuestion: ",
            fixed=True,
        ),
        PromptPiece(readable(question)),
        PromptPiece(f"{given}\nSentence:"),
    )


def asking(title: str, sentence: str, fragments: Sequence[str]) -> tuple[PromptPiece, ...]:
    """What comes next is the question that the sentence helps to answer."""
    known = f"Known: {_known(fragments)}.\n" if fragments else ""
    return (
        PromptPiece(f"{known}Text: "),
        PromptPiece(readable(f"{title}. {sentence}" if title else sentence)),
        PromptPiece("\nQuestion about the text:"),
    )


def needed(
    question: str, title: str, sentence: str, fragments: Sequence[str]
) -> tuple[PromptPiece, ...]:
    """The user message of a yes or no: does the sentence hold what is needed?"""
    known = f"\nFragments: {_known(fragments)}" if fragments else ""
    return (
        PromptPiece("Question: ", fixed=True),
        PromptPiece(readable(question)),
        PromptPiece(f"{known}\n\nSentence: "),
        PromptPiece(readable(f"{title}: {sentence}" if title else sentence)),
        PromptPiece(
            "\n\nDoes the sentence hold a fact that is needed to answer? Answer Yes or No."
        ),
    )


NEEDED_SYSTEM = (
    "You judge whether a sentence helps to answer a question. Answer with Yes or No only."
)
