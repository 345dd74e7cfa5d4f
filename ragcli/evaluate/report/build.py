"""From a kept run to the records of its page; the numbers are those of `summary`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragcli.errors import UsageError
from ragcli.evaluate.metrics.registry import DERIVED, METRICS, Derived, Metric
from ragcli.evaluate.report.answers import answer_view, label, number_text
from ragcli.evaluate.report.kept import Kept
from ragcli.evaluate.report.plots import plots
from ragcli.evaluate.report.sources import collect
from ragcli.evaluate.report.view import Cell, Heading, Page, QuestionView, Table, TableRow
from ragcli.evaluate.store import Row
from ragcli.evaluate.summary import (
    COMPARED,
    DETAILS,
    HEADLINE,
    LABELS,
    ArmSummary,
    comparison,
    details,
    summarise,
    table,
)
from ragcli.paths import shown
from ragcli.text.normalise import safe_for_terminal

_CHIPS = ("f1", "str_em", "list_f1_5", "claim_recall", "rouge_l")  # the first that is known
_IN_QUESTION = (*HEADLINE, "knowledge_f1", "citation_recall", "citation_precision", "seconds")


# What reading a record raises that lacks a field, or has one of another kind.
_ILL_FORMED = (LookupError, TypeError, AttributeError, ValueError)


def build(kept: Kept, *, high: float) -> Page:
    """The page of a run. high: times the risk of a mark, from which it is strong.

    Raises UsageError for records that `eval run` did not write so.
    """
    try:
        return _page(kept, high)
    except _ILL_FORMED as error:
        raise UsageError(
            f"what is kept in {shown(kept.folder)} is damaged: {type(error).__name__}: {error}",
            hint="`ragcli eval run --again` with the same --out makes its rows anew",
        ) from error


def _page(kept: Kept, high: float) -> Page:
    summaries = summarise(kept.all_rows, kept.arms)
    chip = next((name for name in _CHIPS if any(name in s.metrics for s in summaries)), "")
    return Page(
        title=safe_for_terminal(_title(kept)),
        facts=_facts(kept),
        notes=_notes(kept),
        tables=_tables(summaries),
        plots=plots(summaries),
        chip=label(chip) if chip else "",
        questions=tuple(
            _question(kept, number, id, chip, high)
            for number, id in enumerate(kept.questions, start=1)
        ),
        glossary=_glossary(summaries),
    )


def _title(kept: Kept) -> str:
    names = {str(row.get("dataset", "")) for row in kept.all_rows} - {""}
    return f"Evaluation on {', '.join(sorted(names))}" if names else "Evaluation"


def _facts(kept: Kept) -> tuple[tuple[str, str], ...]:
    run = kept.run
    data, model = run.get("dataset", {}), run.get("model", {})
    encoder = run.get("encoder", {})
    asked = f"{len(kept.questions)}"
    if data.get("questions", len(kept.questions)) != len(kept.questions):
        asked += f" of {data['questions']}"
    digests = sorted({str(row.get("model", "")) for row in kept.all_rows} - {""})
    models = f"{model['name']} ({model['sha256'][:12]})" if model else ", ".join(digests)
    verifiers = ", ".join(sorted({str(row.get("verifier", "")) for row in kept.all_rows}))
    facts = [
        ("data", str(data.get("name", ""))),
        ("questions", asked),
        ("arms", ", ".join(kept.arms)),
        ("model", models),
        ("encoder", str(encoder.get("name", "")) if isinstance(encoder, dict) else str(encoder)),
        ("passages searched", str(data.get("passages", ""))),
        ("settings of all arms", " ".join(run.get("settings", ()))),
        ("citations judged by", verifiers),
        ("a citation says", f"its {run['premise']}" if "premise" in run else ""),
        ("abstention", _abstention(run)),
    ]
    return tuple((name, safe_for_terminal(value)) for name, value in facts if value)


def _abstention(run: Mapping[str, Any]) -> str:
    if "forced" not in run:
        return ""
    forced = "answers are forced; abstain is the share that ragcli ask would not have given"
    return forced if run["forced"] else "allowed, as in ragcli ask"


def _notes(kept: Kept) -> tuple[str, ...]:
    notes = []
    made = len(kept.all_rows)
    if made < kept.planned:
        notes.append(f"The run is not over: {made} of {kept.planned} answers are there.")
    if not kept.run:
        notes.append(
            "The folder does not say what was run: shown is the last row of each arm and question,"
            " without the expected answers."
        )
    if not any(row["key"] in kept.answers for row in kept.all_rows):
        notes.append("Whole answers were not kept: tokens, citations and sources are missing.")
    return tuple(notes)


def _tables(summaries: Sequence[ArmSummary]) -> tuple[Table, ...]:
    against = comparison(summaries)
    found = [_table("Means with 95 % intervals", table(summaries), HEADLINE)]
    if against:
        caption = f"Difference to {safe_for_terminal(summaries[0].name)}, question by question"
        found.append(_table(caption, against, COMPARED))
    found.append(_table("Knowledge, citations and cost (means)", details(summaries), DETAILS))
    return tuple(found)


def _table(caption: str, lines: Sequence[Sequence[str]], names: Sequence[str]) -> Table:
    docs = {label_: _doc(name) for name in names if (label_ := LABELS.get(name, name))}
    docs["n"] = "questions answered"
    head, *body = lines
    return Table(
        caption,
        tuple(Heading(text, docs.get(text, "")) for text in head[1:]),
        tuple(TableRow(safe_for_terminal(line[0]), tuple(map(_cell, line[1:]))) for line in body),
    )


def _cell(text: str) -> Cell:
    value, bracket, interval = text.partition(" [")
    return Cell(value, (bracket + interval).strip(" *"), text.endswith("*"))


def _doc(name: str) -> str:
    return METRICS[name].doc if name in METRICS else DERIVED[name].doc


def _glossary(summaries: Sequence[ArmSummary]) -> tuple[tuple[str, str, str], ...]:
    every: dict[str, Metric | Derived] = {**METRICS, **DERIVED}
    present = [name for name in every if any(name in one.metrics for one in summaries)]
    return tuple((label(name), every[name].doc, every[name].source) for name in present)


def _question(kept: Kept, number: int, id: str, chip: str, high: float) -> QuestionView:
    rows = [
        (safe_for_terminal(arm), kept.rows[arm][id]) for arm in kept.arms if id in kept.rows[arm]
    ]
    given = [(arm, row, kept.answers.get(row["key"])) for arm, row in rows]
    sources = collect(given)
    return QuestionView(
        number=number,
        id=safe_for_terminal(id),
        text=safe_for_terminal(str(rows[0][1]["question"])),
        expected=_expected(kept.known.get(id, {})),
        reference=safe_for_terminal(str(kept.known.get(id, {}).get("reference", ""))),
        scores=_scores(rows),
        chips=tuple(
            (safe_for_terminal(arm), number_text(row["scores"][chip]))
            for arm, row in rows
            if chip in row["scores"]
        ),
        answers=tuple(
            answer_view(place, arm, row, answer, sources.numbers, high)
            for place, (arm, row, answer) in enumerate(given, start=1)
        ),
        sources=sources.main,
        others=sources.others,
        unseen=sources.unseen,
    )


def _expected(known: Mapping[str, Any]) -> tuple[str, ...]:
    """Aliases of the answer on one line; several answers, and claims, on one line each."""
    lines = [" / ".join(map(str, known.get("answers", ())))]
    lines += [" / ".join(map(str, part)) for part in known.get("parts", ())]
    lines += [str(claim) for claim in known.get("claims", ())]
    return tuple(safe_for_terminal(line) for line in dict.fromkeys(lines) if line)


def _scores(rows: Sequence[tuple[str, Row]]) -> Table:
    names = [name for name in _IN_QUESTION if any(name in row["scores"] for _, row in rows)]
    return Table(
        "Scores of this question",
        tuple(Heading(label(name), _doc(name)) for name in names),
        tuple(
            TableRow(
                safe_for_terminal(arm),
                tuple(
                    Cell(number_text(row["scores"][name]) if name in row["scores"] else "–")
                    for name in names
                ),
            )
            for arm, row in rows
        ),
    )
