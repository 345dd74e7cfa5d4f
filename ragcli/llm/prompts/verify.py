"""Does a source support a claim? Answered with one token."""

from __future__ import annotations

from ragcli.llm.base import PromptPiece
from ragcli.text.normalise import readable

VERSION = "verify-2"
SYSTEM = "You check whether a text supports a claim. Answer with Yes or No only."
YES, NO = "Yes", "No"


def user(premise: str, hypothesis: str) -> tuple[PromptPiece, ...]:
    """The user message; the premise comes first, so that claims about one text share a prefix."""
    return (
        PromptPiece("Text: ", fixed=True),
        PromptPiece(readable(premise)),
        PromptPiece("\n\nClaim: "),
        PromptPiece(readable(hypothesis)),
        PromptPiece("\n\nDoes the text say that the claim is true? Answer Yes or No."),
    )


_BRIDGE = (
    "Kestrel Bridge: Kestrel Bridge is a road bridge over the river Omm, built in 1904 by the "
    "engineer Dora Lindqvist."
)
_MILL = (
    "Harlow Mill: The mill at Harlow was bought in 1962 by the Varga family, who made paper there "
    "until 1987."
)
# Pairs of known truth (premise, claim): a model's answers to them place its scale.
SUPPORTED = (
    (_BRIDGE, _BRIDGE.partition(": ")[2]),
    (_BRIDGE, "Who built Kestrel Bridge? Dora Lindqvist"),
    (_MILL, _MILL.partition(": ")[2]),
    (_MILL, "What did the Varga family make at Harlow? paper"),
)
UNSUPPORTED = (
    (_BRIDGE, "Kestrel Bridge is a road bridge over the river Omm, built in 1871 by the engineer "
              "Paul Ferrand."),
    (_BRIDGE, "Who built Kestrel Bridge? Paul Ferrand"),
    (_BRIDGE, _MILL.partition(": ")[2]),
    (_MILL, "The mill at Harlow was bought in 1962 by the town, which made glass there until "
            "1987."),
    (_MILL, "What did the Varga family make at Harlow? glass"),
    (_MILL, "Who built Kestrel Bridge? Dora Lindqvist"),
)  # fmt: skip
