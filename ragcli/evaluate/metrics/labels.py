"""Citations against labels: are the cited places those that people marked as needed?

The labels are gold sentences (HotpotQA) or the place of the answer (SQuAD-like data), so the
score does not depend on a verifier, nor on the signals that chose the citations.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.evaluate.metrics.averages import harmonic, share
from ragcli.evaluate.metrics.knowledge import Piece, are_found, are_gold


def label_precision(cited: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Share of the cited places, each once, that are gold; 0 where nothing is cited."""
    places = list(dict.fromkeys(cited))
    return share(are_gold(places, gold)) if places else 0.0


def label_recall(cited: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Share of the gold places that are cited. Raises ValueError without gold."""
    return share(are_found(gold, cited))


def label_f1(cited: Sequence[Piece], gold: Sequence[Piece]) -> float:
    """Harmonic mean of the two. Raises ValueError without gold."""
    return harmonic(label_precision(cited, gold), label_recall(cited, gold))
