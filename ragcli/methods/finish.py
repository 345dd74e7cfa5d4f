"""From generated text to the text of the answer. Pure."""

from __future__ import annotations

from ragcli.text.sentences import split_sentences
from ragcli.types import Block, Span

_ENDS = (".", "!", "?", "…", "。", "！", "？", ":", ";", ")", '"', "”", "»", "'")


def finished_text(raw: str, stop: str, language: str = "en") -> str:
    """The answer's text: a prefix of what was generated, white space stripped.

    Where the length limit cut a sentence, that sentence goes if another stands before it:
    half a sentence cannot be checked. Where the repetition guard stopped, what came again goes.
    """
    text = raw.strip()
    if stop == "repetition":
        text = _without_repeats(text, language)
    if stop == "length" and not text.endswith(_ENDS):
        spans = _sentences(text, language)
        text = text[: spans[-2].end] if len(spans) > 1 else text
    return text.rstrip()


def _without_repeats(text: str, language: str) -> str:
    """Up to the end of the last sentence before the first one that came before."""
    seen: set[str] = set()
    end = 0
    for span in _sentences(text, language):
        folded = " ".join(span.of(text).split()).casefold()
        if folded in seen:
            return text[:end]
        seen.add(folded)
        end = span.end
    return text


def _sentences(text: str, language: str) -> list[Span]:
    return split_sentences(text, [Block(0, len(text), "paragraph")], language) if text else []
