"""A question for an answer that is chosen already: a form whose last line is written.

Worked examples come first, the same for every draft, so that they are decoded once.
"""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "draft-1"
_TASK = (
    "Read a text and write a question about it. The question names what it is about, and the"
    " given answer answers it.\n\n"
)
_EXAMPLES = (
    ("Kestrel Bridge",
     "Kestrel Bridge is a road bridge over the river Omm, built in 1904 by the engineer Dora"
     " Lindqvist.",
     "1904", "When was Kestrel Bridge built?"),
    ("Harlow Mill",
     "The mill at Harlow was bought in 1962 by the Varga family, who made paper there until 1987.",
     "Varga family", "Who bought the mill at Harlow in 1962?"),
    ("Boiler — Limits",
     "The boiler must be drained when its pressure rises above 3 bar.",
     "3 bar", "Above which pressure must the boiler be drained?"),
    ("Ribe",
     "With 8,300 inhabitants Ribe is the third largest town of the island.",
     "8,300", "How many inhabitants does Ribe have?"),
)  # fmt: skip


def form(title: str, sentence: str, answer: str) -> tuple[PromptPiece, ...]:
    """What comes next is the question."""
    shown = "".join(
        f"Title: {title}\nText: {text}\nAnswer: {given}\nQuestion: {question}\n\n"
        for title, text, given, question in _EXAMPLES
    )
    return (
        PromptPiece(f"{_TASK}{shown}Title:", fixed=True),
        PromptPiece(f" {readable(title)}\nText: "),
        PromptPiece(readable(sentence)),
        PromptPiece("\nAnswer: "),
        PromptPiece(readable(answer)),
        PromptPiece("\nQuestion:"),
    )
