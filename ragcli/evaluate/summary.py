"""From rows to a table: means with intervals, and each arm against the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ragcli.evaluate.metrics.bootstrap import Interval, interval, mean_interval, paired_difference
from ragcli.evaluate.metrics.registry import DERIVED, METRICS

Row = Mapping[str, Any]

# The tables for people; everything is in the document.
HEADLINE = ("em", "f1", "contains", "str_em", "str_hit", "list_f1_5", "claim_recall", "rouge_l")
DETAILS = ("answer_words", "knowledge_precision", "knowledge_recall", "knowledge_f1",
           "knowledge_answer", "citation_recall", "citation_precision", "label_f1", "abstention",
           "seconds", "prompt_tokens", "generated_tokens")  # fmt: skip
COMPARED = ("em", "f1", "str_em", "list_f1_5", "claim_recall", "knowledge_f1", "seconds")


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """An arm's means over the questions it answered. against: minus the first arm's."""

    name: str
    questions: int
    metrics: dict[str, Interval]
    against: dict[str, Interval]


def summarise(rows: Iterable[Row], arms: Sequence[str], *, seed: int = 0) -> tuple[ArmSummary, ...]:
    """One summary an arm, in their order; arms without rows are left out.

    Differences are paired: over the questions that both arms answered.
    """
    table: dict[str, dict[str, Mapping[str, float]]] = {name: {} for name in arms}
    for row in rows:
        table[row["arm"]][row["question_id"]] = row["scores"]
    first = next((name for name in arms if table[name]), "")
    return tuple(
        ArmSummary(
            name,
            len(table[name]),
            _means(table[name], seed),
            {} if name == first else _differences(table[name], table[first], seed),
        )
        for name in arms
        if table[name]
    )


def _means(scores: Mapping[str, Mapping[str, float]], seed: int) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for name in METRICS:
        values = [row[name] for row in scores.values() if name in row]
        if values:
            found[name] = mean_interval(values, seed=seed)
    for derived in DERIVED.values():
        columns = _columns(scores, derived.of)
        if columns[0]:
            found[derived.name] = interval(columns, derived.combine, seed=seed)
    return found


def _columns(scores: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> list[list[float]]:
    """One column a metric, of the rows that have them all."""
    whole = [row for row in scores.values() if all(name in row for name in names)]
    return [[row[name] for row in whole] for name in names]


def _differences(
    ours: Mapping[str, Mapping[str, float]], theirs: Mapping[str, Mapping[str, float]], seed: int
) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    common = [id for id in ours if id in theirs]
    for name in METRICS:
        pairs = [
            (ours[id][name], theirs[id][name])
            for id in common
            if name in ours[id] and name in theirs[id]
        ]
        if pairs:
            mine, other = zip(*pairs, strict=True)
            found[name] = paired_difference(mine, other, seed=seed)
    for derived in DERIVED.values():
        both = [id for id in common if all(n in ours[id] and n in theirs[id] for n in derived.of)]
        if both:
            columns = [[side[id][n] for id in both] for side in (ours, theirs) for n in derived.of]
            found[derived.name] = interval(columns, partial(_minus, derived.combine), seed=seed)
    return found


def _minus(combine: Callable[..., Any], *means: Any) -> Any:
    """What `combine` makes of the first half, less what it makes of the second."""
    half = len(means) // 2
    return combine(*means[:half]) - combine(*means[half:])


def document(
    summaries: Sequence[ArmSummary], run: Mapping[str, Any], rows: Sequence[Row]
) -> dict[str, Any]:
    """`ragcli/eval@1`. run: what was run on what, and how far it came; rows: without texts."""
    return {
        "schema": "ragcli/eval@1",
        **run,
        "arms": [
            {
                "name": one.name,
                "questions": one.questions,
                "metrics": {name: _interval(value) for name, value in one.metrics.items()},
                "against_first": {name: _interval(value) for name, value in one.against.items()},
            }
            for one in summaries
        ],
        "rows": [
            {name: row[name] for name in ("key", "arm", "question_id", "answer", "scores")}
            for row in rows
        ],
    }


def table(summaries: Sequence[ArmSummary]) -> list[list[str]]:
    """Lines of cells for people, the header first: the headline's means with intervals."""
    names = _present(HEADLINE, summaries)
    lines = [["", "n", *(LABELS.get(name, name) for name in names)]]
    for one in summaries:
        cells = [_cell(one.metrics.get(name)) for name in names]
        lines.append([one.name, str(one.questions), *cells])
    return lines


def details(summaries: Sequence[ArmSummary]) -> list[list[str]]:
    """What stands behind the headline: knowledge, citations, cost; means alone."""
    names = _present(DETAILS, summaries)
    lines = [["", *(LABELS.get(name, name) for name in names)]]
    for one in summaries:
        lines.append([one.name, *(_cell(one.metrics.get(name), bare=True) for name in names)])
    return lines


def _present(names: Sequence[str], summaries: Sequence[ArmSummary]) -> list[str]:
    return [name for name in names if any(name in one.metrics for one in summaries)]


def comparison(summaries: Sequence[ArmSummary]) -> list[list[str]]:
    """Differences to the first arm, those whose interval holds no 0 marked with *."""
    names = [name for name in COMPARED if any(name in one.against for one in summaries)]
    lines = [["", *(LABELS.get(name, name) for name in names)]]
    for one in summaries:
        if one.against:
            lines.append([one.name, *(_cell(one.against.get(n), signed=True) for n in names)])
    return lines if len(lines) > 1 else []


def _cell(value: Interval | None, *, signed: bool = False, bare: bool = False) -> str:
    if value is None:
        return "–"
    sign = "+" if signed else ""
    digits = 1 if abs(value.estimate) >= 10 else 2
    text = f"{value.estimate:{sign}.{digits}f}"
    if bare or value.low is None or value.high is None:
        return text
    marked = "*" if signed and (value.low > 0 or value.high < 0) else ""
    return f"{text} [{value.low:{sign}.{digits}f}, {value.high:{sign}.{digits}f}]{marked}"


def _interval(value: Interval) -> dict[str, Any]:
    return {"mean": value.estimate, "low": value.low, "high": value.high, "n": value.n}


# Short names for the heads of columns; a metric without one goes by its own.
LABELS = {
    "em": "EM", "f1": "F1", "str_em": "str-EM", "str_hit": "str-hit", "answer_words": "words",
    "knowledge_precision": "KP", "knowledge_recall": "KR", "knowledge_f1": "KF1",
    "knowledge_answer": "holds", "citation_recall": "cite R", "citation_precision": "cite P",
    "citation_f1": "cite F1", "label_f1": "label F1", "abstention": "abstain",
    "rouge_l": "ROUGE-L", "bleu_1": "BLEU-1", "seconds": "s", "prompt_tokens": "prompt",
    "generated_tokens": "written",
}  # fmt: skip
