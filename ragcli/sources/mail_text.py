"""The plain text of a mail: its paragraphs, what it quotes, and what nobody reads in it."""

from __future__ import annotations

import itertools
import re

from ragcli.sources.plain import text_blocks
from ragcli.types import Block

_ENCODED = re.compile(
    r"^-----BEGIN PGP (?:MESSAGE|SIGNATURE|PUBLIC KEY BLOCK)-----$.*?(?:^-----END PGP [A-Z ]+-----$|\Z)"
    r"|^begin [0-7]{3,4} [^\n]{1,200}\n(?=[!-`][ -`]{3,79}$).*?(?:^end$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SIGNED = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash: [^\n]*\n)*", re.MULTILINE)
_MARKS = re.compile(r"(?:[ \t]?>)+[ \t]?|[ \t]?\|[ \t](?=\S)")


def _quoted(line: str) -> bool:
    return line.lstrip(" \t").startswith(">")


def mail_blocks(text: str) -> list[tuple[str, list[Block], bool]]:
    """(text, blocks, whether it is quoted) of each run of lines, in order.

    A quoted run keeps one mark at the start of each paragraph: enough to see that it is
    quoted, without marks inside its sentences. Encoded blocks (PGP, uuencode) are gone.
    """
    text = _SIGNED.sub("", _ENCODED.sub("", text))
    out: list[tuple[str, list[Block], bool]] = []
    for is_quoted, run in itertools.groupby(text.split("\n"), key=_quoted):
        lines = list(run)
        whole = _unquoted(lines) if is_quoted else "\n".join(lines)
        if whole.strip():
            out.append((whole, text_blocks(whole), is_quoted))
    return out


def _unquoted(lines: list[str]) -> str:
    """Quoted lines with the mark on the first of each paragraph only."""
    shown: list[str] = []
    fresh = True
    for line in lines:
        found = _MARKS.match(line)
        words = line[found.end() :] if found else line
        if not words.strip():
            shown.append("")
            fresh = True
            continue
        shown.append(f"> {words}" if fresh else words)
        fresh = False
    return "\n".join(shown)
