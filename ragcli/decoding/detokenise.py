"""Tokens to text as they come: a character may take several tokens."""

from __future__ import annotations

import codecs

from ragcli.llm.base import Vocabulary


class Utf8:
    """Text of a run of tokens, token by token.

    A token that ends within a character adds nothing until the character is whole; bytes
    that are no UTF-8 become U+FFFD. What is unfinished when the answer ends is left out.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The characters that `token` completes."""
        return self._decoder.decode(self._vocabulary.piece(token))


def text_of(vocabulary: Vocabulary, token: int) -> str:
    """One token by itself; bytes that are no whole character become U+FFFD."""
    return vocabulary.piece(token).decode("utf-8", "replace")
