"""What a GGUF file says about itself, read from its header alone.

A small bounded reader: it never loads a model, reads no weights, keeps no token table
in memory, and refuses lengths that cannot be true, so that a hostile file costs an
error line and not the machine's memory. Layout: the GGUF specification of the ggml
project, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ragcli.errors import ModelError
from ragcli.paths import shown

MAGIC = b"GGUF"

_MAX_KEY = 1 << 10
_MAX_STRING = 1 << 24  # a chat template is some kB; 16 MiB is beyond any
_MAX_ENTRIES = 1 << 16  # metadata pairs, and tensors
_MAX_STRINGS = 1 << 22  # strings in all arrays together (vocabulary and merges)
_MAX_DIMENSIONS = 8
_KEPT = 1 << 16  # longer strings are measured, not kept

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9

# general.file_type of the specification: how most of the weights are stored.
FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1",
    10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M",
    16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S",
    22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
    28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0",
    37: "TQ2_0", 38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0",
}  # fmt: skip

Value = int | float | bool | str


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """A model's own description. Empty strings and None: the file does not say.

    parameters: number of weights. context: tokens the model was trained for. vocabulary,
    parameters, chat_template are None where only the first part was read.
    """

    version: int
    name: str
    architecture: str
    quantisation: str
    size_label: str
    license: str
    context: int | None
    layers: int | None
    vocabulary: int | None
    parameters: int | None
    chat_template: bool | None


def is_gguf(path: Path) -> bool:
    """Whether `path` is a readable regular file that starts as a GGUF does."""
    try:
        with _regular(path) as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def read_info(path: Path, *, whole: bool = True) -> GgufInfo:
    """The header of the GGUF at `path`, or, ten times quicker, what stands before its tokens.

    Raises ModelError if the file cannot be read or its header cannot be true.
    """
    try:
        with _regular(path) as file:
            return _Reader(file).info(whole)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelError(
            f"not a usable GGUF model: {shown(path)} ({reason})",
            hint="fetch the file again; ragcli reads GGUF versions 2 and 3",
        ) from error


def read_architecture(path: Path) -> str:
    """The architecture alone, from the first metadata pairs; "" if unreadable or unsaid."""
    try:
        with _regular(path) as file:
            return _Reader(file).architecture()
    except (OSError, ValueError):
        return ""


@contextmanager
def _regular(path: Path) -> Iterator[BinaryIO]:
    """Open for reading, regular files only: a FIFO in a model folder must not block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=1 << 17) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        yield file


class _Reader:
    """A cursor over the header. Every length is checked against what the file still holds."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = self._left = os.fstat(file.fileno()).st_size
        self._strings = 0

    def info(self, whole: bool) -> GgufInfo:
        version, tensor_count, pair_count = self._preamble()
        found: dict[str, Value] = {}
        for _ in range(pair_count):
            if not self._pair(found, arrays=whole):
                return _describe(version, found, None)
        return _describe(version, found, self._weights(tensor_count) if whole else None)

    def architecture(self) -> str:
        _, _, pair_count = self._preamble()
        found: dict[str, Value] = {}
        for _ in range(min(pair_count, 8)):  # writers put it first
            self._pair(found)
            if "general.architecture" in found:
                break
        return _text(found, "general.architecture")

    def _preamble(self) -> tuple[int, int, int]:
        if self._take(4) != MAGIC:
            raise ValueError("it does not start with GGUF")
        version = self._number("<I")
        if version not in (2, 3):
            raise ValueError(f"GGUF version {version}")
        tensors, pairs = self._number("<Q"), self._number("<Q")
        if max(tensors, pairs) > _MAX_ENTRIES:
            raise ValueError("too many entries")
        return version, tensors, pairs

    def _pair(self, found: dict[str, Value], *, arrays: bool = True) -> bool:
        """Read one pair into `found`; False: an array, and none were wanted."""
        key = self._string(_MAX_KEY)
        kind = self._number("<I")
        if kind == _ARRAY and not arrays and key.startswith("tokenizer."):
            return False
        if kind == _STRING:
            found[key] = self._string(_MAX_STRING)
        elif kind == _ARRAY:
            found[f"{key}.length"] = self._skip_array()
        else:
            found[key] = self._scalar(kind)
        return True

    def _scalar(self, kind: int) -> int | float | bool:
        form = _SCALARS.get(kind)
        if form is None:
            raise ValueError(f"unknown value type {kind}")
        value: int | float | bool = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return value

    def _skip_array(self) -> int:
        kind, count = self._number("<I"), self._number("<Q")
        if kind == _STRING:
            self._strings += count
            if self._strings > _MAX_STRINGS:
                raise ValueError("too many strings")
            for _ in range(count):
                self._skip(self._number("<Q"))
        elif kind in _SCALARS:
            self._skip(count * struct.calcsize(_SCALARS[kind]))
        else:  # nested arrays are in the specification and in no model
            raise ValueError(f"array of type {kind}")
        return count

    def _weights(self, tensor_count: int) -> int:
        """Product of the dimensions, summed over the tensors."""
        total = 0
        for _ in range(tensor_count):
            self._skip(self._length(_MAX_KEY))  # its name
            dimensions = self._number("<I")
            if dimensions > _MAX_DIMENSIONS:
                raise ValueError("too many dimensions")
            weights = 1
            for _ in range(dimensions):
                weights *= self._number("<Q")
            total += weights
            self._skip(12)  # its type and offset
        if total > 8 * self._size:  # no type stores a weight in less than a bit
            raise ValueError("it names more weights than it can hold")
        return total

    def _string(self, limit: int) -> str:
        length = self._length(limit)
        text = self._take(min(length, _KEPT)).decode("utf-8", "replace")
        self._skip(length - min(length, _KEPT))
        return text

    def _length(self, limit: int) -> int:
        length = self._number("<Q")
        if length > limit:
            raise ValueError("a string is too long")
        return length

    def _number(self, form: str) -> int:
        value: int = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return value

    def _take(self, count: int) -> bytes:
        self._charge(count)
        data = self._file.read(count)
        if len(data) != count:
            raise ValueError("it ends too early")
        return data

    def _skip(self, count: int) -> None:
        self._charge(count)
        self._file.seek(count, os.SEEK_CUR)

    def _charge(self, count: int) -> None:
        if count > self._left:
            raise ValueError("it ends too early")
        self._left -= count


def _describe(version: int, found: dict[str, Value], parameters: int | None) -> GgufInfo:
    architecture = _text(found, "general.architecture")
    file_type = _count(found, "general.file_type")
    quantisation = "" if file_type is None else FILE_TYPES.get(file_type, f"type {file_type}")
    vocabulary = _count(found, "tokenizer.ggml.tokens.length")
    return GgufInfo(
        version=version,
        name=_text(found, "general.name"),
        architecture=architecture,
        quantisation=quantisation,
        size_label=_text(found, "general.size_label"),
        license=_text(found, "general.license"),
        context=_count(found, f"{architecture}.context_length"),
        layers=_count(found, f"{architecture}.block_count"),
        vocabulary=vocabulary or _count(found, f"{architecture}.vocab_size"),
        parameters=parameters,
        chat_template=None if parameters is None else "tokenizer.chat_template" in found,
    )


def _text(found: dict[str, Value], key: str) -> str:
    """One printable line: these strings come from strangers and reach a terminal."""
    value = found.get(key, "")
    if not isinstance(value, str):
        return ""
    return re.sub(r"\s+", " ", "".join(c for c in value if c.isprintable() or c.isspace()))[
        :200
    ].strip()


def _count(found: dict[str, Value], key: str) -> int | None:
    value = found.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
