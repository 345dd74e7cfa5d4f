"""Answers for people: sentences with [n] markers, then the source sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.render import risk
from ragcli.render.json import Json, path_fields
from ragcli.render.terminal import Piece, Printer, clean, count, path_text, place
from ragcli.types import Answer, AnswerSentence, Citation, Verdict

_UNREAD = 10  # files named when there is no answer
_REMARK = {
    Verdict.SUPPORTED: "",
    Verdict.PARTLY: " (partly supported)",
    Verdict.UNSUPPORTED: " (not supported by the documents)",
}


@dataclass(frozen=True, slots=True)
class Searched:
    """What a question was put to. unread: files that could not be read, whole or in part.

    partial: those of them of which the rest was read, and searched.
    """

    files: int
    passages: int
    globs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    partial: frozenset[Path] = frozenset()


def print_answer(printer: Printer, answer: Answer, levels: risk.Levels | None = None) -> None:
    """The answer and its sources. levels: also show the risk of each token."""
    if not answer.sentences:  # no documents were asked, so there is nothing to cite
        for line in answer.text.splitlines():
            printer.line(clean(line))
    for paragraph in _paragraphs(answer):
        pieces: list[Piece] = []
        for sentence in paragraph:
            pieces += [
                *([" "] if pieces else []),
                *_sentence(sentence, answer, levels, printer.styled),
            ]
        printer.line(*pieces)
    print_sources(printer, answer.sentences)
    if levels is not None and any(levels.of(step) for step in answer.steps):
        printer.blank()
        printer.line(*risk.legend(levels, styled=printer.styled))


def _paragraphs(answer: Answer) -> list[list[AnswerSentence]]:
    """Sentences of the answer, parted where the answer has a line break."""
    paragraphs: list[list[AnswerSentence]] = []
    end = 0
    for sentence in answer.sentences:
        if not paragraphs or "\n" in answer.text[end : sentence.span.start]:
            paragraphs.append([])
        paragraphs[-1].append(sentence)
        end = sentence.span.end
    return paragraphs


def _sentence(
    sentence: AnswerSentence, answer: Answer, levels: risk.Levels | None, styled: bool
) -> list[Piece]:
    pieces: list[Piece] = [clean(sentence.text)]
    if levels is not None and (steps := risk.steps_of(sentence, answer.steps)):
        pieces = _stripped(risk.pieces(steps, levels, styled=styled))
    if sentence.citations:
        pieces += [" ", (markers(sentence.citations), "number")]
    if remark := _REMARK[sentence.verdict]:
        pieces.append((remark, "bad"))
    return pieces


def _stripped(pieces: Sequence[Piece]) -> list[Piece]:
    """Without the blanks at the beginning, and line breaks within as blanks."""
    flat = [(p, "") if isinstance(p, str) else p for p in pieces]
    while flat and not flat[0][0].strip():
        flat.pop(0)
    if flat:
        flat[0] = (flat[0][0].lstrip(), flat[0][1])
    return [(text.replace("\n", " "), style) for text, style in flat]


def markers(citations: Sequence[Citation]) -> str:
    """`[1][3]`."""
    return "".join(f"[{one.number}]" for one in citations)


def print_sources(printer: Printer, sentences: Iterable[AnswerSentence]) -> None:
    """Each cited source sentence once, by its number; then quotations that are in none."""
    cited = {one.number: one for sentence in sentences for one in sentence.citations}
    if cited:
        printer.blank()
    for number, one in sorted(cited.items()):
        printer.line(
            (f"[{number}]", "number"), " ", (place(one.document, one.sentence), "path"),
            f"  “{clean(one.sentence.text)}”", hang=4,
        )  # fmt: skip
    for sentence in sentences:
        for quotation in sentence.false_quotations:
            printer.line(("quoted, but in no source: ", "bad"), f"“{clean(quotation)}”")


def print_abstention(printer: Printer, answer: Answer, searched: Searched) -> None:
    """Why there is no answer, what was searched, and what could not be."""
    reason = f": {clean(answer.reason)}" if answer.reason else "."
    printer.line(("Not in the documents", "number"), reason)
    limits = [
        *(f"--in {one}" for one in searched.globs),
        *(f"--type {one}" for one in searched.kinds),
    ]
    within = f" ({clean(' '.join(limits))})" if limits else ""
    printer.line(
        f"Searched {count(searched.files, 'file')}, {count(searched.passages, 'passage')}{within}."
    )
    for path, why in searched.unread[:_UNREAD]:
        failed = "Could not read all of " if path in searched.partial else "Could not read "
        printer.line(failed, (path_text(path), "path"), f": {clean(why)}", hang=4)
    if len(searched.unread) > _UNREAD:
        printer.line(f"… and {len(searched.unread) - _UNREAD} more: `ragcli status --files`")


def searched_document(searched: Searched) -> Json:
    """The `searched` field of `answer@1`."""
    return {
        "files": searched.files,
        "passages": searched.passages,
        "in": list(searched.globs),
        "type": list(searched.kinds),
        "unread": [{**path_fields(path), "reason": why} for path, why in searched.unread],
    }
