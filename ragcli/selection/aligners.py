"""The fast aligner: words, then the encoder's similarity, then a second look at weak matches.

A match is firm where all of a constituent's words stand together; otherwise reflection
(paper 004, eq. 3) compares the constituent with windows inside the sentence, closer than the
sentence as a whole, and drops it unless one is near. What a question word asks for counts only
beside another match: a name or a year stands in almost every passage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragcli.selection.alignment import Cell, Segment, align
from ragcli.selection.matching import (
    Lexicon,
    Wanted,
    WordLike,
    answers,
    by_words,
    wanted,
    windows,
)
from ragcli.text.normalise import readable
from ragcli.types import Alignment, Constituent, Hit, Span

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

NAME = "encoder"
_SECOND_LOOKS = 2  # sentences a constituent and passage
_NEAR_QUESTION = 0.4  # cosine of question and best sentence; below it nothing matches by meaning


@dataclass(frozen=True, slots=True)
class AlignOptions:
    """segment, reach: see `align`. words: share of a constituent's words that a sentence must
    hold. similar: cosine with a sentence from which it may match without. reflect: look again;
    near: cosine with a window that a weak match then needs."""

    segment: Segment = "per-constituent"
    reach: int = 3
    words: float = 0.5
    similar: float = 0.35
    reflect: bool = True
    near: float = 0.6
    firm: float = 0.75


@dataclass(slots=True)
class Looked:
    """A passage while it is aligned: per constituent and sentence a cell, and which are weak."""

    hit: Hit
    words: list[Sequence[WordLike]]
    cells: list[list[Cell]]
    weak: set[tuple[int, int]]

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.hit.passage.sentences]


class EncoderAligner:
    """Aligns passages with the constituents of one question; vectors are kept between calls."""

    name = NAME

    def __init__(self, encode: Encode, lexicon: Lexicon, options: AlignOptions) -> None:
        self._encode, self.lexicon, self._options = encode, lexicon, options
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def align(self, constituents: Sequence[Constituent], hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits with their alignment, in the same order."""
        wants = wanted(constituents, self.lexicon)
        looked = self.look(wants, hits)
        dropped = self._reflect(wants, looked) if self._options.reflect else [()] * len(looked)
        for one in looked:
            self.asked(wants, one)
        return tuple(
            replace(one.hit, alignment=self.alignment(constituents, one, lost))
            for one, lost in zip(looked, dropped, strict=True)
        )

    def alignment(
        self, constituents: Sequence[Constituent], one: Looked, lost: Sequence[Constituent] = ()
    ) -> Alignment:
        """The alignment that the cells stand for."""
        return align(
            constituents, one.hit.passage.sentences, one.cells, aligner=self.name,
            segment=self._options.segment, reach=self._options.reach, dropped=lost,
        )  # fmt: skip

    def look(self, wants: Sequence[Wanted], hits: Sequence[Hit]) -> list[Looked]:
        """First pass: words, and similarity where words do not match."""
        looked = [self._by_words(wants, hit) for hit in hits]
        self._by_similarity(wants, looked)
        return looked

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dimension) unit rows; a text is encoded once."""
        fresh = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if fresh:
            self._vectors.update(zip(fresh, self._encode(fresh), strict=True))
        return np.asarray([self._vectors[text] for text in texts], dtype=np.float32)

    def _by_words(self, wants: Sequence[Wanted], hit: Hit) -> Looked:
        words = [self.lexicon.words(sentence.text) for sentence in hit.passage.sentences]
        title = f"{hit.document.title}. {hit.passage.heading}"
        above = frozenset(w.key for w in self.lexicon.words(title) if w.kind != "stop")
        one = Looked(hit, words, [], set())
        for row, want in enumerate(wants):
            found = [by_words(want, sentence, above, self.lexicon) for sentence in words]
            enough = [f if f.score >= self._options.words else None for f in found]
            one.cells.append([Cell(f.score, f.span) if f else Cell() for f in enough])
            self._weaken(one, row)
        return one

    def _weaken(self, one: Looked, row: int) -> None:
        """Marks what is to be looked at again: nothing beside a firm match, else the best two."""
        scores = [cell.score for cell in one.cells[row]]
        partial = [at for at, score in enumerate(scores) if 0 < score < self._options.firm]
        firm = any(score >= self._options.firm for score in scores)
        best = [] if firm else sorted(partial, key=lambda at: (-scores[at], at))[:_SECOND_LOOKS]
        one.weak |= {(row, at) for at in best}
        for at in set(partial) - set(best):
            one.cells[row][at] = Cell()

    @staticmethod
    def _promising(one: Looked) -> bool:
        """Whether meaning is worth a look: something matched, or the question itself is near."""
        matched = any(cell.score for row in one.cells for cell in row)
        near = one.hit.best_sentence is None or one.hit.best_sentence_score >= _NEAR_QUESTION
        return matched or near

    def _by_similarity(self, wants: Sequence[Wanted], looked: Sequence[Looked]) -> None:
        """Constituents without names and figures may match by meaning; such matches are weak."""
        rows = [row for row, want in enumerate(wants) if want.keys and not want.has_facts]
        open_pairs = [
            (one, row) for one in looked if one.texts and self._promising(one) for row in rows
            if not any(cell.score for cell in one.cells[row])
        ]  # fmt: skip
        if not open_pairs:
            return
        phrases = dict(zip(rows, self.vectors([phrase(wants[r]) for r in rows]), strict=True))
        self.vectors([text for one, _ in open_pairs for text in one.texts])
        for one, row in open_pairs:
            cosines = self.vectors(one.texts) @ phrases[row]
            at = int(cosines.argmax())
            if cosines[at] >= self._options.similar:
                whole = Span(0, len(one.texts[at]))
                one.cells[row][at] = Cell(float(cosines[at]), whole)
                one.weak.add((row, at))

    def _reflect(
        self, wants: Sequence[Wanted], looked: Sequence[Looked]
    ) -> list[tuple[Constituent, ...]]:
        """Second pass: weak matches that no window of their sentence is near to are dropped."""
        tries = {
            (n, row, at): windows(one.words[at], len(wants[row].keys))
            for n, one in enumerate(looked)
            for row, at in sorted(one.weak)
            if one.words[at]
        }
        texts = [phrase(wants[row]) for _, row, _ in tries]
        texts += [s.of(looked[n].texts[at]) for (n, _, at), spans in tries.items() for s in spans]
        self.vectors(texts)
        before = [_matching(one) for one in looked]
        for (n, row, at), spans in tries.items():
            one = looked[n]
            target = self._vectors[phrase(wants[row])]
            near = self.vectors([s.of(one.texts[at]) for s in spans]) @ target
            best = int(near.argmax())
            kept = float(near[best]) >= self._options.near
            one.cells[row][at] = Cell(float(near[best]), spans[best]) if kept else Cell()
        return [
            tuple(wants[row].constituent for row in sorted(was - _matching(one)))
            for was, one in zip(before, looked, strict=True)
        ]

    def asked(self, wants: Sequence[Wanted], one: Looked) -> None:
        """What question words ask for, in sentences that match something else or stand beside one."""
        others = [row for row, want in enumerate(wants) if want.constituent.expects == "any"]
        held = [any(one.cells[row][at].score for row in others) for at in range(len(one.words))]
        for row, want in enumerate(wants):
            if want.constituent.expects == "any":
                continue
            for at, text in enumerate(one.texts):
                near = any(held[max(0, at - 1) : at + 2]) or not others
                found = answers(want, text, one.words[at], self.lexicon)
                counts = found.score and near and (not want.keys or one.cells[row][at].score)
                weight = 1.0 if held[at] else 0.9
                one.cells[row][at] = Cell(weight * found.score, found.span) if counts else Cell()


def phrase(want: Wanted) -> str:
    """A constituent as it is encoded."""
    return readable(want.constituent.text)


def _matching(one: Looked) -> set[int]:
    return {row for row, cells in enumerate(one.cells) if any(cell.score for cell in cells)}
