"""Subtitles (SubRip, WebVTT): what is said, each line with the time it is said at."""

from __future__ import annotations

import re

from ragcli.sources.decode import decode
from ragcli.sources.plain import notes
from ragcli.types import Block, Extracted

_TIME = re.compile(
    r"[ \t]*((?:\d{1,3}:)?\d{1,2}:\d{2})[,.]\d{1,3}[ \t]*-->[ \t]*(?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3}.*"
)
_TAG = re.compile(
    r"</?(?:[ibucv]|font|ruby|rt|lang)\b[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}|<\d[\d:.]{3,15}>"
)
_ENDS = (".", "!", "?", "…", '."', "。", "！", "？", "♪")
_CUES = 40  # in a paragraph at most
_LONG = 400  # characters, from which on a sentence's end ends the paragraph


def load_subtitles(data: bytes, ending: str) -> Extracted:
    """Cues joined to paragraphs, because sentences run over them; places are times."""
    decoded = decode(data)
    said: list[str] = []
    blocks: list[Block] = []
    places: list[tuple[int, str]] = []
    length = start = cues = 0
    for time, words in _cues(decoded.text):
        places.append((length, time))
        said.append(words)
        length += len(words) + 1
        cues += 1
        if (words.endswith(_ENDS) and length - start > _LONG) or cues >= _CUES:
            blocks.append(Block(start, length - 1, "paragraph"))
            start, cues = length, 0
    if length > start:
        blocks.append(Block(start, length - 1, "paragraph"))
    return Extracted(
        " ".join(said), "subtitles", tuple(blocks), notes=notes(decoded), places=tuple(places)
    )


def _cues(text: str) -> list[tuple[str, str]]:
    """(time, words on one line) of each cue; numbers, settings, styles and comments are none."""
    cues: list[tuple[str, list[str]]] = []
    inside = False
    for line in text.split("\n"):
        if found := _TIME.fullmatch(line):
            cues.append((found.group(1), []))
            inside = True
        elif not line.strip():
            inside = False
        elif inside:
            cues[-1][1].append(_TAG.sub("", line).strip().removeprefix("- "))
    return [(time, words) for time, lines in cues if (words := " ".join(filter(None, lines)))]
