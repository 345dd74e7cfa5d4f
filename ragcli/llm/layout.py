"""From prompt pieces to tokens, and whose text each token is. Pure.

Adjacent pieces of plain text are tokenised as one text, as the model would see it;
control pieces apart. Tokens are given to sources by counting the bytes they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import NOWHERE, EncodedPrompt, PromptPiece
from ragcli.types import Source


@dataclass(frozen=True, slots=True)
class Codec:
    """How text becomes tokens. plain: special tokens inert; control: parsed.

    piece: the bytes of a token. bos: a token to put in front if it is not there, or None.
    """

    plain: Callable[[str], list[int]]
    control: Callable[[str], list[int]]
    piece: Callable[[int], bytes]
    bos: int | None = None


def to_bytes(text: str) -> bytes:
    """UTF-8; what has no UTF-8 (lone surrogates) becomes a question mark."""
    return text.encode("utf-8", "replace")


def encode(pieces: Sequence[PromptPiece], codec: Codec, notes: Sequence[str] = ()) -> EncodedPrompt:
    """Tokens (n,) and owners (n,) of a prompt."""
    sources = tuple(dict.fromkeys(p.source for p in pieces if p.source is not None))
    number = {source: index for index, source in enumerate(sources)}
    tokens: list[int] = []
    owners: list[int] = []
    fixed, open_end = 0, True
    for control, run in groupby(pieces, key=lambda piece: piece.control):
        part = tuple(run)
        text = "".join(piece.text for piece in part)
        new = (codec.control if control else codec.plain)(text) if text else []
        tokens += new
        owners += [NOWHERE] * len(new) if control else _owners(new, part, text, codec, number)
        if open_end:
            fixed += len(new) if control else _fixed(new, part, text, codec)
            open_end = control or all(piece.fixed for piece in part)
    if codec.bos is not None and tokens[:1] != [codec.bos]:
        tokens, owners, fixed = [codec.bos, *tokens], [NOWHERE, *owners], fixed + 1
    return EncodedPrompt(
        np.array(tokens, np.int32), sources, np.array(owners, np.int32), tuple(notes), fixed
    )


def _fixed(tokens: list[int], pieces: tuple[PromptPiece, ...], text: str, codec: Codec) -> int:
    """Leading tokens of a plain run that lie within its leading fixed pieces."""
    leading = "".join(piece.text for piece in takewhile(lambda piece: piece.fixed, pieces))
    if leading == text:
        return len(tokens)
    starts = token_starts([codec.piece(token) for token in tokens], to_bytes(text))
    # the last one may reach over the border, and be another one where the text goes on otherwise
    return max(0, int((starts < len(to_bytes(leading))).argmin()) - 1) if leading else 0


def _owners(
    tokens: list[int],
    pieces: tuple[PromptPiece, ...],
    text: str,
    codec: Codec,
    number: dict[Source, int],
) -> list[int]:
    """The owner of each token of a plain run."""
    of_byte = np.concatenate(
        [
            np.full(
                len(to_bytes(piece.text)),
                NOWHERE if piece.source is None else number[piece.source],
                np.int32,
            )
            for piece in pieces
        ]
    )
    starts = token_starts([codec.piece(token) for token in tokens], to_bytes(text))
    owners: list[int] = of_byte[np.minimum(starts, len(of_byte) - 1)].tolist()
    return owners


def token_starts(pieces: Sequence[bytes], text: bytes) -> NDArray[np.int64]:
    """(n,) offset in `text` of each token's first byte that is not a blank.

    The blank before a word is part of the word's token in most vocabularies; the word
    decides whose it is. A token of blanks alone starts where it starts. Some tokenisers put
    a blank in front of a text, or change characters: then tokens are found by search.
    """
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    ends = np.cumsum(lengths)
    joined = b"".join(pieces)
    if joined == b" " + text:
        ends = ends - 1
    elif joined != text:
        return _searched(pieces, text)
    blanks = np.array([_blanks(piece) for piece in pieces], np.int64)
    return np.asarray(np.maximum(ends - lengths + blanks, 0))


def _blanks(piece: bytes) -> int:
    """Leading white space of a token that holds more than white space."""
    stripped = piece.lstrip()
    return len(piece) - len(stripped) if stripped else 0


def _searched(pieces: Sequence[bytes], text: bytes) -> NDArray[np.int64]:
    """Starts of tokens whose bytes do not add up to the text; unmatched ones stay in place."""
    starts, cursor = [], 0
    for piece in pieces:
        word = piece.strip()
        found = text.find(word, cursor, cursor + 64 + len(word)) if word else -1
        start = found if found >= 0 else cursor
        starts.append(min(start, max(len(text) - 1, 0)))
        cursor = start + len(word) if found >= 0 else cursor
    return np.array(starts, np.int64)
