"""Alignment with the parts of a question, as JSON and for `ask --explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragcli.render.terminal import Printer, clean, columns, path_text
from ragcli.types import Alignment, Answer, Constituent, Hit, Passage, Trace

Json = dict[str, Any]
_HITS = 10  # rows of the table of passages
_QUERY = 70  # characters of a query shown


def _constituent(one: Constituent) -> Json:
    return {"kind": one.kind, "text": one.text, "start": one.start, "end": one.end}


def alignment_document(alignment: Alignment | None, passage: Passage) -> Json | None:
    """Which constituents of the question a passage matches, and where; null without an aligner."""
    if alignment is None:
        return None
    matched = []
    for one in alignment.matched:
        span = one.span
        place = None if span is None else {
            "start": span.start,
            "end": span.end,
            "text": passage.text[span.start - passage.start : span.end - passage.start],
        }  # fmt: skip
        matched.append({**_constituent(one.constituent), "score": one.score, "segment": place})
    return {
        "label": alignment.label.value,
        "ratio": alignment.ratio,
        "matched": matched,
        "missing": [_constituent(one) for one in alignment.missing],
        "dropped": [_constituent(one) for one in alignment.dropped],
        "aligner": alignment.aligner,
    }


def trace_document(trace: Trace | None, hits: Sequence[Hit]) -> Json | None:
    """Rounds of retrieval; null for a method that has none. Passages are named by their rank."""
    if trace is None:
        return None
    rank = {hit.passage.id: hit.rank for hit in hits}
    return {
        "by": trace.by,
        "ended": trace.ended,
        "constituents": [_constituent(one) for one in trace.constituents],
        "iterations": [
            {
                "queries": [
                    {
                        "text": query.text,
                        "kind": query.kind,
                        "of": rank.get(query.of or 0),
                        "found": query.found,
                    }
                    for query in one.queries
                ],
                "candidates": one.candidates,
                "labels": {"full": one.full, "partial": one.partial, "none": one.none},
                "kept": [rank[id] for id in one.kept if id in rank],
                "missing": list(one.missing),
                "score": one.score,
                "sufficient": one.sufficient,
            }
            for one in trace.iterations
        ],
    }


def print_alignment(printer: Printer, answer: Answer) -> None:
    """The question's parts, the rounds, and what each passage matches; only what there is."""
    if answer.trace is not None:
        _parts(printer, answer.trace)
        _rounds(printer, answer.trace)
    aligned = [hit for hit in answer.hits if hit.alignment is not None]
    if not aligned:
        return
    _heading(printer, f"Passages by alignment ({len(aligned)})")
    for hit in aligned[:_HITS]:
        _passage(printer, hit)
    if len(aligned) > _HITS:
        printer.line((f"… and {len(aligned) - _HITS} more; --json has all", "dim"))


def _heading(printer: Printer, text: str) -> None:
    printer.blank()
    printer.line((text, "heading"))


def _parts(printer: Printer, trace: Trace) -> None:
    _heading(printer, "Parts of the question")
    columns(printer, [[f"  {one.kind}", clean(one.text)] for one in trace.constituents])


def _rounds(printer: Printer, trace: Trace) -> None:
    _heading(printer, f"Rounds ({clean(trace.by)})")
    for number, one in enumerate(trace.iterations, start=1):
        verdict = "enough" if one.sufficient else "not enough"
        printer.line(
            f"  {number}: {one.candidates} candidates, {one.full} full, {one.partial} partial,"
            f" {one.none} no alignment; {len(one.kept)} kept; verified {one.score:.2f}, {verdict}",
            hang=5,
        )
        for query in one.queries:
            if query.kind != "question":
                text = clean(query.text)
                short = text if len(text) <= _QUERY else f"{text[:_QUERY]}…"
                printer.line((f"     {query.kind}: {short} ({query.found} found)", "dim"), hang=7)
        if one.missing:
            missing = ", ".join(f"“{clean(text)}”" for text in one.missing)
            printer.line(f"     matched by none: {missing}", hang=7)
    printer.line(f"  ended: {clean(trace.ended)}")


def _passage(printer: Printer, hit: Hit) -> None:
    alignment = hit.alignment
    assert alignment is not None
    total = len(alignment.matched) + len(alignment.missing)
    printer.line(
        f"{hit.rank:3} {alignment.label.value:7} {len(alignment.matched)}/{total}  ",
        (f"{path_text(hit.document.relative)}:{hit.passage.line}", "path"),
        hang=5,
    )
    for one in alignment.matched:
        span = one.span
        where = (
            "its heading"
            if span is None
            else f"“{clean(span.shift(-hit.passage.start).of(hit.passage.text))}”"
        )
        printer.line(f"     {clean(one.constituent.text)} → {where}", hang=7)
    if alignment.missing:
        missing = ", ".join(clean(one.text) for one in alignment.missing)
        printer.line((f"     missing: {missing}", "dim"), hang=7)
