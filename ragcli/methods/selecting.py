"""The selectors by name, for `--select`: any of them combines with any decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from ragcli.errors import UsageError
from ragcli.methods.analysing import Analyse
from ragcli.methods.extracting import Extract
from ragcli.methods.ggatrieval import AlignedPassages
from ragcli.methods.ko_rag import Organise
from ragcli.methods.ordering import Ordered
from ragcli.methods.selectors import TopPassages
from ragcli.methods.stages import Method, Select


@dataclass(frozen=True, slots=True)
class Selector:
    """A selection stage by name. namespace: whose settings it reads."""

    name: str
    summary: str
    stage: Select
    namespace: str = ""


SELECTORS: dict[str, Selector] = {
    one.name: one
    for one in (
        Selector("rank", "passages by rank", TopPassages()),
        Selector(
            "similar",
            "passages by rank, sentences by similarity",
            TopPassages(sentences=True),
            "fke",
        ),
        Selector("fke", "sentences extracted from all passages (paper 000)", Extract(), "fke"),
        Selector("drag", "passages by the question's components (paper 001)", Analyse(), "drag"),
        Selector(
            "ko-rag",
            "sentences ordered and cut by a trained organizer (paper 002)",
            Organise(),
            "ko-rag",
        ),
        Selector(
            "ordered",
            "the best sentences of all passages by one score",
            Ordered(),
            "ordered",
        ),
        Selector(
            "ggatrieval",
            "passages and sentences that match the question's parts (paper 004)",
            AlignedPassages(),
            "ggatrieval",
        ),
    )
}


def find_selector(name: str) -> Selector:
    """The selector of that name. Raises UsageError with the nearest valid one."""
    if name in SELECTORS:
        return SELECTORS[name]
    near = get_close_matches(name, SELECTORS, n=1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise UsageError(f"unknown selector: {name}{guess}", hint=f"selectors: {', '.join(SELECTORS)}")


def with_selector(method: Method, name: str | None) -> Method:
    """The method with another selection stage; None leaves it its own.

    Raises UsageError for an unknown selector, and for a method that reads no documents.
    """
    if name is None:
        return method
    stage = find_selector(name).stage
    if not method.reads:
        raise UsageError(
            f"{method.name} reads no documents to select from",
            hint="leave out --select, or use another method",
        )
    return replace(method, select=stage)
