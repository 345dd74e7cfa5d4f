"""What becomes of a saved answer, its citations and its sentences when they are checked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ragcli.cite.recorded import Claim, Recorded
from ragcli.types import Span, Verdict


class Standing(StrEnum):
    """What became of a citation."""

    FRESH = "fresh"
    MOVED = "moved"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands now. heading: what is left of the recorded one."""

    path: Path
    root: Path
    title: str
    kind: str
    sha256: str
    span: Span
    text: str
    page: int | None
    line: int
    place: str
    heading: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A quote after the check. reason: in words, where it is not simply fresh.

    now: where the text stands, or, of a changed one, the sentence that stands in its place.
    edited: the file's bytes are other ones than when the answer was made.
    """

    standing: Standing
    reason: str = ""
    now: Place | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A sentence of the answer with its verdict now; checks: one a citation, in order."""

    claim: Claim
    verdict: Verdict
    checks: tuple[Checked, ...]

    @property
    def weaker(self) -> bool:
        """Whether the sources support it less than they did."""
        return _RANK[self.verdict] < _RANK[self.claim.verdict]


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer after the check. verifier: what judged, "" where nothing was to be judged."""

    recorded: Recorded
    claims: tuple[CheckedClaim, ...] = ()
    verifier: str = ""

    def failures(self, strict: bool = False) -> list[str]:
        """Why the answer does not hold, in words; empty where it does.

        A sentence that was not supported when the answer was made is no failure, unless
        strict: nothing that held has ceased to.
        """
        checks = [check for claim in self.claims for check in claim.checks]
        found = list(self.recorded.problems)
        for standing in (Standing.CHANGED, Standing.MISSING):
            number = sum(check.standing is standing for check in checks)
            if number:
                found.append(f"{number} {'citation' if number == 1 else 'citations'} {standing}")
        weaker = sum(claim.weaker for claim in self.claims)
        if weaker:
            found.append(
                f"{weaker} {'sentence' if weaker == 1 else 'sentences'} no longer supported"
            )
        if self.recorded.kind == "answer" and not self.claims and (strict or self.recorded.reads):
            found.append("the answer cites nothing")
        unsupported = sum(
            claim.verdict is not Verdict.SUPPORTED and not claim.weaker for claim in self.claims
        )
        if strict and unsupported:
            word = "sentence was" if unsupported == 1 else "sentences were"
            found.append(f"{unsupported} {word} never supported")
        return found


_RANK = {Verdict.UNSUPPORTED: 0, Verdict.PARTLY: 1, Verdict.SUPPORTED: 2}
