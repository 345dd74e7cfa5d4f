"""UTF-16 and UTF-32 without a mark of their byte order, told by how their bytes lie."""

from __future__ import annotations

import unicodedata
from collections import Counter

_SAMPLE = 4096  # bytes that decide
_FEWEST = 4  # characters
_FEWEST_LETTERS = 6
_ONE_SCRIPT = 0.85  # of the letters
# Bytes that no other text holds: what UTF-16 makes of line ends, blanks and many letters.
_TELLING = bytes(code for code in range(32) if code not in (8, 9, 10, 12, 13, 27))
_SCRIPTS = (
    (0x0370, 0x0400), (0x0400, 0x0530), (0x0530, 0x0590), (0x0590, 0x0600),
    (0x0600, 0x0700), (0x0900, 0x0E00), (0x0E00, 0x0F00), (0x10A0, 0x1100), (0x1E00, 0x1F00),
    (0x1F00, 0x2000), (0x3040, 0xA000), (0xAC00, 0xD7B0), (0xFF00, 0xFFF0),
)  # fmt: skip
_CJK = (0x3040, 0xA000)
_ALSO_CJK = (0xFF00, 0xFFF0)


def utf16_without_bom(data: bytes) -> str | None:
    """ "utf-16-le" or "utf-16-be" where the bytes are text in that order only.

    In Latin text NULs stand in nearly every second byte; other scripts have few, and are
    told by their letters, which are of one script in the right order and of many or of
    none in the other.
    """
    head = data[:_SAMPLE]
    pairs = len(head) // 2
    if pairs < _FEWEST:
        return None
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.6 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    if even > 0.6 * pairs and odd < 0.05 * pairs:
        return "utf-16-be"
    telling = len(head) - len(head.translate(None, _TELLING))
    if not telling or (4 * telling < len(head) and _is_utf8(head)):
        return None
    orders = [order for order in ("le", "be") if _is_text(head[: 2 * pairs], f"utf-16-{order}")]
    return f"utf-16-{orders[0]}" if len(orders) == 1 else None


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3
    return True


def _is_text(data: bytes, encoding: str) -> bool:
    """Whether bytes are letters of one script, with blanks, digits and stops."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if error.start < len(data) - 2:  # the sample may end inside a pair
            return False
        text = data[: error.start].decode(encoding)
    letters: Counter[tuple[int, int]] = Counter()
    for char in text:
        category = unicodedata.category(char)
        if category[0] == "L":
            letters[_script(ord(char))] += 1
        elif category in ("Cn", "Co", "Cs") or (category == "Cc" and char not in "\t\n\r\f\x1a"):
            return False
    most, count = max(letters.items(), key=lambda item: item[1], default=((0, 0), 0))
    total = letters.total()
    return (
        total >= _FEWEST_LETTERS
        and most != (0, 0)
        and count >= _ONE_SCRIPT * total > 0.4 * len(text)
    )


def _script(code: int) -> tuple[int, int]:
    found = next((span for span in _SCRIPTS if span[0] <= code < span[1]), (0, 0))
    return _CJK if found == _ALSO_CJK else found


def utf32_without_bom(data: bytes) -> str | None:
    """ "utf-32-le" or "utf-32-be" where three bytes of every four are nearly always NUL."""
    head = data[:_SAMPLE]
    quarters = len(head) // 4
    if quarters < _FEWEST:
        return None
    nuls = [head[at : 4 * quarters : 4].count(0) for at in range(4)]
    for order, empty in (("le", (2, 3)), ("be", (0, 1))):
        used = 3 - empty[0] if order == "be" else 0
        if all(nuls[at] > 0.95 * quarters for at in empty) and nuls[used] < 0.05 * quarters:
            return f"utf-32-{order}"
    return None
