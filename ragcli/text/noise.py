"""Text that nobody reads: base64, hex dumps, minified code.

It stays in the extracted text, so that offsets and lines hold, but it gets no
sentences, so that it is neither embedded nor quoted.
"""

from __future__ import annotations

import re

LONG_TOKEN = 300  # an unbroken run of ASCII this long is never prose (a URL may have 200)
# One line of base64 as mail and PEM files wrap it, or longer.
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{40,}")
_TOKEN = re.compile(
    rf"(?<![!-~])[!-~]{{{LONG_TOKEN},}}"
    r"|(?<![^\s>\"'(,;:])[A-Za-z0-9+/=_-]{40,}(?![^\s<\"'),;])"
)
# The short last line of a wrapped block: one token, then the end or a blank or ruled line.
_TAIL = re.compile(r"[^\S\n]*\n[^\S\n]*([A-Za-z0-9+/]{1,75}={0,2})[^\S\n]*(?=\n\s*\n|\n--|\n*\Z)")
_CHANGE = re.compile(r"[a-z][A-Z0-9]|[A-Z][a-z0-9]|[0-9][A-Za-z]")
# Between two noise tokens of one run: only white space, quotes and commas.
_GAP = re.compile(r"[\s\"',\\]*")


def is_encoded(token: str) -> bool:
    """Whether a token has the random mix of cases and digits of base64.

    Words, paths and identifiers change character class in about one pair of six;
    random base64 in more than half.
    """
    if not _ENCODED.fullmatch(token):
        return False
    changes = len(_CHANGE.findall(token))
    mixed = any(c.islower() for c in token) and any(c.isupper() for c in token)
    return mixed and changes * (5 if any(c.isdigit() for c in token) else 4) >= len(token)


def noise_spans(text: str) -> list[tuple[int, int]]:
    """Ascending, disjoint ranges of noise: very long ASCII tokens, and base64 tokens.

    Neighbours with nothing but blanks, quotes or commas between them are one range.
    """
    spans: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if end - start < LONG_TOKEN and not is_encoded(match.group()):
            continue
        if spans and _GAP.fullmatch(text, spans[-1][1], start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [(start, _with_tail(text, end)) for start, end in spans]


def _with_tail(text: str, end: int) -> int:
    tail = _TAIL.match(text, end)
    if tail is None or (tail.group(1).isalpha() and tail.group(1)[1:].islower()):
        return end  # nothing there, or a word
    return tail.end(1)


def is_noise(text: str) -> bool:
    """Whether noise makes up more than half of the visible text."""
    visible = len(text) - sum(map(str.isspace, text))
    return 2 * sum(end - start for start, end in noise_spans(text)) > visible
