"""What the core yields while it works. Terminal, JSON and tests consume the same events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragcli.types import Answer, AnswerSentence, FileStatus, Hit, Source, Step


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class Scanned(Event):
    """The walk is over: `found` files to account for, `total_bytes` in those to read."""

    found: int
    to_read: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class FileDone(Event):
    """One file is accounted for. `unchanged` files are not announced one by one."""

    path: Path
    status: FileStatus
    reason: str = ""
    size: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Removed(Event):
    """A file that the index held is gone from its place, deleted or moved."""

    path: Path


@dataclass(frozen=True, slots=True)
class Verified(Event):
    """`--verify`: what was compared with the truth.

    files: hashed; changed: those of them with other content under the stamp that the index
    knows. mended: what was wrong with the index itself, a line each.
    """

    files: int
    changed: int
    mended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """Work done inside a stage ("embed", "write"): `done` of `total` units."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Indexed(Event):
    """The run is over. found == indexed + unchanged + skipped + failed (partial is within indexed)."""

    found: int
    indexed: int
    partial: int
    unchanged: int
    skipped: int
    failed: int
    removed: int
    moved: int
    passages: int
    generation: int
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved(Event):
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Selected(Event):
    sources: tuple[Source, ...]
    by: str  # which selector and which backend ran


@dataclass(frozen=True, slots=True)
class Token(Event):
    step: Step


@dataclass(frozen=True, slots=True)
class Cited(Event):
    sentence: AnswerSentence


@dataclass(frozen=True, slots=True)
class Warned(Event):
    message: str


@dataclass(frozen=True, slots=True)
class Finished(Event):
    answer: Answer
