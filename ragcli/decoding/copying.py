"""Drafts copied from the prompt: answers over documents repeat their wording.

Where the answer's last tokens stand in the main prompt, what follows there is guessed to
follow here, and both branches check it in one batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Copier:
    """Finds what to copy, and how much of it is worth a try. Knows only the answer so far.

    SHORTEST: tokens that must match. LONGEST: most tokens copied. WORTH: as many are
    copied as stand together with this probability; by the cost of a batch 0.5 to 0.7
    would do, but an answer leaves its source for good where it leaves it, and on the
    bundled model 0.8 was fastest.
    """

    SHORTEST, LONGEST = 3, 16
    WORTH = 0.8

    def __init__(self, prompt: NDArray[np.int32]) -> None:
        self._prompt = prompt
        self._stood, self._tried = 3.4, 4.0  # before anything is learnt: 0.85 a token

    def find(self, tokens: list[int], most: int) -> list[int]:
        """Up to `most` tokens that may follow `tokens` (the answer so far, drafts included).

        The longest match of the answer's end decides, the last such place of several.
        """
        length = min(most, self._length())
        ends = self._ends(tokens)
        if length < 1 or not len(ends):
            return []
        start = int(ends[-1]) + 1
        return [int(token) for token in self._prompt[start : start + length]]

    def learn(self, copied: int, stood: int) -> None:
        """Of `copied` tokens the first `stood` were right; the next one was not."""
        self._tried += min(stood + 1, copied)
        self._stood += stood

    def _length(self) -> int:
        """The longest copy that as a whole stands with probability WORTH."""
        rate = min(self._stood / self._tried, 0.99)
        return min(self.LONGEST, int(np.log(self.WORTH) / np.log(rate)))

    def _ends(self, tokens: list[int]) -> NDArray[np.intp]:
        """Places, ascending, of the prompt where the longest end of `tokens` stops."""
        matched = 0
        ends = np.arange(len(self._prompt) - 1)  # the last token has nothing after it
        for token in reversed(tokens):
            places = ends - matched
            kept = ends[(places >= 0) & (self._prompt[places] == token)]
            if not len(kept):
                break
            ends, matched = kept, matched + 1
        return ends if matched >= self.SHORTEST else ends[:0]
