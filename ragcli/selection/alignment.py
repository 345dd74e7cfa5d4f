"""Fine-grained grounded alignment (paper 004, sections 3.1 and 3.2). Pure given scores.

L(Q, D) is the set of the question's constituents that a passage matches, each with the
contiguous segment that matches it. Section 3.1 wants one segment that holds them all,
section 3.2 a segment for each: `segment` says which reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragcli.types import (
    Alignment,
    AlignmentLabel,
    Constituent,
    Hit,
    Matched,
    Passage,
    Sentence,
    Span,
)

Segment = Literal["one", "per-constituent"]
_ORDER = {AlignmentLabel.FULL: 0, AlignmentLabel.PARTIAL: 1, AlignmentLabel.NONE: 2}


@dataclass(frozen=True, slots=True)
class Cell:
    """How a sentence matches a constituent; score 0 for no match.

    span: into the sentence, None where only what stands above the sentence matches.
    """

    score: float = 0.0
    span: Span | None = None


Table = Sequence[Sequence[Cell]]  # one row a constituent, one column a sentence


def align(
    constituents: Sequence[Constituent],
    sentences: Sequence[Sentence],
    table: Table,
    *,
    aligner: str,
    segment: Segment = "per-constituent",
    reach: int = 3,
    dropped: Sequence[Constituent] = (),
) -> Alignment:
    """The alignment of one passage.

    reach: most consecutive sentences of the one segment. dropped: constituents that matched
    until they were looked at again.
    """
    columns = range(len(sentences))
    if segment == "one":
        columns = best_run(table, len(sentences), reach)
    matched, missing = [], []
    for constituent, row in zip(constituents, table, strict=True):
        best = max(columns, key=lambda at, row=row: (row[at].score, -at), default=None)  # type: ignore[misc]
        if best is None or row[best].score <= 0:
            missing.append(constituent)
        else:
            matched.append(_matched(constituent, sentences[best], row[best]))
    lost = tuple(one for one in missing if one in dropped)
    return Alignment(tuple(matched), tuple(missing), aligner, lost)


def _matched(constituent: Constituent, sentence: Sentence, cell: Cell) -> Matched:
    span = cell.span.shift(sentence.start) if cell.span is not None else None
    return Matched(constituent, span, min(1.0, cell.score))


def best_run(table: Table, sentences: int, reach: int) -> range:
    """The run of at most `reach` sentences that matches most constituents.

    Ties go to the higher sum of scores, then to the shorter and earlier run.
    """
    best, key = range(0), (0, 0.0, 0, 0)
    for start in range(sentences):
        for end in range(start + 1, min(sentences, start + reach) + 1):
            tops = [max(cell.score for cell in row[start:end]) for row in table]
            this = (sum(top > 0 for top in tops), sum(tops), start - end, -start)
            if this > key:
                best, key = range(start, end), this
    return best


def order_key(hit: Hit) -> tuple[int, float, float, int]:
    """Ascending: label, then |L|/|Q|, then retrieval score (Algorithm 1, line 13)."""
    alignment = hit.alignment
    if alignment is None:
        return (len(_ORDER), 0.0, -hit.score, hit.passage.id)
    return (_ORDER[alignment.label], -alignment.ratio, -hit.score, hit.passage.id)


def rerank(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Hits by their alignment, best first; ranks stay those of the retrieval."""
    return tuple(sorted(hits, key=order_key))


def renumbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Ranks 1, 2, … in the given order."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def labels(hits: Iterable[Hit]) -> Counter[AlignmentLabel]:
    """How many hits have which label."""
    return Counter(hit.alignment.label for hit in hits if hit.alignment is not None)


def uncovered(constituents: Sequence[Constituent], hits: Iterable[Hit]) -> tuple[Constituent, ...]:
    """Constituents that none of the hits matches."""
    covered = {m.constituent for hit in hits if hit.alignment for m in hit.alignment.matched}
    return tuple(one for one in constituents if one not in covered)


def aligned_sentences(passage: Passage, alignment: Alignment) -> tuple[Sentence, ...]:
    """The passage's sentences that hold a matched segment, in text order."""
    spans = [m.span for m in alignment.matched if m.span is not None]
    return tuple(
        sentence
        for sentence in passage.sentences
        if any(sentence.start <= span.start < sentence.end for span in spans)
    )
