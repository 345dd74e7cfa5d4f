"""A LoRA as llama.cpp reads it: which tensor of a GGUF is which layer, and the adapter's file.

The only import of gguf. Llama's converters interleave the halves of each head's rows in the
matrices of queries and keys, so that neighbouring numbers are turned together; an adapter must
follow. Whether they did is not looked up by the architecture's name but seen in the numbers, which
also tells whether a base is the model's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from ragcli.errors import ModelError
from ragcli.llm.discover import shards
from ragcli.paths import shown

Array = NDArray[np.float32]
Rows = Callable[[int], Array]  # the first so many rows of a matrix (out, in)

# The matrices that a change is learnt of: what llama.cpp multiplies under an adapter everywhere.
TARGETS = frozenset({
    "attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output", "ffn_gate", "ffn_up", "ffn_down",
})  # fmt: skip
_FAR = 0.6  # relative difference; rounding to two bits costs about 0.3, other rows 1.4
_SAMPLE = 64  # rows that are compared where heads do not matter


@dataclass(frozen=True, slots=True)
class Place:
    """A matrix in the GGUF. heads: whose rows are interleaved there; 0 where none are."""

    tensor: str
    heads: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """Where a base's layers are in a model. difference: largest relative one of the numbers seen."""

    architecture: str
    of: Mapping[str, Place]
    difference: float


def places(model: Path, modules: Mapping[str, Rows], embedding: str) -> Places:
    """Where the base's matrices are, by the names that transformers has for them.

    embedding: the module of the tokens' vectors, which must be the same as well. Raises ModelError
    where the base is not what the model was made from, and where nothing can be changed.
    """
    file = _Model(model)
    found: dict[str, Place] = {}
    worst = 0.0
    for name, rows in modules.items():
        tensor = file.name(name)
        kind = tensor.rpartition(".")[2]
        if not tensor or (kind not in TARGETS and name != embedding):
            continue
        heads, difference = file.compare(f"{tensor}.weight", kind, rows)
        if difference > _FAR:
            raise ModelError(
                f"the base is not what {shown(model)} was made from: {tensor} differs",
                hint="--base names the folder that the model was converted from; without it the"
                " model itself is the base",
            )
        worst = max(worst, difference)
        if kind in TARGETS:
            found[name] = Place(f"{tensor}.weight", heads)
    if not found:
        raise ModelError(
            f"no adapter can be trained for {shown(model)}: none of its matrices is known",
            hint="an analyzer needs a model of attention and feed-forward layers",
        )
    return Places(file.architecture, found, worst)


def write_adapter(
    file: Path,
    where: Places,
    changes: Mapping[str, tuple[Array, Array]],
    *,
    alpha: float,
    notes: Mapping[str, str],
) -> None:
    """The adapter; it adds alpha / rank · b @ a. changes: a (rank, in), b (out, rank) by name.

    notes: metadata, by key. Raises OSError.
    """
    part = file.with_name(f"{file.name}.part")
    writer = gguf.GGUFWriter(part, where.architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, alpha)
    for key, value in notes.items():
        writer.add_string(key, value)
    for name, (a, b) in changes.items():
        place = where.of[name]
        writer.add_tensor(f"{place.tensor}.lora_a", np.ascontiguousarray(a))
        writer.add_tensor(f"{place.tensor}.lora_b", interleaved(b, place.heads))
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    part.replace(file)


def interleaved(rows: Array, heads: int) -> Array:
    """The halves of each head's rows, row by row; as they are where `heads` is 0. (out, n)."""
    if not heads:
        return np.ascontiguousarray(rows)
    halves = rows.reshape(heads, 2, -1, rows.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))


class _Model:
    """The tensors of a GGUF, of all its files."""

    def __init__(self, path: Path) -> None:
        try:
            readers = [gguf.GGUFReader(file) for file in shards(path) or [path]]
            self.architecture = str(_value(readers[0], "general.architecture"))
            blocks = int(_value(readers[0], f"{self.architecture}.block_count"))
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"cannot read the weights of {shown(path)}: {str(error).splitlines()[0]}"
            ) from error
        kinds = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}
        kind = kinds.get(self.architecture)
        self._names = gguf.get_tensor_name_map(kind, blocks) if kind is not None else None
        self._first = readers[0]
        self._tensors = {one.name: one for reader in readers for one in reader.tensors}

    def name(self, module: str) -> str:
        """A tensor without its ending, by transformers' name; "" where the file has none."""
        found = self._names.get_name(module) if self._names is not None else None
        return found if found and f"{found}.weight" in self._tensors else ""

    def compare(self, tensor: str, kind: str, rows: Rows) -> tuple[int, float]:
        """Heads whose rows are interleaved, and how far the base's first rows are from these."""
        held = self._tensors[tensor]
        heads = self._heads(kind, int(tensor.split(".")[1])) if kind in ("attn_q", "attn_k") else 0
        count = int(held.shape[1])
        first = count // heads if heads else min(_SAMPLE, count)
        try:
            theirs = gguf.quants.dequantize(held.data[:first], held.tensor_type)
        except NotImplementedError as error:
            raise ModelError(
                f"weights of type {held.tensor_type.name} cannot be read",
                hint="train with the same model in another quantisation",
            ) from error
        ours = rows(first)
        if ours.shape != theirs.shape:
            return 0, float("inf")
        plain = _distance(ours, theirs)
        turned = _distance(interleaved(ours, 1), theirs) if heads else float("inf")
        return (heads, turned) if turned < plain else (0, plain)

    def _heads(self, kind: str, block: int) -> int:
        for key in ("head_count_kv", "head_count")[kind == "attn_q" :]:
            found = self._first.get_field(f"{self.architecture}.attention.{key}")
            if found is not None:
                value = found.contents()
                return int(value[block] if isinstance(value, list) else value)
        return 0


def _value(reader: Any, key: str) -> Any:
    found = reader.get_field(key)
    if found is None:
        raise ValueError(f"it has no {key}")
    return found.contents()


def _distance(ours: Array, theirs: Array) -> float:
    """Of the difference's length to theirs."""
    length = float(np.linalg.norm(theirs))
    gap = float(np.linalg.norm(ours - theirs))
    return gap / length if length else (float("inf") if gap else 0.0)


def tensors_of(file: Path) -> Iterator[tuple[str, Array]]:
    """Names and numbers of a small GGUF, such as an adapter. Raises OSError, ValueError."""
    for one in gguf.GGUFReader(file).tensors:
        yield one.name, np.asarray(gguf.quants.dequantize(one.data, one.tensor_type), np.float32)
