"""Text as people and models should read it; the extracted text itself is never changed.

`readable` feeds encoders, prompts and quotes; `safe_for_terminal` guards the screen.
"""

from __future__ import annotations

import re
import unicodedata

# First halves of compounds that keep their hyphen when it stands at a line end.
_HEADS = (
    "anti co cross double e ex fine five four full half high ill large long low many mid multi "
    "non one open post pre quasi second self semi short single six small state ten third three "
    "top two ultra well wide x zero"
)
_COMPOUND_HEADS = frozenset(_HEADS.split())

# Hyphen-minus or hyphen between two letters or digits, the right one on the next line.
_LINE_END_HYPHEN = re.compile(r"(\w+)([-\u2010])[^\S\n]*\n[^\S\n]*(?=(\w))")
_SOFT_HYPHEN = re.compile(r"\u00ad[^\S\n]*(?:\n[^\S\n]*)?")
# Zero-width space, word joiner, BOM, bidi marks, embeddings, overrides, isolates, tag characters.
# ZWNJ and ZWJ (200C, 200D) stay: Persian, Indic scripts and emoji are wrong without them.
_INVISIBLE = "\u200b\u200e\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u206f\U000e0000-\U000e007f"
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_TERMINAL = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029{_INVISIBLE}]",
)


def _join(match: re.Match[str]) -> str:
    left, hyphen, right = match.group(1), match.group(2), match.group(3)
    before = match.string[match.start() - 1] if match.start() else ""
    keeps = (
        not right.islower()  # "Nord-/Süd", "10-/20": the hyphen is part of the word
        or not left[-1].isalpha()
        or before in {"-", "\u2010"}  # "state-of-/the-art"
        or left.casefold() in _COMPOUND_HEADS
    )
    return left + hyphen if keeps else left


def join_hyphenation(text: str) -> str:
    """Words broken at a line end made whole.

    Rule: hyphen, line break, then a lower-case letter: both go ("sys-/tem" → "system").
    The hyphen stays, and only the break goes, before a capital or a digit, after a
    digit, inside a chain ("state-of-/the-art") and after common first halves of
    compounds ("two-/branch", "self-/made"). A soft hyphen goes wherever it is.
    """
    if "\u00ad" in text:
        text = _SOFT_HYPHEN.sub("", text)
    if "\n" in text and ("-" in text or "\u2010" in text):
        text = _LINE_END_HYPHEN.sub(_join, text)
    return text


def readable(text: str) -> str:
    """One line of clean text: NFC, hyphenation joined, white space folded to single blanks.

    Invisible and control characters are dropped, lone surrogates become U+FFFD.
    """
    text = join_hyphenation(text)
    if not text.isascii():
        text = _DROPPED.sub("", text)
        text = _SURROGATE.sub("\ufffd", text)
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
    text = _CONTROL.sub("", text)
    return _SPACE.sub(" ", text).strip()


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "\n" if code in (0x2028, 0x2029) else ""


def safe_for_terminal(text: str) -> str:
    """Text that cannot steer a terminal; line feeds and tabs stay.

    C0 controls and DEL become control pictures (ESC → ␛), C1 controls and lone
    surrogates U+FFFD; bidi controls, zero-width and tag characters are dropped;
    CR LF becomes LF. Idempotent.
    """
    return _TERMINAL.sub(_visible, text.replace("\r\n", "\n"))
