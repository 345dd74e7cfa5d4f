"""How far the main branch runs ahead of the second one.

A drafted token costs one step of the main branch and, when it is checked, its share of a
batch. Checking late saves batches; drafting past a token that will be rejected wastes
steps. So a draft goes on while it probably stands as a whole. How probable it is that a
token stands is learnt within the answer, by how narrowly the token won.
"""

from __future__ import annotations

from bisect import bisect_right

# Upper ends (nats between the chosen token and the runner-up) of the classes, and the
# share that stands in each before anything is learnt.
_MARGINS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_PRIORS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.92, 0.96, 0.985, 0.997)
_PRIOR_WEIGHT = 3.0


class Drafter:
    """Judges a draft as it grows. Depends on nothing but the answer so far.

    LONGEST: most tokens of a draft. WORTH: a draft goes on while it stands with at least
    this probability. With a batch of n tokens costing f + c n single steps, one more
    drafted token costs 1 + c, and saves the f + 2 c of a round of its own if the draft
    stands: 0.8 of it must for the 135M model (f 0.7, c 0.6), 0.5 for a 0.5B one.
    """

    LONGEST = 32
    WORTH = 0.7
    LIKELY = 0.6

    def __init__(self) -> None:
        self._stood = [_PRIOR_WEIGHT * prior for prior in _PRIORS]
        self._seen = [_PRIOR_WEIGHT for _ in _PRIORS]
        self._standing = 1.0
        self._length = 0

    @property
    def worth_more(self) -> bool:
        """Whether the draft should grow."""
        return self._length < self.LONGEST and self._standing >= self.WORTH

    @property
    def likely(self) -> bool:
        """Whether the main branch should read the last token within the check.

        That costs about half a step; if the draft stands it saves a whole one.
        """
        return self._standing >= self.LIKELY

    def add(self, margin: float, checked: bool) -> None:
        """One more token drafted; tokens that are not checked always stand with the rest."""
        self._length += 1
        if checked:
            place = bisect_right(_MARGINS, margin)
            self._standing *= self._stood[place] / self._seen[place]

    def learn(self, margin: float, stood: bool) -> None:
        """A token was checked."""
        place = bisect_right(_MARGINS, margin)
        self._seen[place] += 1
        self._stood[place] += stood

    def restart(self) -> None:
        """The draft is settled; the next one is empty."""
        self._standing, self._length = 1.0, 0
