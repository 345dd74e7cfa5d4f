"""Passages: runs of whole sentences that fit the encoder, following the headings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ragcli.text.normalise import readable
from ragcli.types import Block, Span

TINY = 8  # a section below 1/TINY of the limit is merged with its neighbour
CONTEXT = 4  # title and heading path take at most 1/CONTEXT of the limit
_SPECIAL = 2  # tokens an encoder adds round a text, if it does not count them itself

CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class PassageCut:
    """`sentences` are whole ones, or pieces of a sentence too long for the encoder.

    `heading` is the path "A > B" of the section the passage is in ("" above any).
    """

    span: Span
    sentences: tuple[Span, ...]
    heading: str


def embedded_text(title: str, heading: str, body: str, longest: int = 200) -> str:
    """What the encoder reads for a passage: title and heading path, then the clean body.

    The end of the path is left out where the body starts with it; the context has at
    most `longest` characters, and the title gives way before the path.
    """
    body = readable(body)
    parts = heading.split(" > ") if heading else []
    if parts and body.lstrip("#* ").startswith(parts[-1]):
        parts.pop()
    title = readable(title)
    if title and (title in parts or body.startswith(title) or title == heading):
        title = ""
    context = " > ".join(part for part in [title, *parts] if part)
    if len(context) > longest:
        context = context[-longest:].partition(" ")[2]
    return f"{context}: {body}" if context else body


@dataclass(slots=True)
class _Section:
    """A run of sentences under one heading path. `bare`: nothing but headings so far."""

    path: tuple[str, ...]
    sentences: list[Span] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    bare: bool = True

    @property
    def cost(self) -> int:
        return sum(self.costs)


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    shared = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        shared += 1
    return a[:shared]


def section_name(text: str, block: Block) -> str:
    """What the section that a block opens is called, without the separator of paths."""
    own = text[block.start : block.end] if block.kind == "heading" else ""
    return readable(block.name or own).replace(" > ", " › ")


def _sections(
    text: str, blocks: Sequence[Block], sentences: Iterable[tuple[Span, int]]
) -> list[_Section]:
    """Sentences with their costs, grouped by heading; headings are in their own section."""
    stack: list[tuple[int, str]] = []
    sections = [_Section(())]
    headings = [block for block in blocks if block.level or block.kind == "heading"]
    at = 0
    inside: Block | None = None
    for span, cost in sentences:
        while at < len(headings) and headings[at].start <= span.start:
            inside = headings[at]
            while stack and stack[-1][0] >= inside.level:
                stack.pop()
            if name := section_name(text, inside):
                stack.append((inside.level, name))
            sections.append(_Section(tuple(name for _, name in stack)))
            at += 1
        section = sections[-1]
        section.sentences.append(span)
        section.costs.append(cost)
        section.bare &= inside is not None and inside.kind == "heading" and span.end <= inside.end
    return [section for section in sections if section.sentences]


def _merged(sections: list[_Section], budget: int, tiny: int) -> list[_Section]:
    """Bare headings join what follows; tiny sections join a neighbour under the same parent."""
    out: list[_Section] = []
    for section in sections:
        last = out[-1] if out else None
        fits = last is not None and last.cost + section.cost <= budget
        if last is not None and last.bare:
            last.path = section.path
        elif (
            last is not None
            and fits
            and min(last.cost, section.cost) < tiny
            and (shared := _common(last.path, section.path))
        ):
            last.path = shared
        else:
            out.append(section)
            continue
        last.bare &= section.bare
        last.sentences += section.sentences
        last.costs += section.costs
    return out


def _groups(costs: list[int], budget: int) -> Iterable[tuple[int, int]]:
    """Runs (from, to) of at most `budget`, as even as whole sentences allow."""
    total = sum(costs)
    runs = -(-total // budget) if total else 1
    target = total / runs
    start, held = 0, 0
    for at, cost in enumerate(costs):
        if held and (held + cost > budget or held + cost / 2 > target):
            yield start, at
            start, held = at, 0
        held += cost
    yield start, len(costs)


def _halves(text: str, span: Span) -> list[Span]:
    """A sentence cut in two near its middle, at a blank where there is one."""
    middle = (span.start + span.end) // 2
    blank = max(text.rfind(" ", span.start, middle), text.rfind("\n", span.start, middle))
    cut = blank + 1 if blank > span.start + len(span) // 4 else middle
    pieces = (Span(span.start, cut), Span(cut, span.end))
    out: list[Span] = []
    for piece in pieces:
        raw = piece.of(text)
        start = piece.start + len(raw) - len(raw.lstrip())
        end = piece.start + len(raw.rstrip())
        if start < end:
            out.append(Span(start, end))
    return out


def _counted(
    text: str, sentences: Sequence[Span], count: CountTokens, budget: int, overhead: int
) -> list[tuple[Span, int]]:
    """Sentences with their costs; those above the budget are halved until they fit."""
    done: list[tuple[Span, int]] = []
    waiting = list(sentences)
    while waiting:
        counts = count([readable(span.of(text)) for span in waiting])
        again: list[Span] = []
        for span, tokens in zip(waiting, counts, strict=True):
            cost = max(1, tokens - overhead)
            if cost > budget and len(span) > 1:
                again += _halves(text, span)
            else:
                done.append((span, min(cost, budget)))
        waiting = again
    return sorted(done)


def _cut(text: str, spans: list[Span], path: str) -> PassageCut:
    return PassageCut(Span(spans[0].start, spans[-1].end), tuple(spans), path)


def _verified(
    text: str, cuts: list[PassageCut], count: CountTokens, limit: int, title: str, longest: int
) -> list[PassageCut]:
    """Token counts need not add up: what is still too long as a whole is cut in two."""
    out: list[PassageCut] = []
    waiting = cuts
    while waiting:
        counts = count(
            [embedded_text(title, cut.heading, cut.span.of(text), longest) for cut in waiting]
        )
        again: list[PassageCut] = []
        for cut, tokens in zip(waiting, counts, strict=True):
            if tokens <= limit:
                out.append(cut)
                continue
            spans = list(cut.sentences)
            if len(spans) == 1:
                spans = _halves(text, spans[0])
            if len(spans) == 1:
                out.append(cut)  # one character: nothing left to cut
                continue
            half = len(spans) // 2
            again += [_cut(text, part, cut.heading) for part in (spans[:half], spans[half:])]
        waiting = again
    return sorted(out, key=lambda cut: cut.span)


def context_length(limit: int) -> int:
    """Characters that title and heading path may take of a passage of `limit` tokens.

    Three characters a token are few for Latin script, and a script with more tokens
    a character is caught by the final count.
    """
    return max(20, 3 * limit // CONTEXT)


def cut_passages(
    text: str,
    blocks: Sequence[Block],
    sentences: Sequence[Span],
    count_tokens: CountTokens,
    limit: int,
    title: str = "",
) -> list[PassageCut]:
    """Ascending, disjoint passages that together hold every sentence once.

    limit: tokens of `embedded_text(title, heading, body, context_length(limit))` at
    most, as `count_tokens` counts. Sentences are whole unless one alone is too long:
    then it is replaced by pieces. A heading starts a new passage, except that
    sections below an eighth of the limit share one with a neighbour under the same
    parent, and a heading without text of its own goes with what follows.
    """
    if not sentences:
        return []
    overhead = count_tokens([""])[0]
    longest = context_length(limit)
    budget = max(1, limit - max(overhead, _SPECIAL) - limit // CONTEXT)
    counted = _counted(text, sentences, count_tokens, budget, overhead)
    cuts: list[PassageCut] = []
    for section in _merged(_sections(text, blocks, counted), budget, limit // TINY):
        for start, end in _groups(section.costs, budget):
            cuts.append(_cut(text, section.sentences[start:end], " > ".join(section.path)))
    return _verified(text, cuts, count_tokens, limit, title, longest)
