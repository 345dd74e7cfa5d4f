"""What an answer written in several passes rests on: the passes' sentences together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragcli.methods.branches import Prepared
from ragcli.methods.stages import Context
from ragcli.types import Hit, Source, Step


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of the generation loop. start: the answer's first step that is of this pass."""

    prepared: Prepared
    start: int = 0


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A retrieval in the middle of an answer, for the record.

    word, score: what asked for it. step: answer step at which it happened. anew: whether it
    brought other text, so that the sentence was written anew.
    """

    query: str
    word: str
    score: float
    step: int
    anew: bool


def standing(passes: Sequence[Pass], steps: int) -> list[Pass]:
    """The passes of which a step stands; at least the last one."""
    ends = [one.start for one in passes[1:]] + [steps]
    kept = [one for one, end in zip(passes, ends, strict=True) if one.start < end]
    return kept or list(passes[-1:])


def together(groups: Iterable[Sequence[Context]]) -> tuple[Context, ...]:
    """All contexts in order, each sentence once, where it came first."""
    held: set[int] = set()
    out: list[Context] = []
    for contexts in groups:
        for context in contexts:
            fresh = tuple(s for s in context.sentences if s.id not in held)
            held.update(s.id for s in fresh)
            if fresh:
                out.append(replace(context, sentences=fresh))
    return tuple(out)


def realigned(
    steps: Sequence[Step], passes: Sequence[Pass], sources: Sequence[Source]
) -> list[Step]:
    """The steps with their attention over `sources` instead of those of their own pass."""
    place = {source.sentence.id: at for at, source in enumerate(sources)}
    ends = [one.start for one in passes[1:]] + [len(steps)]
    out: list[Step] = []
    for one, end in zip(passes, ends, strict=True):
        places = [place[source.sentence.id] for source in one.prepared.branches.main.sources]
        out += [_moved(step, places, len(sources)) for step in steps[one.start : end]]
    return out


def _moved(step: Step, places: Sequence[int], size: int) -> Step:
    if not step.attention:
        return step
    masses = [0.0] * size
    for at, mass in zip(places, step.attention, strict=True):
        masses[at] += mass
    return replace(step, attention=tuple(masses))


def joined(known: Sequence[Hit], found: Sequence[Hit]) -> tuple[Hit, ...]:
    """The known hits and after them the new ones, ranked on."""
    held = {hit.passage.id for hit in known}
    fresh = [hit for hit in found if hit.passage.id not in held]
    return (
        *known,
        *(replace(hit, rank=rank) for rank, hit in enumerate(fresh, start=len(known) + 1)),
    )
