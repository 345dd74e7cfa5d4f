"""What can be set of GGatrieval, and those settings read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragcli.decoding.options import Setting
from ragcli.decoding.settings import Settings
from ragcli.selection import judging
from ragcli.selection.aligners import AlignOptions
from ragcli.selection.alignment import Segment

GGATRIEVAL_SETTINGS: dict[str, Setting] = {
    "ggatrieval.backend": Setting(
        str, "encoder", "what parses, aligns, writes and verifies", "paper 004: a language model",
        choices=("encoder", "generator"),
    ),
    "ggatrieval.segment": Setting(
        str, "per-constituent", "a segment for each constituent, or one that holds them all",
        "GGatrieval sections 3.2 and 3.1", choices=("one", "per-constituent"),
    ),
    "ggatrieval.reach": Setting(
        int, 3, "most sentences of the one segment", "ours", low=1, high=50
    ),
    "ggatrieval.reflect": Setting(
        bool, True, "look at weak matches again and drop them", "GGatrieval eq. 3"
    ),
    "ggatrieval.second": Setting(
        str, "likelihood", "what the generator's second look reads: how much likelier the passage"
        " makes the part, or its yes to the match found", "ours; GGatrieval eq. 3 leaves it open",
        choices=("likelihood", "yes"),
    ),
    "ggatrieval.gain": Setting(
        float, 0.5, "nats a token by which a passage must make a part likelier than no text does",
        "ours", low=0, high=20,
    ),
    "ggatrieval.tau": Setting(
        float, 0.66, "share of constituents from which a passage lends the query its own text",
        "GGatrieval eq. 6, section 4.3", low=0, high=1,
    ),
    "ggatrieval.candidates": Setting(
        int, 50, "candidates of a round", "GGatrieval A.3", low=1, high=1000
    ),
    "ggatrieval.fetch": Setting(
        int, 5, "passages fetched by each augmented query", "GGatrieval A.3", low=1, high=100
    ),
    "ggatrieval.window": Setting(
        int, 20, "candidates looked at together", "GGatrieval A.3", low=1, high=1000
    ),
    "ggatrieval.keep": Setting(int, 5, "passages kept", "GGatrieval A.3", low=1, high=100),
    "ggatrieval.iterations": Setting(
        int, 4, "most rounds of retrieval", "GGatrieval section 4.3", low=1, high=20
    ),
    "ggatrieval.enough": Setting(
        float, 0.75, "share of constituents that the kept passages match together, from which no"
        " further round is needed", "ours", low=0, high=1,
    ),
    "ggatrieval.least": Setting(
        float, 0.5, "the share below which, after the last round, there is no answer", "ours",
        low=0, high=1,
    ),
    "ggatrieval.yes": Setting(
        float, 0.5, "the generator's yes, beyond what it says to no text, from which they suffice",
        "ours", low=0, high=1,
    ),
    "ggatrieval.similar": Setting(
        float, 0.35, "cosine with a sentence from which a constituent may match it", "ours",
        low=0, high=1,
    ),
    "ggatrieval.near": Setting(
        float, 0.6, "cosine with a window of the sentence that reflection asks for", "ours",
        low=0, high=1,
    ),
    "ggatrieval.order": Setting(
        str, "alignment", "what passages are kept by: alignment, or retrieval alone",
        "GGatrieval Table 6", choices=("alignment", "retrieval"),
    ),
    "ggatrieval.without": Setting(
        str, "nothing", "label of the passages that are left out", "GGatrieval Table 5",
        choices=("nothing", "full", "partial", "none"),
    ),
    "ggatrieval.judged": Setting(
        int, 20, "candidates of a round that the generator aligns, if it does; the rest by encoder",
        "ours", low=1, high=1000,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The settings above, read once."""

    backend: str
    segment: Segment
    reach: int
    reflect: bool
    second: Literal["likelihood", "yes"]
    gain: float
    tau: float
    candidates: int
    fetch: int
    window: int
    keep: int
    iterations: int
    enough: float
    least: float
    yes: float
    similar: float
    near: float
    order: str
    without: str
    judged: int

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """From the settings of a run; `retrieval.k` (-k) counts where `keep` is not given."""
        prefix = "ggatrieval."
        values = {k.removeprefix(prefix): settings.extra[k] for k in GGATRIEVAL_SETTINGS}
        if "retrieval.k" in settings.given and "ggatrieval.keep" not in settings.given:
            values["keep"] = settings.extra["retrieval.k"]
        return cls(**values)  # type: ignore[arg-type]

    @property
    def aligning(self) -> AlignOptions:
        return AlignOptions(
            segment=self.segment, reach=self.reach, reflect=self.reflect,
            similar=self.similar, near=self.near,
        )  # fmt: skip

    @property
    def reflection(self) -> judging.Reflection | None:
        return judging.Reflection(self.second, self.gain) if self.reflect else None
