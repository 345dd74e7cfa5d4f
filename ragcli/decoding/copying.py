"""Drafts copied from the prompt: answers over documents repeat their wording.

Where the answer's last tokens stand in the main prompt, what follows there is guessed to
follow here, and both branches check it in one batch. A longer match is a surer one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Costs in steps of one token, measured on two cores for the bundled model; a 0.5B one is alike.
_ROUND = 0.7  # of a batch, beside what its tokens cost
_TOKEN = 0.45  # of a token in it
_OTHERWISE = 1.7  # of a token that is drafted and checked instead

_CLASS = 3  # matches are told apart by every so many tokens,
_CLASSES = 5  # up to so many times
_PRIOR_WEIGHT = 4.0


class Copier:
    """Finds what to copy, and how much of it is worth a try. Knows only the answer so far.

    SHORTEST: tokens that must match. LONGEST: most tokens copied. As many are copied as make
    a token cheapest: of n copied ones that stand with probability r each, the batch yields
    1 + r + ... + r^n tokens, since its last row chooses one more. r is learnt within the
    answer, by the length of the match.
    """

    SHORTEST, LONGEST = 3, 16

    def __init__(self, prompt: NDArray[np.int32]) -> None:
        self._prompt = prompt
        priors = [min(0.85 + 0.02 * _CLASS * place, 0.97) for place in range(_CLASSES)]
        self._stood = [_PRIOR_WEIGHT * prior for prior in priors]
        self._tried = [_PRIOR_WEIGHT] * _CLASSES
        self._place = 0  # class of the last match

    def find(self, tokens: list[int], most: int) -> list[int]:
        """Up to `most` tokens that may follow `tokens` (the answer so far, drafts included).

        The longest match of the answer's end decides, the last such place of several.
        """
        ends, matched = self._ends(tokens)
        if matched < self.SHORTEST:
            return []
        self._place = min(matched // _CLASS, _CLASSES) - 1
        length = self._length(min(most, self.LONGEST))
        start = int(ends[-1]) + 1
        return [int(token) for token in self._prompt[start : start + length]]

    def learn(self, copied: int, stood: int) -> None:
        """Of the `copied` tokens found last the first `stood` were right; the next was not."""
        self._tried[self._place] += min(stood + 1, copied)
        self._stood[self._place] += stood

    def _length(self, most: int) -> int:
        """How many copied tokens make a token cheapest; 0 where drafting costs less."""
        rate = min(self._stood[self._place] / self._tried[self._place], 0.99)
        best, cheapest = 0, _OTHERWISE
        for length in range(1, most + 1):
            yielded = (1 - rate ** (length + 1)) / (1 - rate)
            cost = (_ROUND + _TOKEN * 2 * (length + 1)) / yielded
            if cost < cheapest:
                best, cheapest = length, cost
        return best

    def _ends(self, tokens: list[int]) -> tuple[NDArray[np.intp], int]:
        """Places, ascending, of the prompt where the longest end of `tokens` stops; its length."""
        matched = 0
        ends = np.arange(len(self._prompt) - 1)  # the last token has nothing after it
        for token in reversed(tokens):
            if matched == _CLASS * _CLASSES:
                break
            places = ends - matched
            kept = ends[(places >= 0) & (self._prompt[places] == token)]
            if not len(kept):
                break
            ends, matched = kept, matched + 1
        return ends, matched
