"""Writes a cross-encoder as an ONNX graph: ``python -m ragcli.encoders.cross_export``.

In a process of its own, like `export`; what the graph gives is checked against the model.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from ragcli.encoders.cross import INPUTS, load_cross
from ragcli.encoders.exporting import run
from ragcli.encoders.onnx import optimise

OPSET = 17
CHECK = (
    ("A man is playing the guitar.", "Somebody makes music."),
    ("Prüfstück, naïve café, 北京 🙂", ""),
    ("The valve in the cellar is opened by turning the red handle twice. " * 80, "It is red."),
    ("The bridge was built in 1904.", "The bridge was built in 1908. " * 3),
)
TOLERANCE = 1e-3  # of a logit
LONGEST = 512  # where the tokenizer names no limit


class _Graph(torch.nn.Module):  # type: ignore[misc]
    """int64 (batch, length) a name of `inputs` → float32 (batch, labels)."""

    def __init__(self, model: Any, inputs: tuple[str, ...]) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs

    def forward(self, *arrays: Any) -> Any:
        return self.model(**dict(zip(self.inputs, arrays, strict=True))).logits


def export(source: Path, target: Path) -> None:
    """Writes graph, weights, tokenizer.json and meta.json into the existing folder `target`."""
    model = CrossEncoder(
        str(source),
        device="cpu",
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True, "attn_implementation": "eager"},
    )
    model.model.eval()
    inputs = tuple(name for name in INPUTS if name in model.tokenizer.model_input_names)
    longest = min(int(model.max_length or LONGEST), _positions(model.model))
    tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(target / "tokenizer.json"))
    with tempfile.TemporaryDirectory(dir=target) as plain:
        _write_graph(model, inputs, Path(plain, "plain.onnx"))
        optimise(Path(plain, "plain.onnx"), target)
    meta = {
        "max_tokens": longest,
        "pad_id": model.tokenizer.pad_token_id or 0,
        "inputs": inputs,
    }
    (target / "meta.json").write_text(json.dumps(meta), "utf-8")
    _check(model, target, longest)


def _positions(model: Any) -> int:
    """Tokens that the model has positions for; RoBERTa's two first are never used."""
    known = int(getattr(model.config, "max_position_embeddings", 0) or LONGEST)
    reserved = model.config.model_type in ("roberta", "xlm-roberta", "camembert")
    return known - 2 if reserved else known


def _write_graph(model: CrossEncoder, inputs: tuple[str, ...], file: Path) -> None:
    example = model.tokenizer(
        [("two short", "sample texts"), ("to trace it", "again and again")],
        padding=True,
        return_tensors="pt",
    )
    shape = {0: "batch", 1: "length"}
    torch.onnx.export(
        _Graph(model.model, inputs).eval(),
        tuple(example[name] for name in inputs),
        str(file),
        input_names=list(inputs),
        output_names=["logits"],
        dynamic_axes={**dict.fromkeys(inputs, shape), "logits": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def _check(model: CrossEncoder, target: Path, longest: int) -> None:
    encoded = model.tokenizer(
        list(CHECK), padding=True, truncation=True, max_length=longest, return_tensors="pt"
    )
    with torch.no_grad():
        reference = model.model(**encoded).logits.numpy()
    worst = float(np.abs(load_cross(target).logits(CHECK) - reference).max())
    if not worst <= TOLERANCE:
        raise ValueError(f"the exported graph disagrees with the model: a logit by {worst:.5f}")


if __name__ == "__main__":
    sys.exit(run(export, sys.argv[1:]))
