"""Semantic compensation query augmentation (paper 004, section 3.3, eq. 4 to 6). Pure.

A passage that matches everything needs nothing. One that matches τ of the constituents lends
the question its text (Q + D). Of any other, what it lacks is said in other words (Q') and a
pseudo-passage is written for that (Q' + D_pseudo). The ratio is |L|/|Q| in both cases; the |C|
in eq. 6 is a misprint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragcli.text.normalise import readable
from ragcli.types import Alignment, AlignmentLabel, AugmentedQuery, Constituent, Hit

LONGEST = 800  # characters that a passage or pseudo-passage adds to a query

# (constituent, question) → other words for it
Reword = Callable[[Constituent, str], str]
# question Q' → a short passage that would answer it
Imagine = Callable[[str], str]


def augmented(
    question: str,
    kept: Sequence[Hit],
    *,
    tau: float,
    reword: Reword,
    imagine: Imagine,
) -> tuple[AugmentedQuery, ...]:
    """The queries of the next round, one a kept passage that is not fully aligned, none twice."""
    queries: dict[str, AugmentedQuery] = {}
    for hit in kept:
        alignment = hit.alignment
        if alignment is None or alignment.label is AlignmentLabel.FULL:
            continue
        if alignment.ratio >= tau:
            text = f"{question} {readable(hit.passage.text)[:LONGEST]}"
            one = AugmentedQuery(text, "aligned", hit.passage.id)
        else:
            diversified = diversify(question, alignment, reword)
            text = f"{diversified} {readable(imagine(diversified))[:LONGEST]}"
            one = AugmentedQuery(text, "compensated", hit.passage.id)
        queries.setdefault(one.text, one)
    return tuple(queries.values())


def diversify(question: str, alignment: Alignment, reword: Reword) -> str:
    """Q': the question with the constituents that the passage lacks in other words (eq. 4)."""
    text = question
    for missing in sorted(alignment.missing, key=lambda one: -one.start):
        if missing.expects == "any":
            other = reword(missing, question) or missing.text
            text = text[: missing.start] + other + text[missing.end :]
    return " ".join(text.split())


def same_words(constituent: Constituent, question: str) -> str:
    """Without a generator there are no other words; the phrase stands twice, so that it counts
    twice where words are counted."""
    return f"{constituent.text} {constituent.text}"


def template(constituents: Sequence[Constituent]) -> Imagine:
    """A pseudo-passage without a generator: the question's parts in the order of a statement."""
    order = ("subject", "attribute", "apposition", "predicate", "predicative", "complement",
             "object", "adverbial")  # fmt: skip
    parts = [one for one in constituents if one.expects == "any"]
    stated = " ".join(
        part.text for part in sorted(parts, key=lambda one: (order.index(one.kind), one.start))
    )

    def imagine(question: str) -> str:
        return f"{stated}." if stated else ""

    return imagine
