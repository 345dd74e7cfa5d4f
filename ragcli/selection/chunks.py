"""Words of a question, and runs of them with a grammatical role. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from ragcli.selection import grammar
from ragcli.text.stopwords import STOP_WORDS
from ragcli.types import ConstituentKind, Expected

_TOKEN = re.compile(r"[^\W_]+(?:[-'’.+#/]+[^\W_]+)*[+#]*|[,;:()]")
_MOST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark of a question; `folded` is NFKC and case folded."""

    text: str
    folded: str
    start: int
    end: int

    @property
    def mark(self) -> bool:
        return self.text in ",;:()"


@dataclass(slots=True)
class Chunk:
    kind: ConstituentKind
    tokens: list[Token] = field(default_factory=list)
    expects: Expected = "any"


def tokenise(question: str) -> list[Token]:
    """Words and marks, the first few hundred."""
    return [
        Token(match.group(), _fold(match.group()), *match.span())
        for match, _ in zip(_TOKEN.finditer(question), range(_MOST_TOKENS), strict=False)
    ]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def content(token: Token, language: str = "en") -> bool:
    """Whether a word means something by itself."""
    word = token.folded
    if token.mark or word in STOP_WORDS.get(language or "en", STOP_WORDS["en"]):
        return False
    return language not in ("en", "") or not (
        word in grammar.WH or word in grammar.AUXILIARIES or word in grammar.DETERMINERS
        or word in grammar.PREPOSITIONS
    )  # fmt: skip
