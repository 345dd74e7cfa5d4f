"""Writes an organiser as an ONNX graph: ``python -m ragcli.encoders.organiser_export``.

In a process of its own, like `export`; what the graph gives is checked against the model.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from ragcli.encoders.exporting import run
from ragcli.encoders.onnx import optimise
from ragcli.encoders.organiser import load_graph
from ragcli.encoders.organiser_files import base_folder, read_arrays, read_organiser
from ragcli.encoders.organiser_model import ScoreModel, load_trained
from ragcli.encoders.pairs import PairTokens

OPSET = 17
CHECK = (
    "When was the bridge over the river built?",
    "The bridge was built in 1904, after the ferry had sunk twice.",
    "Prüfstück, naïve café, 北京 🙂",
    "",
    "The valve in the cellar is opened by turning the red handle twice. " * 40,
    "Its keeper kept bees and goats.",
)
TOLERANCE = 2e-3  # of a score, where nothing is quantised
QUANTISED = 0.2  # of the spread of the scores


def export(source: Path, target: Path) -> None:
    """Writes graph, weights, tokenizer.json and meta.json into the existing folder `target`."""
    identity = read_organiser(source)
    base = base_folder(identity.config.base)
    model = load_trained(base, identity.config, read_arrays(source), eager=True)
    shutil.copyfile(base / "tokenizer.json", target / "tokenizer.json")
    tokens = PairTokens(target / "tokenizer.json", model.shape)
    pieces = tokens.cut(CHECK[0], CHECK[1:])
    with torch.no_grad():
        given = tokens.arrays(pieces)
        reference = model(*(torch.from_numpy(given[name]) for name in model.names)).numpy()
    model.merge()
    with tempfile.TemporaryDirectory(dir=target) as plain:
        file = Path(plain, "plain.onnx")
        _write_graph(model, tokens, file)
        if identity.config.precision == "int8":
            small = Path(plain, "int8.onnx")
            # Seven bits: with eight, processors without VNNI instructions overflow.
            quantize_dynamic(
                str(file), str(small), weight_type=QuantType.QInt8, per_channel=True,
                reduce_range=True,
            )  # fmt: skip
            file = small
        optimise(file, target)
    (target / "meta.json").write_text(json.dumps(asdict(model.shape)), "utf-8")
    _check(target, reference, identity.config.precision)


def _write_graph(model: ScoreModel, tokens: PairTokens, file: Path) -> None:
    example = tokens.arrays(tokens.cut("two short", ["sample texts", "to trace it again"]))
    shape = {0: "batch", 1: "length"}
    torch.onnx.export(
        model.eval(),
        tuple(torch.from_numpy(example[name]) for name in model.names),
        str(file),
        input_names=list(model.names),
        output_names=["score"],
        dynamic_axes={**dict.fromkeys(model.names, shape), "score": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def _check(target: Path, reference: np.ndarray, precision: str) -> None:
    graph = load_graph(target)
    scores, placeholder = graph.scores(CHECK[0], CHECK[1:])
    worst = float(np.abs(np.array([placeholder, *scores]) - reference).max())
    allowed = TOLERANCE
    if precision == "int8":
        allowed += QUANTISED * float(np.ptp(reference))
    if not worst <= allowed:
        raise ValueError(f"the exported graph disagrees with the model: a score by {worst:.5f}")


if __name__ == "__main__":
    sys.exit(run(export, sys.argv[1:]))
