"""The sentences of an answer as claims, before anything is attributed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragcli.text.sentences import split_sentences
from ragcli.text.words import fold, words
from ragcli.types import Block, Span, Step

_FILLER = re.compile(
    r"^(?:sure|certainly|of course|ok(?:ay)?|great|thank you|thanks|hello|hi"
    r"|here (?:is|are)\b.*|(?:based on|according to|from)\b[^.!?]*:"
    r"|(?:the )?answer(?: to (?:the|your) question)?(?: is)?(?: as follows)?:?"
    r"|i(?: am|'m) (?:happy|glad) to help.*|i hope (?:this|that) helps.*|let me know.*)[\s.!:,]*$",
    re.DOTALL,
)
_SUBJECT = r"(?:documents?|texts?|sources?|passages?|context|information|article|excerpts?)"
_REFUSAL = re.compile(
    rf"\b{_SUBJECT}\b[^.;]*\b(?:do(?:es)? not|don't|doesn't|did not|didn't|cannot|can't|is not|isn't"
    r"|are not|aren't|not)\b[^.;]*\b(?:say|state|mention|contain|provide|include|give|specif|answer"
    r"|find|found|available|list|have)"
    r"|\b(?:i|we) (?:do not|don't|cannot|can't|am not able to|am unable to|could not|couldn't)\b"
    r"[^.;]*\b(?:know|answer|find|determine|tell|provide|have)"
    rf"|\bnot (?:mentioned|stated|specified|provided|given|found|available|in)\b[^.;]*\b{_SUBJECT}"
    rf"|\bno (?:mention|information|answer)\b|\bnot (?:in|found in) the {_SUBJECT}"
    r"|^(?:it is |this is )?(?:unknown|not (?:known|mentioned|stated|specified|found))\b"
)
_ATTRIBUTION = re.compile(
    rf"^(?:(?:according to|based on|from) (?:the |this )?(?:provided |given )?{_SUBJECT}"
    r"(?: \d+)?(?: provided| given| above)?,?\s+"
    rf"|(?:the|this) (?:provided |given )?{_SUBJECT}(?: \d+)? (?:also |further )?"
    r"(?:states?|says?|mentions?|indicates?|explains?|notes?|shows?|describes?)(?: that)?\s+"
    r"|the answer (?:to (?:the|this|your) question )?is(?: that|:)?\s+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^“”]{8,})”|\"([^\"\n]{8,})\"|«\s*([^«»]{8,}?)\s*»|„([^„“”]{8,})[“”]")
SHORT = 3  # content words; an answer sentence of fewer is judged with its question


def claims(text: str, language: str = "en") -> list[Span]:
    """Spans of the answer's sentences in order; filler is joined to the sentence it introduces."""
    spans = split_sentences(text, _blocks(text), language)
    joined: list[Span] = []
    start: int | None = None
    for span in spans:
        begin = span.start if start is None else start
        if is_filler(span.of(text)):
            start = begin
            continue
        joined.append(Span(begin, span.end))
        start = None
    if start is not None and joined:
        joined[-1] = Span(joined[-1].start, spans[-1].end)
    elif start is not None:
        joined.append(Span(start, spans[-1].end))
    return joined


def _blocks(text: str) -> list[Block]:
    """Lines of the answer: models end a list item with a line feed, not with a full stop."""
    return [
        Block(match.start(), match.end(), "paragraph") for match in re.finditer(r"\S[^\n]*", text)
    ]


def is_filler(sentence: str) -> bool:
    """Whether a sentence says nothing that a source could support ("Sure!")."""
    return bool(_FILLER.match(fold(sentence).strip()))


def is_refusal(sentence: str) -> bool:
    """Whether a sentence says that the documents do not hold the answer, and nothing else."""
    folded = fold(sentence).strip()
    said, but, _ = folded.partition(" but ")
    if but and sum(word.kind != "stop" for word in words(said)) > SHORT:
        folded = said
    return bool(_REFUSAL.search(folded))


def bare(sentence: str) -> str:
    """The sentence without a lead such as "The document states that"."""
    return _ATTRIBUTION.sub("", sentence.strip(), count=1) or sentence


def with_question(sentence: str, question: str, language: str = "en") -> str:
    """What a sentence claims: a short answer ("308") after its question, any other by itself."""
    sentence = bare(sentence)
    content = sum(word.kind != "stop" for word in words(sentence, language))
    return f"{question} {sentence}" if content <= SHORT else sentence


def false_quotations(sentence: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Quoted passages that stand in no source, compared after white-space folding only."""
    quoted = [next(g for g in m.groups() if g) for m in _QUOTED.finditer(sentence)]
    if not quoted:
        return ()
    known = "\n".join(_folded(source) for source in sources)
    return tuple(q for q in quoted if _folded(q).rstrip(".,;:!?") not in known)


def _folded(text: str) -> str:
    return " ".join(text.split())


def step_ranges(steps: Sequence[Step], offset: int) -> list[tuple[int, int]]:
    """Characters of the answer that each step wrote; `offset` were stripped from its start."""
    ranges, at = [], -offset
    for step in steps:
        ranges.append((at, at + len(step.text)))
        at += len(step.text)
    return ranges
