"""An arm's answer to a question, as it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragcli.decoding.options import DragOptions
from ragcli.evaluate.metrics.registry import DERIVED, METRICS
from ragcli.evaluate.report.highlights import (
    Levels,
    Mark,
    Run,
    Token,
    marks_of,
    runs_of,
    runs_written,
    visible,
    written,
)
from ragcli.evaluate.report.sources import Place, place_of
from ragcli.evaluate.report.view import AnswerView, CitationView, SentenceView, TokenView
from ragcli.evaluate.store import Row
from ragcli.evaluate.summary import LABELS
from ragcli.text.normalise import safe_for_terminal

_REMARKS = {"partly": "partly supported", "unsupported": "not supported by the sources"}
_STOPS = {
    "length": "it was cut at the longest answer allowed",
    "repetition": "it was stopped because it repeated itself",
    "interrupted": "it was interrupted",
}


def answer_view(
    number: int,
    arm: str,
    row: Row,
    answer: Mapping[str, Any] | None,
    numbers: Mapping[Place, int],
    high: float,
) -> AnswerView:
    """numbers: of the question's source sentences. high: times the risk of a mark, from which it is strong."""
    scores = tuple((label(name), number_text(row["scores"][name])) for name in _known(row))
    facts = _facts(row)
    if answer is None:
        text = (SentenceView((Run(safe_for_terminal(row["answer"])),)),) if row["answer"] else ()
        return AnswerView(number, arm, text, _notes(row, {}), facts, scores, whole=False)
    tokens = answer.get("tokens", ())
    risky = float(answer.get("parameters", {}).get("drag.delta", DragOptions().delta))
    levels = Levels(risky, risky * high)
    differs = written(tokens).strip() != str(answer["answer"]).strip()
    return AnswerView(
        number,
        arm,
        _sentences(answer, marks_of(answer["answer"], tokens, levels), numbers),
        _notes(row, answer),
        facts,
        scores,
        len(tokens),
        tuple(_token(token, levels) for token in tokens if _is_marked(token, levels)),
        runs_written(tokens, levels) if tokens and differs else (),
        levels.risky,
        levels.high,
    )


def label(name: str) -> str:
    """A metric's short name."""
    return LABELS.get(name, name.replace("_", " "))


def number_text(value: float) -> str:
    """A score, as the tables of a run write it; whole numbers above 10 without a point."""
    if abs(value) >= 10:
        return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"
    return f"{value:.2f}"


def _known(row: Row) -> list[str]:
    return [name for name in (*METRICS, *DERIVED) if name in row["scores"]]


def _sentences(
    answer: Mapping[str, Any], marks: tuple[Mark, ...], numbers: Mapping[Place, int]
) -> tuple[SentenceView, ...]:
    text = str(answer["answer"])
    if not answer["sentences"]:
        return (SentenceView(runs_of(text, 0, len(text), marks)),) if text else ()
    found: list[SentenceView] = []
    end = 0
    for one in answer["sentences"]:
        found.append(
            SentenceView(
                runs_of(text, one["start"], one["end"], marks),
                tuple(CitationView(c["number"], numbers[place_of(c)]) for c in one["citations"]),
                _REMARKS.get(one["verdict"], ""),
                bool(found) and "\n" in text[end : one["start"]],
                tuple(safe_for_terminal(quoted) for quoted in one["false_quotations"]),
            )
        )
        end = one["end"]
    return tuple(found)


def _notes(row: Row, answer: Mapping[str, Any]) -> tuple[str, ...]:
    notes: list[str] = []
    objection = str(row.get("objection") or "")
    if answer.get("abstained"):
        notes.append(f"It abstained: {objection or answer.get('reason', '')}")
    elif objection:
        notes.append(f"ragcli ask would not have given this answer: {objection}")
    stop = _STOPS.get(str(row.get("stop", "")))
    notes += [f"What was written is not whole: {stop}"] if stop else []
    notes += [str(warning) for warning in row.get("warnings", ())]
    return tuple(safe_for_terminal(note) for note in notes)


def _facts(row: Row) -> tuple[tuple[str, str], ...]:
    counts = row.get("counts", {})
    facts = [("sentences chosen by", str(row.get("by") or ""))]
    facts += [
        ("passages found", _count(counts, "hits")),
        ("sentences shown", _count(counts, "shown")),
    ]
    facts += [("tokens calibrated", _count(counts, "calibrated"))]
    labels = counts.get("labels") or {}
    facts.append(("labels of passages", ", ".join(f"{n} {k}" for k, n in labels.items())))
    facts.append(("rounds of retrieval", _count(counts, "iterations")))
    seconds = row.get("timings", {})
    facts.append(
        ("seconds", ", ".join(f"{k.replace('_', ' ')} {v:.2f}" for k, v in seconds.items()))
    )
    return tuple((name, safe_for_terminal(value)) for name, value in facts if value)


def _count(counts: Mapping[str, Any], name: str) -> str:
    return str(counts[name]) if counts.get(name) is not None else ""


def _is_marked(token: Token, levels: Levels) -> bool:
    return bool(levels.of(token) or token.get("calibrated"))


def _token(token: Token, levels: Levels) -> TokenView:
    risk = token.get("risk") or {}
    parts = {name: _risk(risk.get(name)) for name in ("lexical", "attention", "prediction")}
    other = token.get("alternative")
    return TokenView(
        text=visible(text) if (text := str(token["text"])) else "",
        level=levels.of(token),
        total=_risk(risk.get("total")),
        replaced="" if other is None else visible(str(other)),
        calibrated=bool(token.get("calibrated")),
        **parts,
    )


def _risk(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
