"""Do the citations of an answer carry its sentences? Recall and precision after ALCE.

Source: Gao et al. 2023, ALCE, section 4.3 and its evaluation script. The judge is any
verifier; what a citation says (its title line and sentence, or its passage) is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcli.cite.verify import Verifier

Entails = Callable[[str, str], bool]  # (premise, claim)

MOST = 3  # citations of a sentence that are looked at


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an answer and the texts that it cites, in its own order."""

    text: str
    premises: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationScores:
    """Of one answer; each 0..1."""

    recall: float
    precision: float


def citation_scores(sentences: Sequence[Cited], entails: Entails) -> CitationScores:
    """Recall and precision of one answer's citations.

    recall: the share of sentences that their joined citations entail; none without a citation.
    precision: the share of citations that count. Where the sentence is not entailed none does;
    a single one does; of several, all but those that neither entail alone nor are missed when
    left out. 0 where no citation is given.

    Raises ValueError for an answer without a sentence: it has no score, and ALCE leaves it out.
    """
    if not sentences:
        raise ValueError("citations of an answer without sentences")
    carried = counted = given = 0
    for sentence in sentences:
        premises = sentence.premises[:MOST]
        given += len(premises)
        if premises and entails(joined(premises), sentence.text):
            carried += 1
            counted += sum(
                _counts(at, premises, sentence.text, entails) for at in range(len(premises))
            )
    return CitationScores(carried / len(sentences), counted / given if given else 0.0)


def joined(premises: Sequence[str]) -> str:
    """Several citations as one premise."""
    return "\n".join(premises)


def judge(verifier: Verifier) -> Entails:
    """A verifier as yes or no, each pair asked once: yes from its bar for "supported"."""
    known: dict[tuple[str, str], bool] = {}

    def entails(premise: str, claim: str) -> bool:
        pair = (premise, claim)
        if pair not in known:
            (score,) = verifier.entails([premise], [claim])
            known[pair] = score >= verifier.supported
        return known[pair]

    return entails


def _counts(at: int, premises: Sequence[str], claim: str, entails: Entails) -> bool:
    """Whether a citation of an entailed sentence is needed, or would be enough."""
    rest = [*premises[:at], *premises[at + 1 :]]
    return not rest or entails(premises[at], claim) or not entails(joined(rest), claim)
