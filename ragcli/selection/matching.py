"""How a sentence matches a constituent by its words, and where in the sentence. Pure.

Words are compared by key (stemmed); figures, ordinals and most of a name must be there
exactly, whatever a similarity says: one of them tells a fact from its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragcli.selection import grammar
from ragcli.types import Constituent, Expected, Span

INFLECTED = 0.8  # what a word of the same beginning counts ("keeper", "keeping")
WEIGHTS = {"name": 1.5, "number": 2.0, "ordinal": 2.0, "word": 1.0}
_NAME_SHARE = 0.5  # of the words of a name that must be there ("Oskan" for "Mira Oskan")


class WordLike(Protocol):
    """A word of a text: `text[start:end]`; `kind` is name, number, ordinal, word or stop."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def key(self) -> str: ...
    @property
    def kind(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words of a language.

    words: of a text, in order. alike: whether two keys are forms of one word.
    meets: whether a text holds something of the expected sort that is not among known keys.
    """

    words: Callable[[str], Sequence[WordLike]]
    alike: Callable[[str, str], bool]
    meets: Callable[[Expected, str, frozenset[str]], bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A constituent as it is looked for. keys: of its content words, with their kinds.

    known: keys of the whole question; what it gives already is no answer to it.
    """

    constituent: Constituent
    keys: tuple[tuple[str, str], ...]
    known: frozenset[str]

    @property
    def has_facts(self) -> bool:
        """Whether it holds a name or figure, which no similarity can stand in for."""
        return any(kind != "word" for _, kind in self.keys)


@dataclass(frozen=True, slots=True)
class Found:
    """A match. score: weighted share of the words, 0..1. span: into the sentence, None where
    only the title or heading above it matches."""

    score: float
    span: Span | None


NOTHING = Found(0.0, None)


def wanted(constituents: Sequence[Constituent], lexicon: Lexicon) -> tuple[Wanted, ...]:
    """Each constituent with its content words; question words and what they measure are none."""
    parts = []
    for one in constituents:
        keys: dict[str, str] = {}
        for word in lexicon.words(one.text):
            folded = word.text.casefold()
            asking = folded in grammar.WH or (
                one.expects != "any" and folded in grammar.TIME_NOUNS | grammar.MEASURES
            )
            if (
                word.kind != "stop"
                and not asking
                and folded not in grammar.LIGHT | grammar.MEASURES
            ):
                kind = "word" if folded in grammar.VERBS and one.kind == "predicate" else word.kind
                keys.setdefault(word.key, kind)
        parts.append(tuple(keys.items()))
    known = frozenset(key for part in parts for key, _ in part)
    return tuple(Wanted(c, part, known) for c, part in zip(constituents, parts, strict=True))


def by_words(
    want: Wanted, sentence: Sequence[WordLike], above: frozenset[str], lexicon: Lexicon
) -> Found:
    """How the words of a sentence match. above: keys of the title and headings over it."""
    if not want.keys:
        return NOTHING
    places: dict[str, list[int]] = {}
    for at, word in enumerate(sentence):
        places.setdefault(word.key, []).append(at)
    total = score = names = names_found = 0.0
    positions: list[list[int]] = []
    for key, kind in want.keys:
        value, where = _one(key, kind, places, lexicon)
        if not value and key in above:
            value = 1.0
        if not value and kind in ("number", "ordinal"):
            return NOTHING
        total += WEIGHTS[kind]
        score += WEIGHTS[kind] * value
        names += kind == "name"
        names_found += kind == "name" and value > 0
        if where:
            positions.append(where)
    if not score or (names and names_found < _NAME_SHARE * names):
        return NOTHING
    if not positions:
        return Found(score / total, None)
    first, last = tightest(positions)
    return Found(score / total, Span(sentence[first].start, sentence[last].end))


def _one(
    key: str, kind: str, places: dict[str, list[int]], lexicon: Lexicon
) -> tuple[float, list[int]]:
    if key in places:
        return 1.0, places[key]
    if kind in ("number", "ordinal"):
        return 0.0, []
    for other, where in places.items():
        if lexicon.alike(key, other):
            return INFLECTED, where
    return 0.0, []


def tightest(positions: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The shortest range that holds one position of each ascending list; the earliest of equals."""
    tagged = sorted((at, which) for which, row in enumerate(positions) for at in row)
    counts: dict[int, int] = {}
    best: tuple[int, int] | None = None
    left = 0
    for at, which in tagged:
        counts[which] = counts.get(which, 0) + 1
        while len(counts) == len(positions):
            start, tail = tagged[left]
            if best is None or at - start < best[1] - best[0]:
                best = (start, at)
            counts[tail] -= 1
            if not counts[tail]:
                del counts[tail]
            left += 1
    assert best is not None
    return best


def answers(want: Wanted, text: str, words: Sequence[WordLike], lexicon: Lexicon) -> Found:
    """Where a sentence holds what the question word asks for; the score is 1 or 0."""
    expects = want.constituent.expects
    if expects == "any" or not lexicon.meets(expects, text, want.known):
        return NOTHING
    kinds = ("name",) if expects == "name" else ("number", "ordinal")
    run = [at for at, w in enumerate(words) if w.kind in kinds and w.key not in want.known]
    if not run:
        return Found(1.0, Span(0, len(text)) if text else None)
    last = run[0]
    while last + 1 in run and expects == "name":
        last += 1
    return Found(1.0, Span(words[run[0]].start, words[last].end))


def windows(words: Sequence[WordLike], size: int, most: int = 8) -> list[Span]:
    """Half overlapping runs of about `size` words and a few more around them, at most `most`."""
    if not words:
        return []
    length = min(len(words), size + 2)
    last = len(words) - length
    step = max(1, length // 2, -(-last // max(1, most - 1)))
    starts = [*range(0, last, step), last]
    return [Span(words[at].start, words[at + length - 1].end) for at in starts]
