"""Sentence encoders: which one is meant, and opening it without torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ragcli.encoders.base import Encoder, EncoderFactory, EncoderIdentity
from ragcli.encoders.files import BUNDLED_NAME, bundled_folder, read_identity
from ragcli.errors import ModelError
from ragcli.llm.caches import expanded
from ragcli.paths import shown

__all__ = [
    "Encoder",
    "EncoderFactory",
    "EncoderIdentity",
    "EncoderRef",
    "open_encoder",
    "resolve_encoder",
]


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """An encoder that is known but not loaded: its folder and its identity."""

    folder: Path
    identity: EncoderIdentity
    bundled: bool = False


def resolve_encoder(spec: str | None) -> EncoderRef:
    """None or the bundled one's name: the bundled encoder; else a folder of the user's,
    or the name of an encoder that `ragcli models` lists.

    Loads nothing. Raises ModelError if there is no such encoder, UsageError if several are meant.
    """
    if spec is None or spec == BUNDLED_NAME:
        folder = bundled_folder()
        return EncoderRef(folder, read_identity(folder, BUNDLED_NAME), bundled=True)
    folder = expanded(spec)
    if folder.is_dir():
        folder = folder.resolve()
        return EncoderRef(folder, read_identity(folder, folder.name))
    return _named(spec)


def _named(name: str) -> EncoderRef:
    """An encoder of the Hugging Face cache, by its name or the beginning of it."""
    from ragcli.llm.discover import discover_encoders
    from ragcli.llm.registry import match_name

    try:
        found = match_name(name, discover_encoders())
    except ModelError as error:
        raise ModelError(
            f"no such encoder: {shown(name)}",
            hint=f"give the folder of a sentence-transformers model, or {BUNDLED_NAME}",
        ) from error
    if found.source == "bundled":
        return resolve_encoder(None)
    return EncoderRef(found.path, read_identity(found.path, found.name))


def open_encoder(
    ref: EncoderRef,
    *,
    threads: int | None = None,
    log: Callable[[str], None] = lambda message: None,
) -> Encoder:
    """The encoder, ready; exported first if it never was (`log` is told).

    Raises ModelError if it cannot be exported or read.
    """
    from ragcli.encoders.cache import ensure_export

    folder = ensure_export(ref.folder, ref.identity, log)
    from ragcli.encoders.onnx import OnnxEncoder, load_graph

    graph = load_graph(folder, threads=threads)
    if graph.meta.dimension != ref.identity.dimension:
        raise ModelError(
            f"the encoder {ref.identity.name} gives {graph.meta.dimension} components, "
            f"its configuration says {ref.identity.dimension}"
        )
    return OnnxEncoder(graph, ref.identity)
