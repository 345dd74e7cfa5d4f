"""DRAG's analyzer: a question's components. Candidates are scored, nothing is written."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "decompose-1"
ABSENT = "none"
# What an answer can be, with the words that say so already.
INVENTORY: dict[str, str] = {
    "person": "a person, who someone is",
    "place": "a place, a city or a country",
    "date": "a date or a year",
    "number": "a number or an amount",
    "organisation": "an organisation or a company",
    "occupation": "an occupation or a role",
    "title": "the title of a work",
    "event": "an event",
    "reason": "a reason or a cause",
    "method": "a way to do something",
}
_TASK = (
    "Take a question apart. Fixed: the one name that a text must mention word for word."
    " Free: what may be said in other words. Sought: the kind of thing that answers.\n\n"
)
_EXAMPLES = (
    ("Where did the painter Anna Lund grow up?", "Anna Lund", "painter; grow up", "place"),
    ("How many seats does the harbour stadium of Ribe have?", "Ribe",
     "seats; harbour stadium", "number"),
    ("Which river is the longest?", "none", "longest; river", "none"),
)  # fmt: skip


def _shown() -> str:
    rows = (
        f"Question: {question}\nFixed: {fixed}\nFree: {free}\nSought: {sought}\n\n"
        for question, fixed, free, sought in _EXAMPLES
    )
    return _TASK + "".join(rows)


def fixed(question: str) -> tuple[PromptPiece, ...]:
    """What comes next is the invariant component, or `ABSENT`."""
    return (PromptPiece(f"{_shown()}Question: ", fixed=True), PromptPiece(readable(question)),
            PromptPiece("\nFixed:"))  # fmt: skip


def free(question: str, invariant: str) -> tuple[PromptPiece, ...]:
    """What comes next is a variant component."""
    return (*fixed(question), PromptPiece(f" {readable(invariant) or ABSENT}\nFree:"))


def sought(question: str, invariant: str, variants: str) -> tuple[PromptPiece, ...]:
    """What comes next is a kind of the inventory, or `ABSENT`."""
    return (*free(question, invariant), PromptPiece(f" {readable(variants) or ABSENT}\nSought:"))
