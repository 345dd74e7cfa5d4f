"""GGUF files made up for tests: a header that is true, and weights of any size."""

from __future__ import annotations

import struct
from pathlib import Path


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, value: str | int | list[str]) -> bytes:
    if isinstance(value, str):
        return string(key) + struct.pack("<I", 8) + string(value)
    if isinstance(value, int):
        return string(key) + struct.pack("<II", 4, value)
    items = b"".join(string(item) for item in value)
    return string(key) + struct.pack("<IIQ", 9, 8, len(value)) + items


def gguf(
    architecture: str = "llama", *, weights: bytes = b"\0" * 64, name: str = "Tiny", **more: object
) -> bytes:
    """A GGUF with one tensor of 16 F32 numbers; `more` adds metadata, `_` standing for a dot."""
    pairs = [
        pair("general.architecture", architecture),
        pair("general.name", name),
        pair("general.file_type", 15),
        pair(f"{architecture}.context_length", 2048),
        pair(f"{architecture}.block_count", 2),
        pair("tokenizer.ggml.tokens", ["a", "b", "c"]),
        pair("tokenizer.chat_template", "{{ messages }}"),
    ]
    pairs += [pair(key.replace("_", "."), value) for key, value in more.items()]  # type: ignore[arg-type]
    tensor = string("output.weight") + struct.pack("<IQQIQ", 2, 4, 4, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs))
    return head + b"".join(pairs) + tensor + weights


def write(path: Path, data: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf() if data is None else data)
    return path
