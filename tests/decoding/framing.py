"""Prompts for the branches from question rows, as the methods frame them, without an index."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.decoding.loop import BranchPrompts, RiskContext
from ragcli.llm.base import EncodedPrompt, Generator
from ragcli.llm.prompts import answer, closed_book
from ragcli.types import Sentence, Source

LONG = (
    "You answer questions from the documents given. Write a long, detailed answer of at least "
    "eight sentences. Use what the documents say."
)


@dataclass(frozen=True, slots=True)
class Passage:
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """passages: best first by words shared with the question; the last is the noise."""

    text: str
    passages: tuple[Passage, ...]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower()))


def hotpot(data: Path, count: int) -> list[Question]:
    """The first `count` questions of the development set."""
    found = []
    for line in (data / "qa" / "hotpotqa_dev.jsonl").read_text("utf-8").splitlines()[:count]:
        row = json.loads(line)
        passages = [Passage(p["title"], tuple(p["sentences"])) for p in row["passages"]]
        wanted = words(row["question"])
        passages.sort(key=lambda p: -len(wanted & words(" ".join(p.sentences))))
        found.append(Question(row["question"], tuple(passages)))
    return found


def xquad(data: Path, count: int, step: int = 13) -> list[Question]:
    """Every `step`-th question with all paragraphs as candidates, the best 10 of them."""
    from ragcli.text.sentences import split_sentences
    from ragcli.types import Block

    corpus = []
    for line in (data / "corpus" / "xquad_en.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        spans = split_sentences(row["text"], [Block(0, len(row["text"]), "paragraph")])
        texts = tuple(span.of(row["text"]) for span in spans)
        corpus.append((words(row["text"]), Passage(row["title"], texts)))
    found = []
    for line in (data / "qa" / "xquad_en_dev.jsonl").read_text("utf-8").splitlines()[::step]:
        text = json.loads(line)["question"]
        wanted = words(text)
        best = sorted(corpus, key=lambda one: -len(wanted & one[0]))[:10]
        found.append(Question(text, tuple(passage for _, passage in best)))
    return found[:count]


def _sources(passages: Sequence[Passage]) -> list[Source]:
    return [
        Source(slot, Sentence(0, slot, slot, 0, len(text), text, None, 1, passage.title))
        for slot, passage in enumerate(passages)
        for text in passage.sentences
    ]


def framed(
    generator: Generator, question: str, passages: Sequence[Passage], system: str
) -> EncodedPrompt:
    user = answer.user(question, [p.title for p in passages], _sources(passages))
    return generator.chat(system, user)


def best_sentences(question: Question, count: int, documents: int) -> list[Passage]:
    """The sentences that share most words with the question, each under its title."""
    wanted = words(question.text)
    ranked = sorted(
        ((p.title, text) for p in question.passages[:documents] for text in p.sentences),
        key=lambda one: -len(wanted & words(one[1])),
    )
    return [Passage(title, (text,)) for title, text in ranked[:count]]


def branch_prompts(
    generator: Generator,
    question: Question,
    *,
    documents: int = 3,
    system: str = LONG,
    noise: str = "lowest",
) -> BranchPrompts:
    """Documents, three sentences, and the noise: the lowest document or the bare question."""
    main = framed(generator, question.text, question.passages[:documents], system)
    fine = framed(generator, question.text, best_sentences(question, 3, documents), system)
    if noise == "lowest":
        second = framed(generator, question.text, question.passages[-1:], system)
    else:
        second = generator.chat(closed_book.system(), closed_book.user(question.text))
    return BranchPrompts(main, fine, second)


def retrieval_risk(question: Question, documents: int = 3) -> RiskContext:
    """Scores by shared words, scaled so that the best document has 1."""
    wanted = words(question.text)
    shared = [len(wanted & words(" ".join(p.sentences))) for p in question.passages[:documents]]
    top = max(*shared, 1)
    return RiskContext(1.0, tuple(count / top for count in shared), "retrieval")
