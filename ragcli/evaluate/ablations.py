"""Named lists of arms: the papers' ablations, as far as settings say them.

The first arm of a list is what the others are compared with. Besides the scores, a row tells
what the tables ask for: knowledge tokens and whether the answer is in the knowledge (FKE
Table 2), calibrated tokens (DRAG), labels of all and of kept passages (GGatrieval Tables 9, 10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from ragcli.errors import UsageError
from ragcli.evaluate.types import Arm


@dataclass(frozen=True, slots=True)
class Ablation:
    """A list of arms and the table it answers to."""

    name: str
    doc: str
    source: str
    arms: tuple[Arm, ...]


def _sweep(
    base: Arm, key: str, values: Iterable[float | int | str], *settings: str
) -> tuple[Arm, ...]:
    """An arm a value, named after it."""
    return tuple(
        Arm(
            f"{key}={value}", base.method, base.base, base.select, base.decode,
            settings=(*base.settings, *settings, f"{key}={value}"),
        )
        for value in values
    )  # fmt: skip


_FKE, _DRAG, _GG = Arm("fke", "fke"), Arm("drag", "drag"), Arm("ggatrieval", "ggatrieval")
_PROMPTED = "fke.extractor=generator"

_LIST = (
    Ablation(
        "fke-prompting", "documents, sentences found at once, sentences by way of fragments",
        "FKE Table 2",
        (
            Arm("documents"),
            Arm("standard", select="fke", settings=(_PROMPTED, "fke.prompting=standard")),
            Arm("disentangled", select="fke", settings=(_PROMPTED, "fke.prompting=disentangled")),
            Arm("encoder", select="fke", settings=("fke.extractor=encoder",)),
        ),
    ),
    Ablation(
        "fke-knowledge", "documents alone, sentences alone, both fused", "FKE Table 3",
        (
            Arm("documents"),
            Arm("sentences", select="fke"),
            Arm("fused", "fke"),
            Arm("crag documents", "crag"),
            Arm("crag sentences", "plain", base="crag", select="fke"),
            Arm("crag fused", "fke", base="crag"),
        ),
    ),
    Ablation(
        "fke-alpha", "weight of the sentences", "FKE Figure 4",
        (Arm("documents"), *_sweep(_FKE, "fke.alpha", (0.25, 0.5, 1, 2, 4))),
    ),
    Ablation(
        "fke-tau", "temperature of the sentences", "FKE Figure 5",
        (Arm("documents"), *_sweep(_FKE, "fke.tau_s", (0.1, 0.2, 0.5, 1, 2))),
    ),
    Ablation(
        "drag-modules", "neither, relevance assessment alone, calibration alone, both",
        "DRAG Table 3",
        (
            Arm("neither", settings=("retrieval.k=5",)),
            Arm("assessment", "drag", decode="plain"),
            Arm("calibration", "drag", select="rank", settings=("retrieval.k=5",)),
            _DRAG,
        ),
    ),
    Ablation(
        "drag-components", "one kind of component alone", "DRAG Table 6",
        (
            Arm("without", "drag", select="rank", settings=("retrieval.k=5",)),
            *_sweep(_DRAG, "drag.components", ("invariant", "variant", "supplementary")),
            _DRAG,
        ),
    ),
    Ablation(
        "drag-risks", "factors of the risk left out", "DRAG Table 7",
        (
            Arm("none", "drag", decode="plain"),
            *_sweep(_DRAG, "drag.factors", ("prediction", "attention-prediction", "all")),
        ),
    ),
    Ablation(
        "drag-reference", "what risky tokens are set against", "DRAG Table 9",
        (
            Arm("uncalibrated", "drag", decode="plain"),
            *_sweep(_DRAG, "drag.reference", ("question", "fixed", "lowest")),
            Arm("all tokens", "drag", decode="drag-all"),
        ),
    ),
    Ablation(
        "drag-delta", "the threshold, and the share of tokens that it calibrates",
        "DRAG Figure 3 (b)",
        (
            Arm("uncalibrated", "drag", decode="plain"),
            *_sweep(_DRAG, "drag.delta", (0.01, 0.03, 0.06, 0.09, 0.15, 0.3)),
        ),
    ),
    Ablation(
        "ko-rag-orders", "the best half, sentences by other scores, a trained organizer's order",
        "KO-RAG Table 2",
        (
            Arm("half", settings=("retrieval.k=5",)),
            *(
                Arm(name, select="ordered", settings=(f"ordered.by={name}",))
                for name in ("bm25", "encoder", "hybrid", "likelihood")
            ),
            Arm("ko-rag", "ko-rag"),
        ),
    ),
    Ablation(
        "ggatrieval-reflection", "with and without a second look at weak matches",
        "GGatrieval Table 8",
        (Arm("without", "ggatrieval", settings=("ggatrieval.reflect=false",)), _GG),
    ),
    Ablation(
        "ggatrieval-modules", "retrieval, augmented queries, alignment", "GGatrieval Table 6",
        (
            Arm("retrieval", settings=("retrieval.k=5",)),
            Arm("augmentation", "ggatrieval", settings=("ggatrieval.order=retrieval",)),
            Arm("augmentation and alignment", "ggatrieval"),
        ),
    ),
    Ablation(
        "ggatrieval-labels", "passages of one label left out", "GGatrieval Tables 5, 9 and 10",
        (_GG, *_sweep(_GG, "ggatrieval.without", ("full", "partial", "none"))),
    ),
    Ablation(
        "ggatrieval-rounds", "by the number of rounds", "GGatrieval Figure 4",
        _sweep(_GG, "ggatrieval.iterations", (1, 2, 3, 4)),
    ),
)  # fmt: skip

ABLATIONS: dict[str, Ablation] = {one.name: one for one in _LIST}


def find_ablation(name: str) -> Ablation:
    """The list of that name. Raises UsageError with the nearest valid one."""
    if name in ABLATIONS:
        return ABLATIONS[name]
    near = get_close_matches(name, ABLATIONS, n=1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise UsageError(f"unknown ablation: {name}{guess}", hint=f"one of {', '.join(ABLATIONS)}")
