"""Frozen records of an evaluation: questions with what is known of their answers, and arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GoldLevel = Literal["", "sentence", "passage"]
Knowledge = Literal["retrieved", "gold", "full", "none"]


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A passage that comes with a question or a corpus.

    sentences: as the data cut them. gold: which of them are needed, empty where it is not
    known. gold_level "passage": all sentences of a needed passage are marked.
    """

    id: str
    title: str
    sentences: tuple[str, ...]
    gold: tuple[bool, ...] = ()
    gold_level: GoldLevel = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of its answer.

    answers: aliases of one short answer. parts: several short answers, each with its aliases
    (ASQA, QAMPARI). claims: sentences the answer should entail (ELI5). reference: a long answer.
    passages: its own candidates, where it brings them. gold_passages: ids in the corpus.
    answer_start: offset of the answer in the text of its gold passage.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    reference: str = ""
    passages: tuple[GivenPassage, ...] = ()
    gold_passages: tuple[str, ...] = ()
    answer_start: int | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, and the texts they are answered from.

    left_out: questions whose list of answers is empty; what has no answer cannot be scored.
    corpus: shared by all questions. own: whether a question is answered from its own passages
    alone. Both empty: from the user's index.
    """

    name: str
    questions: tuple[Question, ...]
    corpus: tuple[GivenPassage, ...] = ()
    own: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to answer, as it is compared with others.

    knowledge: gold (the gold sentences alone), full (all of the question's passages), none
    (from memory). settings: `--set` assignments beside those of the run.
    """

    name: str
    method: str = "plain"
    base: str | None = None
    select: str | None = None
    decode: str | None = None
    verbatim: bool = False
    knowledge: Knowledge = "retrieved"
    settings: tuple[str, ...] = ()
