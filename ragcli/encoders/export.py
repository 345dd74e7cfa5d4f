"""Writes a sentence-transformers model as an ONNX graph: ``python -m ragcli.encoders.export``.

Runs in a process of its own, so that the caller never pays for importing torch (about
5 s and 500 MB). The graph holds all of the model's modules (transformer, pooling, dense,
normalisation); what it gives is checked against the model before it is accepted.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from ragcli.encoders.exporting import run
from ragcli.encoders.onnx import load_graph, optimise

OPSET = 17
CHECK = (
    "",
    "A short sentence.",
    "Prüfstück, naïve café, 北京 and an emoji 🙂",
    "The valve in the cellar is opened by turning the red handle twice. " * 30,
)
MIN_COSINE = 0.9999


class _Graph(torch.nn.Module):  # type: ignore[misc]
    """input_ids, attention_mask int64 (batch, length) → float32 (batch, dimension)."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(list(model))

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        features = {"input_ids": input_ids, "attention_mask": attention_mask}
        for part in self.parts:
            features = part(features)
        return torch.nn.functional.normalize(features["sentence_embedding"], p=2, dim=1)


def export(source: Path, target: Path) -> None:
    """Writes graph, weights, tokenizer.json and meta.json into the existing folder `target`."""
    model = SentenceTransformer(str(source), device="cpu", local_files_only=True)
    model.eval()
    # Plain attention exports to the graph that onnxruntime fuses best.
    with contextlib.suppress(AttributeError, ValueError):
        model[0].auto_model.set_attn_implementation("eager")
    tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(target / "tokenizer.json"))
    with tempfile.TemporaryDirectory(dir=target) as plain:
        _write_graph(model, Path(plain, "plain.onnx"))
        optimise(Path(plain, "plain.onnx"), target)
    meta = {
        "dimension": model.get_embedding_dimension(),
        "max_tokens": model.max_seq_length,
        "lower_case": bool(getattr(model[0], "do_lower_case", False)),
        "pad_id": model.tokenizer.pad_token_id or 0,
        "special_tokens": model.tokenizer.num_special_tokens_to_add(),
    }
    (target / "meta.json").write_text(json.dumps(meta), "utf-8")
    _check(model, target)


def _write_graph(model: SentenceTransformer, file: Path) -> None:
    example = model.tokenizer(
        ["two short", "sample texts to trace"], padding=True, return_tensors="pt"
    )
    shape = {0: "batch", 1: "length"}
    torch.onnx.export(
        _Graph(model).eval(),
        (example["input_ids"], example["attention_mask"]),
        str(file),
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes={"input_ids": shape, "attention_mask": shape, "embedding": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def _check(model: SentenceTransformer, target: Path) -> None:
    reference = model.encode(list(CHECK), normalize_embeddings=True, show_progress_bar=False)
    ours = load_graph(target, threads=None).encode(CHECK)
    worst = float((reference * ours).sum(axis=1).min())
    if not worst >= MIN_COSINE:
        raise ValueError(f"the exported graph disagrees with the model: cosine {worst:.5f}")


if __name__ == "__main__":
    sys.exit(run(export, sys.argv[1:]))
