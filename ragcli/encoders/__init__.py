"""Sentence encoders: which one is meant, and opening it without torch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ragcli.encoders.base import EXACT, INT8, Encoder, EncoderFactory, EncoderIdentity
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


# onnxruntime 1.32 keeps an id of the machine and events in the user's cache folder and sends
# them to its maker, unless this is set before it is imported (only this package imports it).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """An encoder that is known but not loaded: its folder and its identity."""

    folder: Path
    identity: EncoderIdentity
    bundled: bool = False


QUANTISING = "1"  # raise it when int8 vectors come out in another way


def resolve_encoder(spec: str | None, precision: str = EXACT) -> EncoderRef:
    """None or the bundled one's name: the bundled encoder; else a folder of the user's,
    or the name of an encoder that `ragcli models` lists. precision: one of PRECISIONS.

    Loads nothing. Raises ModelError if there is no such encoder, UsageError if several are meant.
    """
    ref = _resolve(spec)
    return ref if precision == EXACT else replace(ref, identity=_int8(ref.identity))


def _int8(exact: EncoderIdentity) -> EncoderIdentity:
    """Other vectors, hence another identity."""
    digest = hashlib.sha256(f"{exact.sha256} {INT8} {QUANTISING}".encode("ascii")).hexdigest()
    return replace(exact, sha256=digest, precision=INT8)


def _resolve(spec: str | None) -> EncoderRef:
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
        return _resolve(None)
    return EncoderRef(found.path, read_identity(found.path, found.name))


def open_encoder(
    ref: EncoderRef,
    *,
    threads: int | None = None,
    log: Callable[[str], None] = lambda message: None,
) -> Encoder:
    """The encoder, ready; exported first if it never was (`log` is told).

    threads: texts that are encoded at once, None for one a CPU.

    Raises ModelError if it cannot be exported or read.
    """
    folder = _exported(ref, log)
    from ragcli.encoders.onnx import OnnxEncoder, load_graph

    graph = load_graph(folder, threads=threads)
    if graph.meta.dimension != ref.identity.dimension:
        raise ModelError(
            f"the encoder {ref.identity.name} gives {graph.meta.dimension} components, "
            f"its configuration says {ref.identity.dimension}"
        )
    return OnnxEncoder(graph, ref.identity)


def _exported(ref: EncoderRef, log: Callable[[str], None]) -> Path:
    """The folder with the graph. The int8 one is made from the exact one."""
    from ragcli.encoders.cache import INT8_ENCODER, ensure_export, is_exported

    if ref.identity.precision == EXACT:
        return ensure_export(ref.folder, ref.identity, log)
    source = ref.folder
    if not is_exported(ref.identity, INT8_ENCODER):
        source = ensure_export(source, read_identity(source, ref.identity.name), log)
    return ensure_export(source, ref.identity, log, INT8_ENCODER)
