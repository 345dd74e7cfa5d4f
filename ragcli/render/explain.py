"""`ask --explain`: what was retrieved, which tokens were calibrated, where the model looked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragcli.render.alignment import print_alignment
from ragcli.render.risk import Levels
from ragcli.render.terminal import Printer, clean, columns, place
from ragcli.text.normalise import safe_for_terminal
from ragcli.types import Answer, Document, Risk, Step

_TOKENS = 20  # rows of a table of tokens
_SOURCES = 5


def print_explanation(printer: Printer, answer: Answer, levels: Levels) -> None:
    """The tables, each only where it has rows."""
    _heading(printer, "How this was answered")
    columns(printer, _facts(answer), styles=("dim",))
    print_alignment(printer, answer)
    _retrievals(printer, answer)
    calibrated = [step for step in answer.steps if step.calibrated]
    _tokens(printer, "Calibrated tokens: from, to, risk", calibrated, len(answer.steps))
    others = [step for step in answer.steps if not step.calibrated and levels.of(step)]
    _tokens(printer, "Risky tokens that were not calibrated", others, len(answer.steps))
    _attention(printer, answer)


def _heading(printer: Printer, text: str) -> None:
    printer.blank()
    printer.line((text, "heading"))


def _facts(answer: Answer) -> list[list[str]]:
    """Method, models and stages, one a row."""
    origin = answer.provenance
    index = origin.get("index") or {}
    named = {
        "method": answer.method,
        "base": origin.get("base"),
        "decoder": origin.get("decode"),
        "model": _name(origin.get("model")),
        "prompt": origin.get("prompt"),
        "selected by": origin.get("selected_by"),
        "verifier": origin.get("verifier"),
        "encoder": _name(index.get("encoder")),
        "index": f"generation {index.get('generation')}",
        "passages found": f"{len(answer.hits)}",
        "sentences read": f"{len(answer.selected)}",
        "tokens": f"{len(answer.steps)}",
    }
    rows = [[key, clean(str(value))] for key, value in named.items() if value]
    return rows + [[f"{stage}", f"{spent:.2f} s"] for stage, spent in answer.timings.items()]


def _name(record: object) -> str:
    return str(record.get("name", "")) if isinstance(record, Mapping) else ""


def _retrievals(printer: Printer, answer: Answer) -> None:
    """Retrievals in the middle of the answer: what asked for them, and with what query."""
    found = answer.provenance.get("retrievals") or ()
    if not found:
        return
    _heading(printer, f"Retrieved again ({len(found)})")
    for one in found:
        outcome = "written anew" if one["anew"] else "nothing new"
        printer.line(
            f"  at token {one['step']}, for “{clean(one['word'])}” ({one['score']:.2f}), {outcome}: "
            f"{clean(one['query'])}",
            hang=4,
        )


def _tokens(printer: Printer, title: str, steps: Sequence[Step], of: int) -> None:
    if not steps:
        return
    _heading(printer, f"{title} ({len(steps)} of {of})")
    rows = [[f"{_quoted(step)}", risk_parts(step.risk)] for step in steps[:_TOKENS]]
    columns(printer, rows)
    if len(steps) > _TOKENS:
        printer.line((f"… and {len(steps) - _TOKENS} more; --json has all", "dim"))


def _quoted(step: Step) -> str:
    new = f"“{_visible(step.text)}”"
    return f"“{_visible(step.alternative)}” → {new}" if step.alternative is not None else new


def _visible(text: str) -> str:
    return safe_for_terminal(text).replace("\n", "⏎").replace("\t", "⇥")


def risk_parts(risk: Risk | None) -> str:
    """`0.21 = lexical 0.80 × attention 0.50 × prediction 0.52`."""
    if risk is None:
        return "risk unknown"
    if risk.attention is None or risk.total is None:
        return f"attention unknown; lexical {risk.lexical:.2f}, prediction {risk.prediction:.2f}"
    return (
        f"{risk.total:.3f} = lexical {risk.lexical:.2f} × attention {risk.attention:.2f}"
        f" × prediction {risk.prediction:.2f}"
    )


def attention_by_source(steps: Sequence[Step]) -> list[float]:
    """Mean attention mass of each source sentence over the steps; empty without a tap."""
    rows = [step.attention for step in steps if step.attention]
    if not rows:
        return []
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _attention(printer: Printer, answer: Answer) -> None:
    masses = attention_by_source(answer.steps)
    if not masses or len(masses) > len(answer.selected):
        return
    documents: dict[int, Document] = {hit.document.id: hit.document for hit in answer.hits}
    ranked = sorted(zip(masses, answer.selected, strict=False), key=lambda one: -one[0])
    _heading(printer, "Sources by attention")
    for mass, source in ranked[:_SOURCES]:
        document = documents.get(source.sentence.document_id)
        where = place(document, source.sentence) if document is not None else "?"
        printer.line(f"{mass:6.1%}  ", (where, "path"), f"  {clean(source.sentence.text)}", hang=8)
