"""From an answer to a row: what was given, what was shown, how good it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.counting import Count
from ragcli.evaluate.metrics.citation import Cited, Entails
from ragcli.evaluate.metrics.knowledge import Piece
from ragcli.evaluate.metrics.registry import Case, Outcome, score
from ragcli.evaluate.types import Arm, Question
from ragcli.llm.base import Vocabulary
from ragcli.methods.run import DOUBTED, THIN
from ragcli.text.normalise import readable
from ragcli.types import Answer, Citation, Document, Sentence

Premise = Literal["sentence", "passage"]
ROW_VERSION = 1  # raise it when the same answer gets other scores: rows are then made anew


@dataclass(frozen=True, slots=True)
class Judging:
    """What answers are judged with. verifier: its name; premise: what a citation says."""

    entails: Entails
    verifier: str
    vocabulary: Vocabulary
    premise: Premise = "sentence"


@dataclass(frozen=True, slots=True)
class Asked:
    """One answered question of an arm."""

    arm: Arm
    question: Question
    answer: Answer
    seconds: float
    count: Count


def objection(answer: Answer) -> str:
    """Why `ask` would have abstained, "" if it would not: thin evidence, or a doubtful answer."""
    if answer.abstained:
        return answer.reason
    for warning in answer.warnings:
        for mark in (THIN, DOUBTED):
            if warning.startswith(mark):
                return warning.removeprefix(mark)
    return ""


def row_of(key: str, asked: Asked, corpus: Corpus, judging: Judging) -> dict[str, Any]:
    """The row of one answer. Raises MetricError, IndexUnusable."""
    answer, question = asked.answer, asked.question
    outcome = outcome_of(asked, corpus, judging)
    scores = score(Case(outcome, question, judging.entails))
    return {
        "key": key,
        "arm": asked.arm.name,
        "question_id": question.id,
        "question": question.text,
        "answer": answer.text,
        "scores": {name: round(value, 6) for name, value in scores.items()},
        "objection": objection(answer),
        "stop": answer.stop,
        "warnings": [text for text in answer.warnings if not text.startswith((THIN, DOUBTED))],
        "timings": {name: round(value, 4) for name, value in answer.timings.items()},
        "counts": counts_of(asked),
        "selected": [[one.document, one.start, one.end] for one in outcome.selected],
        "cited": [[one.document, one.start, one.end] for one in outcome.cited],
        "gold": [[one.document, one.start, one.end] for one in outcome.gold],
        "by": answer.provenance.get("selected_by", ""),
        "verifier": judging.verifier,
    }


def is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a row that was kept has what a comparison reads of it."""
    named = all(isinstance(row.get(name), str) for name in ("question_id", "question", "answer"))
    scores = row.get("scores")
    if not named or not isinstance(scores, dict) or "seconds" not in scores:
        return False
    return all(isinstance(one, (int, float)) and math.isfinite(one) for one in scores.values())


def outcome_of(asked: Asked, corpus: Corpus, judging: Judging) -> Outcome:
    """The answer as the metrics see it; places are sentences, or documents where labels are."""
    answer, question = asked.answer, asked.question
    documents = {hit.document.id: hit.document for hit in answer.hits}
    by_passage = corpus.by_passage(question)
    shown = [(documents[s.sentence.document_id], s.sentence) for s in answer.selected]
    citations = [one for sentence in answer.sentences for one in sentence.citations]
    knowledge = " ".join(readable(sentence.text) for _, sentence in shown)
    return Outcome(
        text=answer.text,
        abstained=bool(objection(answer)),
        sentences=tuple(
            Cited(s.text, tuple(premise(one, answer, judging.premise) for one in s.citations))
            for s in answer.sentences
        ),
        selected=places(corpus, shown, by_passage),
        cited=places(corpus, [(one.document, one.sentence) for one in citations], by_passage),
        gold=corpus.gold(question),
        knowledge=None if asked.arm.knowledge == "none" else knowledge,
        knowledge_tokens=len(judging.vocabulary.tokenize(knowledge)) if knowledge else 0,
        prompt_tokens=asked.count.read,
        generated_tokens=len(answer.steps),
        seconds=asked.seconds,
    )


def places(
    corpus: Corpus, shown: Sequence[tuple[Document, Sentence]], by_passage: bool
) -> tuple[Piece, ...]:
    """Where the sentences stand, each place once, in order; headings state nothing."""
    pieces = (
        corpus.whole(document) if by_passage else corpus.piece(document, sentence)
        for document, sentence in shown
        if not sentence.is_heading
    )
    return tuple(dict.fromkeys(pieces))


def premise(citation: Citation, answer: Answer, unit: Premise) -> str:
    """What a citation says: its title line, then the sentence or the whole passage."""
    sentence, title = citation.sentence, citation.document.title
    text = sentence.text
    if unit == "passage":
        held = (hit.passage for hit in answer.hits if hit.passage.id == sentence.passage_id)
        text = next((passage.text for passage in held), text)
    return f"{readable(title)}\n{readable(text)}" if title else readable(text)


def counts_of(asked: Asked) -> dict[str, Any]:
    """What happened on the way, as numbers."""
    answer = asked.answer
    risks = [s.risk.total for s in answer.steps if s.risk is not None and s.risk.total is not None]
    found: dict[str, Any] = {
        "hits": len(answer.hits),
        "shown": len(answer.selected),
        "fed": asked.count.fed,
        "calls": asked.count.calls,
        "seconds_saved": round(asked.count.saved, 4),
        "calibrated": sum(step.calibrated for step in answer.steps),
        "risk_mean": round(sum(risks) / len(risks), 6) if risks else None,
        "retrievals": len(answer.provenance.get("retrievals", ())),
    }
    if answer.trace is not None:
        labels = Counter(str(h.alignment.label) for h in answer.hits if h.alignment is not None)
        kept = set(answer.trace.iterations[-1].kept) if answer.trace.iterations else set()
        held = Counter(
            str(h.alignment.label)
            for h in answer.hits
            if h.alignment is not None and h.passage.id in kept
        )
        found["iterations"] = len(answer.trace.iterations)
        found["labels"] = dict(sorted(labels.items()))
        found["labels_kept"] = dict(sorted(held.items()))
    return found
