"""The parts of a question by their grammatical role: a form whose blanks are scored, not written."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "parse-1"
ABSENT = "none"
_EXAMPLES = (
    ("Which engineer designed the harbour bridge in 1931?",
     "predicate: designed", "object: the harbour bridge", "adverbial: in 1931", "complement: none"),
    ("Who is the owner of the mill on the hill?",
     "subject: the owner", "attribute: of the mill on the hill", "object: none"),
)  # fmt: skip


def form(question: str, kind: str) -> tuple[PromptPiece, ...]:
    """Worked examples, then the question with one role left to fill in."""
    shown = "\n\n".join("\n".join((f"Question: {q}", *rows)) for q, *rows in _EXAMPLES)
    return (
        PromptPiece(f"{shown}\n\nQuestion: ", fixed=True),
        PromptPiece(readable(question)),
        PromptPiece(f"\n{kind}:"),
    )
