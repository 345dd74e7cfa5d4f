"""The source sentences of a question, each once: who was shown it, who cites it, is it needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragcli.evaluate.metrics.knowledge import Piece, are_found, are_gold
from ragcli.evaluate.report.view import CitedBy, SourceView
from ragcli.evaluate.store import Row
from ragcli.text.normalise import readable, safe_for_terminal

Place = tuple[str, int, int]  # relative path, start, end


@dataclass(slots=True)
class _Found:
    record: Mapping[str, Any]
    cited: list[CitedBy] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sources:
    """main: needed or cited ones; others: shown alone. numbers: by place. unseen: gold places
    whose text no answer holds."""

    main: tuple[SourceView, ...]
    others: tuple[SourceView, ...]
    numbers: Mapping[Place, int]
    unseen: int


def place_of(record: Mapping[str, Any]) -> Place:
    """Of a citation or a selected sentence, as `ragcli/answer@1` has them."""
    return str(record.get("relative") or ""), int(record["start"]), int(record["end"])


def collect(answers: Sequence[tuple[str, Row, Mapping[str, Any] | None]]) -> Sources:
    """Of one question's answers: (arm, row, whole answer), numbered from 1 in this order."""
    gold = _gold(row for _, row, _ in answers)
    found: dict[Place, _Found] = {}
    for number, (arm, _, answer) in enumerate(answers, start=1):
        if answer is not None:
            _note(found, arm, number, answer)
    unseen = _add_gold(found, gold, [answer for _, _, answer in answers if answer is not None])
    marks = dict(zip(found, are_gold([_piece(place) for place in found], gold), strict=True))
    order = sorted(found, key=lambda p: (not marks[p], not found[p].cited, p))
    numbers = {place: number for number, place in enumerate(order, start=1)}
    views = [
        _view(numbers[place], place, found[place], marks[place] if gold else None)
        for place in order
    ]
    return Sources(
        tuple(one for one in views if one.gold or one.cited),
        tuple(one for one in views if not (one.gold or one.cited)),
        numbers,
        unseen,
    )


def _piece(place: Place) -> Piece:
    path, start, end = place
    return Piece(path, start, max(end, start + 1))


def _gold(rows: Iterable[Row]) -> tuple[Piece, ...]:
    pieces = (
        Piece(str(path), int(start), int(end))
        for row in rows
        for path, start, end in row.get("gold", ())
    )
    return tuple(dict.fromkeys(pieces))


def _note(found: dict[Place, _Found], arm: str, number: int, answer: Mapping[str, Any]) -> None:
    for record in answer.get("selected", ()):
        one = found.setdefault(place_of(record), _Found(record))
        if arm not in one.shown:
            one.shown.append(arm)
    for sentence in answer.get("sentences", ()):
        for record in sentence["citations"]:
            one = found.setdefault(place_of(record), _Found(record))
            by = CitedBy(arm, int(record["number"]), number)
            if by not in one.cited:
                one.cited.append(by)


def _add_gold(
    found: dict[Place, _Found], gold: Sequence[Piece], answers: Iterable[Mapping[str, Any]]
) -> int:
    """Adds needed sentences that were retrieved and not shown; how many were not retrieved."""
    held = are_found(gold, [_piece(place) for place in found])
    missing = [piece for piece, there in zip(gold, held, strict=True) if not there]
    hits = [hit for answer in answers for hit in answer.get("hits", ())]
    unseen = 0
    for piece in missing:
        hit = next((hit for hit in hits if _holds(hit, piece)), None)
        if hit is None:
            unseen += 1
            continue
        found[piece.document, piece.start, piece.end] = _Found(_cut(hit, piece))
    return unseen


def _cut(hit: Mapping[str, Any], piece: Piece) -> dict[str, Any]:
    text, begin = hit["text"], piece.start - hit["start"]
    line = hit.get("line")
    return {
        **hit,
        "text": text[begin : piece.end - hit["start"]],
        "line": None if line is None else line + text[:begin].count("\n"),
    }


def _holds(hit: Mapping[str, Any], piece: Piece) -> bool:
    path, start, end = place_of(hit)
    return path == piece.document and start <= piece.start and piece.end <= end


def _view(number: int, place: Place, found: _Found, gold: bool | None) -> SourceView:
    record = found.record
    page, line = record.get("page"), record.get("line")
    at = f", page {page}" if page is not None else f", line {line}" if line is not None else ""
    return SourceView(
        number=number,
        text=safe_for_terminal(readable(str(record["text"]))),
        title=safe_for_terminal(str(record.get("title") or "")),
        where=safe_for_terminal(place[0] or "a file that is gone") + at,
        heading=safe_for_terminal(str(record.get("heading") or "")),
        gold=gold,
        cited=tuple(found.cited),
        shown=tuple(found.shown),
    )
