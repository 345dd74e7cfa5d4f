"""A text about nothing that people ask: the fixed noise reference of calibration."""

from __future__ import annotations

VERSION = "unrelated-1"
TITLE = "Folding a paper boat"
SENTENCES = (
    "Take a sheet of paper and fold it in half from top to bottom.",
    "Fold the two upper corners to the middle line.",
    "Turn up the lower edge on both sides, then pull the sides apart.",
    "The boat floats best when the paper is thick.",
)
