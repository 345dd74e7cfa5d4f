"""Components of a question, and the documents' scores by them (paper 001, section 3.2). Pure.

A component is invariant (must be mentioned word for word; at most one), variant (said in the
question, may be worded otherwise) or supplementary (not said, helps to judge).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragcli.types import Component, ComponentKind

# The labels of the paper's own examples, synonyms among them (tables 11-14).
LABELS: dict[str, ComponentKind] = {
    "invariant": "invariant",
    "essential": "invariant",
    "variant": "variant",
    "initial": "variant",
    "supplementary": "supplementary",
    "supplemental": "supplementary",
    "supplement": "supplementary",
}
MOST_COMPONENTS = 12
MOST_CHARACTERS = 200  # of a component
_MOST_TEXT = 20_000  # characters of an output that are read

_LABEL = re.compile(
    rf"[(\[<⟨{{]\s*({'|'.join(LABELS)})(?:\s+(?:element|component)s?)?\s*[)\]>⟩}}]", re.IGNORECASE
)
_SCORE = re.compile(r"\s*[:=]\s*(\d+(?:[.,]\d+)?)")
_EXPLANATION = re.compile(r"\s*\((?:[^()\n]|\([^()\n]*\)){0,400}\)")
_LEAD = re.compile(
    r"^(?:[\w ]{1,20} )?(?:output|elements?|components?|answer)\s*:\s*", re.IGNORECASE
)
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_NOTHING = frozenset({"", "none", "n/a"})


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled phrase of an output, and the score after it (None: none, or not in [0, 1])."""

    text: str
    kind: ComponentKind
    score: float | None


def parse_labelled(output: str) -> Iterator[Labelled]:
    """Every labelled phrase of an output, in order: "Capital (variant): 0.8 (a reason)".

    Tolerant: labels in any case and bracket, synonyms, scores and explanations after a label,
    missing separators, lists. What has no label is passed over.
    """
    at = 0
    text = output[:_MOST_TEXT]
    for match in _LABEL.finditer(text):
        if match.start() < at:
            continue
        phrase = _phrase(text[at : match.start()])
        at = match.end()
        score = None
        if number := _SCORE.match(text, at):
            value = float(number.group(1).replace(",", "."))
            score = value if value <= 1 else None
            at = number.end()
            if reason := _EXPLANATION.match(text, at):
                at = reason.end()
        if phrase.casefold() not in _NOTHING:
            yield Labelled(phrase, LABELS[match.group(1).casefold()], score)


def _phrase(raw: str) -> str:
    """What stands right before a label: after the last separator, without marks round it."""
    text = re.split(r"[;\n]", raw.rstrip(" \t\n;:,"))[-1].strip(" \t.,:;")
    text = _BULLET.sub("", _LEAD.sub("", text)).strip(" \t\"“”'*`")
    return " ".join(text.split())[:MOST_CHARACTERS].rstrip()


def parse_components(output: str) -> tuple[Component, ...]:
    """The components of a labelled output; see `parse_labelled` and `settle`."""
    return settle(Component(one.kind, one.text) for one in parse_labelled(output))


def parse_scores(output: str, components: Sequence[Component]) -> tuple[float | None, ...]:
    """One score a component, in [0, 1]; None where the output gives none.

    A component is found by its text, whatever its label: the paper's data mixes labels.
    """
    found: dict[str, float] = {}
    for one in parse_labelled(output):
        if one.score is not None:
            found.setdefault(one.text.casefold(), one.score)
    return tuple(found.get(component.text.casefold()) for component in components)


def settle(components: Iterable[Component]) -> tuple[Component, ...]:
    """Each text once, at most `MOST_COMPONENTS`, at most one invariant: more become variant."""
    kept: dict[str, Component] = {}
    invariant = False
    for one in components:
        key = one.text.casefold()
        if key in kept or len(kept) == MOST_COMPONENTS:
            continue
        kind = "variant" if one.kind == "invariant" and invariant else one.kind
        invariant = invariant or kind == "invariant"
        kept[key] = Component(kind, one.text)
    return tuple(kept.values())


def weights(components: Sequence[Component], alpha: float, beta: float) -> NDArray[np.float64]:
    """w_j, (components,): 1, alpha, beta for invariant, variant, supplementary."""
    by_kind = {"invariant": 1.0, "variant": alpha, "supplementary": beta}
    return np.array([by_kind[component.kind] for component in components], np.float64)


def document_scores(
    components: Sequence[Component], scores: ArrayLike, alpha: float, beta: float
) -> NDArray[np.float64]:
    """s_i = Σ_j w_j s_ij, (documents,); scores: (documents, components) in [0, 1]."""
    table = np.asarray(scores, np.float64)
    return np.asarray(table @ weights(components, alpha, beta))


def relative(
    scores: NDArray[np.float64], components: Sequence[Component], alpha: float, beta: float
) -> NDArray[np.float64]:
    """s_i by the most that it can be, Σ_j w_j: in [0, 1], in the same order.

    Ours: so the attention risk of a question with many components compares with that of one
    with few; the number of components is in the lexical risk already.
    """
    most = float(weights(components, alpha, beta).sum())
    return np.clip(scores / most, 0.0, 1.0) if most > 0 else np.zeros(len(scores))


@dataclass(frozen=True, slots=True)
class Split:
    """Documents by score. top: indices, best first. noise: the reference, never among the top."""

    top: tuple[int, ...]
    noise: int | None


def split(scores: Sequence[float] | NDArray[np.float64], r: int) -> Split:
    """The top r documents and T_ref, the lowest-scored one; None when all are among the top.

    Ties: the earlier document is the better one.
    """
    order = sorted(range(len(scores)), key=lambda i: (-float(scores[i]), i))
    return Split(tuple(order[:r]), order[-1] if len(order) > r else None)


def calibrate(cosine: NDArray[np.floating], low: float, high: float) -> NDArray[np.float64]:
    """Similarity to relevance: linear from `low` (0, unrelated) to `high` (1), clipped."""
    return np.clip((np.asarray(cosine, np.float64) - low) / (high - low), 0.0, 1.0)
