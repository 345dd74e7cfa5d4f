"""Cross-encoders: a model that reads two texts together and gives a logit a label.

The user's own, as sentence-transformers or transformers save it. Exported once, as encoders
are, and then run without torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragcli.encoders.cache import CROSS_ENCODER, ensure_export
from ragcli.encoders.files import content_hash
from ragcli.errors import ModelError
from ragcli.paths import shown

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

BATCH_TOKENS = 2048  # padded word pieces in one run
CHARACTERS_PER_TOKEN = 200  # what lies beyond cannot be within the model's window
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True)
class CrossIdentity:
    """A cross-encoder's name, the hash of its files, and its labels in the order of its logits."""

    name: str
    sha256: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CrossMeta:
    """What the export says of the graph. inputs: those of `INPUTS` that the model takes."""

    max_tokens: int
    pad_id: int
    inputs: tuple[str, ...]


class CrossEncoder:
    """An exported cross-encoder with its tokenizer."""

    def __init__(self, tokenizer: Tokenizer, session: Any, meta: CrossMeta) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.enable_truncation(meta.max_tokens, strategy="longest_first")
        self._session = session
        self._meta = meta

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """float32 (pairs, labels). What is too long for the model is cut, the longer text first."""
        encodings = self._tokenizer.encode_batch([self._clean(pair) for pair in pairs])
        order = sorted(range(len(pairs)), key=lambda at: -len(encodings[at].ids))
        rows: dict[int, NDArray[np.float32]] = {}
        while order:
            take = max(1, BATCH_TOKENS // max(1, len(encodings[order[0]].ids)))
            part, order = order[:take], order[take:]
            rows |= zip(part, self._run([encodings[at] for at in part]), strict=True)
        return np.array([rows[at] for at in range(len(pairs))], np.float32)

    def _clean(self, pair: tuple[str, str]) -> tuple[str, str]:
        most = self._meta.max_tokens * CHARACTERS_PER_TOKEN
        first, second = (
            text.strip()[:most].encode("utf-8", "replace").decode("utf-8") for text in pair
        )
        return first, second

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """One batch, padded to its longest pair."""
        shape = len(encodings), max(len(one.ids) for one in encodings)
        arrays = {
            "input_ids": np.full(shape, self._meta.pad_id, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        for row, one in enumerate(encodings):
            arrays["input_ids"][row, : len(one.ids)] = one.ids
            arrays["attention_mask"][row, : len(one.ids)] = 1
            arrays["token_type_ids"][row, : len(one.ids)] = one.type_ids
        (logits,) = self._session.run(None, {name: arrays[name] for name in self._meta.inputs})
        return np.asarray(logits, np.float32)


def read_cross_identity(folder: Path) -> CrossIdentity:
    """Raises ModelError if the folder holds no cross-encoder. Nothing is loaded."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        labels = config["id2label"]
        names = tuple(str(labels[str(at)]) for at in range(len(labels)))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"not a cross-encoder: {shown(folder)}",
            hint="the folder must hold config.json with its labels (id2label), and the weights",
        ) from error
    if not (folder / "model.safetensors").is_file():
        raise ModelError(
            f"the cross-encoder has no model.safetensors: {shown(folder)}",
            hint="weights in other formats can run code and are not read",
        )
    return CrossIdentity(folder.resolve().name, content_hash(folder.resolve()), names)


def open_cross_encoder(
    folder: Path,
    identity: CrossIdentity,
    *,
    threads: int | None = None,
    log: Callable[[str], None] = lambda message: None,
) -> CrossEncoder:
    """The model, ready; exported first if it never was (`log` is told).

    Raises ModelError if it cannot be exported or read.
    """
    return load_cross(
        ensure_export(folder.resolve(), identity, log, CROSS_ENCODER), threads=threads
    )


def load_cross(export: Path, *, threads: int | None = None) -> CrossEncoder:
    """Opens an export. Raises ModelError if it is incomplete or damaged."""
    from ragcli.encoders.onnx import GRAPH, open_session

    try:
        from tokenizers import Tokenizer

        meta = json.loads((export / "meta.json").read_bytes())
        return CrossEncoder(
            Tokenizer.from_file(str(export / "tokenizer.json")),
            open_session(export / GRAPH, threads),
            CrossMeta(meta["max_tokens"], meta["pad_id"], tuple(meta["inputs"])),
        )
    except Exception as error:
        # onnxruntime and tokenizers raise many unrelated classes for a damaged file.
        raise ModelError(
            f"the exported cross-encoder cannot be used: {shown(export)} ({type(error).__name__})",
            hint=f"remove {shown(export)}; it is written anew when needed",
        ) from error
