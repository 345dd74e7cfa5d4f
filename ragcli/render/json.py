"""Records as JSON documents, valid for the schemas in `ragcli/schemas/`.

Valid UTF-8 always and no NaN: a lone surrogate becomes U+FFFD, a number that is none
becomes null. An undecodable byte of a path is written ``\\xNN``, and the path's exact
bytes are then beside it in hexadecimal (`path_bytes`). Offsets count Unicode code points
of the extracted text.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragcli import events as ev
from ragcli.paths import shown
from ragcli.render.alignment import alignment_document, trace_document
from ragcli.types import (
    Answer,
    AnswerSentence,
    Citation,
    Document,
    Hit,
    Passage,
    RetrieverScore,
    Risk,
    Sentence,
    Source,
    Step,
)

Json = dict[str, Any]
# Legal in JSON text, but not to be sent to a terminal as they are; and no text at all.
_ESCAPED = re.compile("[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = 6


def dumps(document: Mapping[str, Any]) -> str:
    """The document on one line, without a line end."""
    text = json.dumps(_clean(document), ensure_ascii=False, allow_nan=False)
    text = _SURROGATE.sub("\ufffd", text)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _clean(value: Any) -> Any:
    """What JSON can hold: numbers that are numbers, rounded; paths as text; records as objects."""
    if isinstance(value, float):
        return round(value, _DIGITS) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _clean(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(one) for one in value]
    if isinstance(value, os.PathLike):
        return shown(value)
    return value


def error_document(code: str, exit_code: int, message: str, hint: str, **more: Any) -> Json:
    """`ragcli/error@1`."""
    return {
        "schema": "ragcli/error@1",
        "code": code,
        "exit_code": int(exit_code),
        "message": message,
        "hint": hint,
        **more,
    }


def path_fields(path: str | os.PathLike[str], name: str = "path") -> Json:
    """`{"path": …}`, and `"path_bytes"` where the path is not valid UTF-8."""
    raw = os.fsencode(os.fspath(path))
    fields = {name: shown(path)}
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        fields[f"{name}_bytes"] = raw.hex()
    return fields


def _document(document: Document) -> Json:
    return {
        **path_fields(document.path),
        "relative": shown(document.relative),
        "type": document.kind,
        "title": document.title,
        "sha256": document.sha256,
    }


def _place(piece: Sentence | Passage) -> Json:
    return {
        "page": piece.page,
        "line": piece.line,
        "place": piece.place or None,
        "start": piece.start,
        "end": piece.end,
        "heading": piece.heading,
        "text": piece.text,
    }


def _retriever(score: RetrieverScore | None) -> Json | None:
    return None if score is None else {"score": score.score, "rank": score.rank}


def hit_document(hit: Hit) -> Json:
    """One hit, as in `search@1` and `answer@1`."""
    best = hit.best_sentence
    return {
        "rank": hit.rank,
        "score": hit.score,
        "lexical": _retriever(hit.lexical),
        "dense": _retriever(hit.dense),
        **_document(hit.document),
        **_place(hit.passage),
        "best_sentence": None
        if best is None
        else {**_place(best), "score": hit.best_sentence_score},
        "alignment": alignment_document(hit.alignment, hit.passage),
    }


def search_document(
    query: str,
    hits: Sequence[Hit],
    *,
    mode: str,
    k: int,
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    index: Mapping[str, Any],
    warnings: Sequence[str] = (),
) -> Json:
    """`ragcli/search@1`; an empty result is a valid document."""
    return {
        "schema": "ragcli/search@1",
        "query": query,
        "mode": mode,
        "k": k,
        "in": list(globs),
        "type": list(kinds),
        "index": dict(index),
        "hits": [hit_document(hit) for hit in hits],
        "warnings": list(warnings),
    }


def citation_document(citation: Citation) -> Json:
    return {
        "number": citation.number,
        **_document(citation.document),
        **_place(citation.sentence),
        "score": citation.score,
        "verdict": citation.verdict.value,
    }


def sentence_document(sentence: AnswerSentence) -> Json:
    return {
        "start": sentence.span.start,
        "end": sentence.span.end,
        "text": sentence.text,
        "verdict": sentence.verdict.value,
        "citations": [citation_document(one) for one in sentence.citations],
        "false_quotations": list(sentence.false_quotations),
    }


def _risk(risk: Risk | None) -> Json | None:
    if risk is None:
        return None
    return {
        "lexical": risk.lexical,
        "attention": risk.attention,
        "prediction": risk.prediction,
        "total": risk.total,
    }


def step_document(step: Step) -> Json:
    """One token. `attention`: mass on the first sentences of `selected`, those of the main prompt."""
    return {
        "token": step.token,
        "text": step.text,
        "logprob": step.logprob,
        "entropy": step.entropy,
        "risk": _risk(step.risk),
        "calibrated": step.calibrated,
        "alternative": step.alternative,
        "attention": list(step.attention),
    }


def source_document(
    source: Source, documents: Mapping[int, Document], scores: Mapping[Any, float] | None = None
) -> Json:
    """A sentence that was in the prompt. scores: an organizer's, by path, start and end."""
    document = documents.get(source.sentence.document_id)
    where = {"path": None} if document is None else _document(document)
    fields = {"slot": source.document_slot, **where, **_place(source.sentence)}
    key = (where["path"], source.sentence.start, source.sentence.end)
    return {**fields, "score": scores[key]} if scores and key in scores else fields


