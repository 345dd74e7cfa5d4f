"""A method is a value made of stages; one engine (`run`) runs all of them.

    expand → retrieve → (refine → retrieve)* → select → frame → decode → (watch → retrieve …)*
    gather → select → frame → decode → (watch → retrieve …)*

A stage is a frozen value that is called; printing a method explains it. Stages share no
state but what they are given, and any of them can be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Generator as Generating
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragcli.decoding.settings import Settings
from ragcli.events import Event
from ragcli.llm.base import EncodedPrompt, Generator, PromptPiece
from ragcli.selection.organiser import Organised, Organiser
from ragcli.types import Component, Document, Hit, Sentence, Source, Step, Trace

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def unsaid(_stage: str) -> None:
    """Nobody is watching."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What stages work with. encode gives unit vectors; search is bound to the user's filters.

    passages: as search, without the scores of sentences, for stages that make their own.
    adapter: a trained analyzer, where the user has one. at: told, in words for people, what the generator is about to be asked; it then tells how
    far it is. organiser: opens the user's, None for the one in the package.
    """

    search: Callable[[str, int], tuple[Hit, ...]]
    generator: Generator
    encode: Encode
    settings: Settings
    decode: str
    passages: Callable[[str, int], tuple[Hit, ...]] | None = None
    at: Callable[[str], None] = unsaid
    adapter: Path | None = None
    organiser: Callable[[], Organiser] | None = None

    def number(self, key: str) -> int:
        """An integer setting of a method, e.g. `retrieval.k`."""
        return int(self.settings.extra[key])

    def choice(self, key: str) -> str:
        """A setting of a method that is one of several words, e.g. `fke.extractor`."""
        return str(self.settings.extra[key])


@dataclass(frozen=True, slots=True)
class Context:
    """A passage as it goes into a prompt: some of its sentences, in text order.

    An organiser's order is its own: sentences then stand as it ranked them.

    score: relevance in [0, 1]: scaled over the passages retrieved together, or an analyzer's.
    """

    document: Document
    heading: str
    sentences: tuple[Sentence, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """What the branches are made of.

    documents: for the main branch, best first. sentences: for the fine-grained branch.
    noise: the reference of calibration, None when there is no passage to take. by: which
    selector and backend ran, for people. components: of the query, where an analyzer ran.
    hits: the hits as the selector judged and ordered them, None where it left them alone.
    organised: scores of an organiser, where one ran.
    """

    documents: tuple[Context, ...] = ()
    sentences: tuple[Context, ...] = ()
    noise: Context | None = None
    by: str = ""
    components: tuple[Component, ...] | None = None
    hits: tuple[Hit, ...] | None = None
    organised: Organised | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a method that retrieves in rounds found, what it kept first.

    kept: how many of the hits. reason: why they do not suffice, for people; empty when they do.
    by: what judged them, notes: what the user should know, for people.
    """

    hits: tuple[Hit, ...]
    kept: int
    reason: str = ""
    trace: Trace | None = None
    by: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A system and a user message, and how the answer starts."""

    system: str
    user: tuple[PromptPiece, ...]
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt that can still be shortened: `build` makes it of any subset of the contexts."""

    contexts: tuple[Context, ...]
    build: Callable[[tuple[Context, ...]], Message]


@dataclass(frozen=True, slots=True)
class Framed:
    """The branches' prompts. off: why the second branch is missing, empty when it is not."""

    main: Draft
    fine: Draft | None = None
    noise: Draft | None = None
    off: str = ""
    prompt: str = ""  # name and version of the wording, for provenance


class Expand(Protocol):
    """Queries to retrieve by, the question first."""

    def __call__(self, question: str, tools: Tools) -> tuple[str, ...]: ...


class Retrieve(Protocol):
    """Passages for one or more queries, best first, none twice."""

    def __call__(self, queries: Sequence[str], tools: Tools) -> tuple[Hit, ...]: ...


class Gather(Protocol):
    """Rounds of retrieval of a method's own; yields progress, returns what was gathered."""

    def __call__(self, question: str, tools: Tools) -> Generating[Event, None, Gathered]: ...


class Select(Protocol):
    """What of the hits goes into which branch."""

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection: ...


class Refine(Protocol):
    """A further query, or None when the evidence suffices."""

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> str | None: ...


class Frame(Protocol):
    """Prompts of the branches. so_far: text of the answer that stands already."""

    def __call__(self, question: str, selection: Selection, so_far: str) -> Framed: ...


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence that was just generated, and what was generated before it in the same pass.

    prompt: of the main branch; it ends with `so_far`, what stands of earlier passes.
    steps: of the pass; the sentence is steps[first:]. after: attention row of the position
    after the last step, where it is known.
    """

    question: str
    prompt: EncodedPrompt
    so_far: str
    steps: tuple[Step, ...]
    first: int
    after: tuple[float, ...] = ()
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Again:
    """Retrieve by `query`, and write the sentence anew. word, score: what asked for it."""

    query: str
    word: str
    score: float


class Watch(Protocol):
    """Called after each sentence; reads attention rows (`Step.looked`)."""

    def rounds(self, tools: Tools) -> int:
        """Most further retrievals; after the last the answer is written to its end."""
        ...

    def __call__(self, written: Written, tools: Tools) -> Again | None: ...


@dataclass(frozen=True, slots=True)
class Method:
    """A way to answer: stages and a decoder.

    gather stands in place of expand, retrieve and refine. Without it and without retrieve the
    model answers from its memory alone.
    """

    name: str
    summary: str
    source: str
    decode: str = "plain"
    expand: Expand | None = None
    retrieve: Retrieve | None = None
    refine: Refine | None = None
    select: Select | None = None
    watch: Watch | None = None
    gather: Gather | None = None
    rounds: int = 3  # most further retrievals by refine
    base: str = ""  # base pipeline whose stages these are, where it has a name

    @property
    def reads(self) -> bool:
        """Whether it reads documents at all."""
        return self.retrieve is not None or self.gather is not None


def sources_of(contexts: Sequence[Context]) -> tuple[Source, ...]:
    """The contexts' sentences as sources, in prompt order."""
    return tuple(
        Source(slot, sentence)
        for slot, context in enumerate(contexts)
        for sentence in context.sentences
    )
