"""What became of saved answers, for people and as `ragcli/verification@1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.cite.checked import Checked, CheckedAnswer, CheckedClaim, Place, Standing
from ragcli.cite.recorded import Cited
from ragcli.paths import shown
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Piece, Printer, clean, count, path_text
from ragcli.types import Verdict

_STYLES = {
    Standing.FRESH: "good",
    Standing.MOVED: "number",
    Standing.CHANGED: "bad",
    Standing.MISSING: "bad",
}
_WORDS = {
    Verdict.SUPPORTED: "supported",
    Verdict.PARTLY: "partly supported",
    Verdict.UNSUPPORTED: "not supported",
}


@dataclass(frozen=True, slots=True)
class Verification:
    """Answers after the check. strict: sentences that never were supported count too."""

    answers: Sequence[CheckedAnswer]
    strict: bool = False
    warnings: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        return not any(answer.failures(self.strict) for answer in self.answers)

    def counts(self) -> dict[Standing, int]:
        """Citations by what became of them."""
        found = Counter(
            check.standing
            for answer in self.answers
            for claim in answer.claims
            for check in claim.checks
        )
        return {standing: found[standing] for standing in Standing}


def verification_document(verification: Verification, name: str) -> Json:
    """`ragcli/verification@1`. name: the file that was checked, "-" for stdin."""
    return {
        "schema": "ragcli/verification@1",
        "file": shown(name),
        "holds": verification.holds,
        "strict": verification.strict,
        "counts": {standing.value: n for standing, n in verification.counts().items()},
        "answers": [_answer(one, verification.strict) for one in verification.answers],
        "warnings": list(verification.warnings),
    }


def _answer(answer: CheckedAnswer, strict: bool) -> Json:
    failures = answer.failures(strict)
    return {
        "question": answer.recorded.question,
        "kind": answer.recorded.kind,
        "reason": answer.recorded.reason,
        "holds": not failures,
        "failures": failures,
        "verifier": answer.verifier or None,
        "recorded_verifier": answer.recorded.verifier or None,
        "sentences": [_claim(one) for one in answer.claims],
    }


def _claim(claim: CheckedClaim) -> Json:
    cited = zip(claim.claim.citations, claim.checks, strict=True)
    return {
        "start": claim.claim.start,
        "end": claim.claim.end,
        "text": claim.claim.text,
        "recorded_verdict": claim.claim.verdict.value,
        "verdict": claim.verdict.value,
        "holds": not claim.weaker,
        "citations": [_citation(one, check) for one, check in cited],
    }


def _citation(cited: Cited, check: Checked) -> Json:
    quote = cited.quote
    return {
        "number": cited.number,
        "status": check.standing.value,
        "reason": check.reason,
        "edited": check.edited,
        "path": quote.origin.label,
        "relative": shown(quote.origin.relative),
        "sha256": quote.origin.sha256,
        "start": quote.start,
        "text": quote.text,
        "now": None if check.now is None else _now(check.now),
    }


def _now(place: Place) -> Json:
    return {
        **path_fields(place.path),
        "sha256": place.sha256,
        "page": place.page,
        "line": place.line,
        "place": place.place or None,
        "start": place.span.start,
        "end": place.span.end,
        "text": place.text,
    }


def print_verification(printer: Printer, verification: Verification) -> None:
    """A block an answer, then one line in all."""
    several = len(verification.answers) > 1
    for number, answer in enumerate(verification.answers):
        if number:
            printer.blank()
        if several:
            printer.line((f"> {clean(answer.recorded.question)}", "heading"), hang=2)
        _print_answer(printer, answer, verification.strict)
    if several:
        printer.blank()
        failed = sum(bool(one.failures(verification.strict)) for one in verification.answers)
        verdict = f"{failed} do not hold" if failed else "all hold"
        printer.line((f"{count(len(verification.answers), 'answer')}: {verdict}", "number"))


def _print_answer(printer: Printer, answer: CheckedAnswer, strict: bool) -> None:
    if answer.recorded.kind != "answer":
        what = "abstained" if answer.recorded.kind == "abstained" else "an error"
        printer.line((f"Holds: {what}, so nothing was claimed", "good"))
        return
    for claim in answer.claims:
        _print_claim(printer, claim)
    printed: set[int] = set()
    for claim in answer.claims:
        for cited, check in zip(claim.claim.citations, claim.checks, strict=True):
            if cited.number not in printed:
                printed.add(cited.number)
                _print_citation(printer, cited, check)
    _print_end(printer, answer, strict)


def _print_claim(printer: Printer, claim: CheckedClaim) -> None:
    said = clean(claim.claim.text)
    markers = "".join(f"[{one.number}]" for one in claim.claim.citations)
    verdict = _WORDS[claim.verdict]
    if claim.verdict is not claim.claim.verdict:
        verdict = f"{verdict}, was {_WORDS[claim.claim.verdict]}"
    style = "good" if claim.verdict is Verdict.SUPPORTED else "bad"
    pieces: list[Piece] = [said, " ", (markers, "number")] if markers else [said]
    printer.line(*pieces, (f"  ({verdict})", style))


def _print_citation(printer: Printer, cited: Cited, check: Checked) -> None:
    where = f"p.{cited.page}" if cited.page is not None else str(cited.line)
    path = path_text(cited.quote.origin.label)
    at = f"{path} {where}" if cited.page is not None else f"{path}:{where}"
    printer.line(
        (f"[{cited.number}]", "number"), " ", (check.standing.value, _STYLES[check.standing]),
        "  ", (at, "path"), f"  “{clean(cited.quote.text)}”", hang=4,
    )  # fmt: skip
    if check.reason:
        printer.line(check.reason, *_now_at(check), indent=4)


def _now_at(check: Checked) -> list[Piece]:
    """Where it stands now, or what stands there now."""
    if check.now is None or check.standing is Standing.FRESH:
        return []
    place = check.now
    at = f"{path_text(place.path)}:{place.line}" if place.page is None else (
        f"{path_text(place.path)} p.{place.page}"
    )  # fmt: skip
    if check.standing is Standing.MOVED:
        return [": ", (at, "path")]
    return ["; it says now, at ", (at, "path"), f", “{clean(place.text)}”"]


def _print_end(printer: Printer, answer: CheckedAnswer, strict: bool) -> None:
    checks = [check for claim in answer.claims for check in claim.checks]
    found = Counter(check.standing for check in checks)
    listed = ", ".join(f"{found[one]} {one.value}" for one in Standing if found[one])
    judged = f"; judged by {clean(answer.verifier)}" if answer.verifier else ""
    summary = f"{count(len(checks), 'citation')}{f' ({listed})' if listed else ''}{judged}"
    failures = answer.failures(strict)
    if failures:
        printer.line((f"Does not hold: {'; '.join(failures)}", "bad"), f"  {summary}")
    else:
        printer.line(("Holds", "good"), f"  {summary}")
