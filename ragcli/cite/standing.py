"""Does a quoted text still stand, and where? What stands there now if not? Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ragcli.types import Span

LONGEST = 20_000  # code points of a quote that is looked for after white-space folding
ALIKE = 0.5  # share of words in common from which a sentence is the quoted one, edited

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = re.compile(r"\w+")


def comparable(text: str) -> str:
    """The text as JSON can hold it, offset by offset: lone surrogates are U+FFFD there."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def find(quote: str, start: int, text: str) -> Span | None:
    """Where the quote stands, nearest to `start`; the same characters after folding white space.

    A quote that stands at `start` character for character is found there whatever else there is.
    """
    if text.startswith(quote, start):
        return Span(start, start + len(quote))
    found = [text.rfind(quote, 0, start + len(quote)), text.find(quote, start)]
    exact = [Span(at, at + len(quote)) for at in found if at >= 0]
    return _nearest(exact, start) if exact else _folded(quote, start, text)


def _folded(quote: str, start: int, text: str) -> Span | None:
    parts = quote.split()
    if not parts or len(quote) > LONGEST:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, parts)))
    return _nearest((Span(*match.span()) for match in pattern.finditer(text)), start)


def _nearest(spans: Iterable[Span], start: int) -> Span | None:
    return min(spans, key=lambda span: (abs(span.start - start), span.start), default=None)


class Sentences:
    """The sentences of a text by the words in them, worked out once for many quotes."""

    def __init__(self, text: str, spans: Iterable[Span]) -> None:
        self._spans: list[Span] = []
        self._sizes: list[int] = []
        self._holders: dict[str, list[int]] = {}
        for span in spans:
            words = _words(span.of(text))
            for word in words:
                self._holders.setdefault(word, []).append(len(self._spans))
            self._spans.append(span)
            self._sizes.append(len(words))

    def successor(self, quote: str, start: int) -> Span | None:
        """The sentence that says most of the quote's words: the quote as it was edited, or None.

        Of several the one nearest to `start`.
        """
        wanted = _words(quote)
        shared: Counter[int] = Counter()
        for word in wanted:
            shared.update(self._holders.get(word, ()))
        ranked = (
            (2 * n / (len(wanted) + self._sizes[at]), -abs(self._spans[at].start - start), at)
            for at, n in shared.items()
        )
        alike, _, best = max(ranked, default=(0.0, 0, 0))
        return self._spans[best] if alike >= ALIKE else None


def same(first: str, second: str) -> bool:
    """Whether two texts are the same, white space folded."""
    return first.split() == second.split()


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text))
