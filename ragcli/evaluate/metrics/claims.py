"""Claims that a long answer should make (ELI5 in ALCE).

Source: Gao et al. 2023, ALCE, section 4.1: the answer is the premise, each claim a hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.evaluate.metrics.averages import share
from ragcli.evaluate.metrics.citation import Entails


def claim_recall(prediction: str, claims: Sequence[str], entails: Entails) -> float:
    """Share of the claims that the answer entails; an empty answer entails none.

    Raises ValueError without claims.
    """
    said = bool(prediction.strip())
    return share(said and entails(prediction, claim) for claim in claims)
