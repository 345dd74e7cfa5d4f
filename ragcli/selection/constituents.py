"""The syntactic constituents of a question (paper 004, eq. 1). Pure.

By rules: question words, auxiliaries, prepositions, verbs and commas cut an English question
into phrases; another language is cut at its function words. A constituent is always a span of
the question. Auxiliaries, link verbs and bare determiners are none: there is nothing in a
document to align them with. A question word is one where what it asks for can be recognised
in a text (a time, a number, a name).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.selection import grammar
from ragcli.selection.chunks import Chunk, Token, content, tokenise
from ragcli.selection.english import English
from ragcli.text.words import words
from ragcli.types import Constituent, ConstituentKind

KINDS: tuple[ConstituentKind, ...] = (
    "subject", "predicate", "object", "predicative", "attribute", "adverbial", "complement",
    "apposition",
)  # fmt: skip
MOST = 12  # constituents; what a long question says beyond them is left out


def constituents(question: str, language: str = "en") -> tuple[Constituent, ...]:
    """The constituents present, in question order; their spans do not overlap.

    Empty for a question without content. Linear in its length.
    """
    tokens = tokenise(question)
    if language in ("en", ""):
        chunks = English(tokens).chunks()
    else:
        chunks = _by_function_words(tokens, language)
    found = [
        _constituent(chunk, question) for chunk in chunks if _counts(chunk, question, language)
    ]
    return tuple(sorted(found, key=lambda one: one.start)[:MOST])


def _constituent(chunk: Chunk, question: str) -> Constituent:
    start, end = chunk.tokens[0].start, chunk.tokens[-1].end
    return Constituent(chunk.kind, question[start:end], start, end, chunk.expects)


def _counts(chunk: Chunk, question: str, language: str) -> bool:
    """Whether there is something to look for: a content word that is not a mere "name", "reason"."""
    if not chunk.tokens:
        return False
    if chunk.expects != "any":
        return True
    said = words(question[chunk.tokens[0].start : chunk.tokens[-1].end], language or "en")
    return any(
        word.kind != "stop" and word.text.casefold() not in grammar.LIGHT | grammar.WH
        for word in said
    )


def _by_function_words(tokens: Sequence[Token], language: str) -> list[Chunk]:
    """Runs of content words; the first is the subject, one with a digit an adverbial."""
    chunks: list[Chunk] = []
    open_run = False
    for token in tokens:
        if not content(token, language):
            open_run = False
            continue
        if not open_run:
            chunks.append(Chunk("object" if chunks else "subject"))
            open_run = True
        chunks[-1].tokens.append(token)
    for chunk in chunks[1:]:
        if any(t.text[0].isdigit() for t in chunk.tokens):
            chunk.kind = "adverbial"
    return chunks