def answer_document(answer: Answer, searched: Json | None = None) -> Json:
    """`ragcli/answer@1`: the answer, what it rests on, and what a replay needs.

    searched: where there is no answer, what was searched (`answer.searched_document`).
    """
    documents = {hit.document.id: hit.document for hit in answer.hits}
    origin = answer.provenance
    organized = (origin.get("organized") or {}).get("sentences", ())
    scores = {(one["path"], one["start"], one["end"]): one["score"] for one in organized}
    return {
        "schema": "ragcli/answer@1",
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "searched": searched,
        "stop": answer.stop,
        "method": answer.method,
        "model": origin.get("model"),
        "seed": origin.get("seed"),
        "parameters": origin.get("options", {}),
        "sentences": [sentence_document(one) for one in answer.sentences],
        "tokens": [step_document(step) for step in answer.steps],
        "hits": [hit_document(hit) for hit in answer.hits],
        "selected": [source_document(one, documents, scores) for one in answer.selected],
        "timings": dict(answer.timings),
        "trace": trace_document(answer.trace, answer.hits),
        "warnings": list(answer.warnings),
        "provenance": {
            key: value for key, value in origin.items() if key not in {"model", "seed", "options"}
        },
    }


def answers_document(answers: Iterable[Json]) -> Json:
    """`ragcli/answers@1`: answer documents, or error documents, one a question, in order."""
    return {"schema": "ragcli/answers@1", "answers": list(answers)}


def file_document(done: ev.FileDone) -> Json:
    """What became of a file."""
    return {
        **path_fields(done.path),
        "status": done.status.value,
        "reason": done.reason,
        "size": done.size,
        "passages": done.passages,
    }


def event_document(
    event: ev.Event | Hit,
    documents: Mapping[int, Document] | None = None,
    searched: Json | None = None,
) -> Json:
    """`ragcli/event@1`: one line of `--jsonl`.

    documents: where the sources' files are, by id. searched: as in `answer_document`.
    """
    if isinstance(event, ev.Finished):
        answer = answer_document(event.answer, searched)
        return {"schema": "ragcli/event@1", "event": "finished", "answer": answer}
    name = type(event).__name__.lower()
    return {"schema": "ragcli/event@1", "event": name, **_event_fields(event, documents or {})}


def _event_fields(event: ev.Event | Hit, documents: Mapping[int, Document]) -> Json:
    match event:
        case Hit():
            return {"hit": hit_document(event)}
        case ev.FileDone():
            return {"file": file_document(event)}
        case ev.Retrieved():
            return {"hits": [hit_document(hit) for hit in event.hits]}
        case ev.Selected():
            sources = [source_document(one, documents) for one in event.sources]
            return {"by": event.by, "sources": sources}
        case ev.Token():
            return {"token": step_document(event.step)}
        case ev.Cited():
            return {"sentence": sentence_document(event.sentence)}
        case ev.Removed():
            return path_fields(event.path)
        case ev.Scanned() | ev.Progress() | ev.Indexed() | ev.Verified() | ev.Warned():
            return asdict(event)
        case _:
            raise TypeError(f"no JSON form: {type(event).__name__}")
