"""Writes an exported encoder with int8 products: ``python -m ragcli.encoders.quantising``.

Its source is the exact export, so torch is not needed; a process of its own, because what
quantises is large and needed once.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
from pathlib import Path

from ragcli.encoders.exporting import run
from ragcli.encoders.onnx import load_graph, quantise

CHECK = (
    "A short sentence.",
    "Prüfstück, naïve café, 北京 and an emoji 🙂",
    "The valve in the cellar is opened by turning the red handle twice. " * 30,
    "How long does the boiler need to reach its pressure of 3 bar in winter?",
)
MIN_COSINE = 0.95  # to the exact vector; the cost in what is found is measured, see the README


def export(source: Path, target: Path) -> None:
    """From the exact export in `source` into the existing folder `target`."""
    logging.disable()
    quantise(source, target)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    meta = json.loads((source / "meta.json").read_bytes())
    (target / "meta.json").write_text(json.dumps(meta | {"alone": True}), "utf-8")
    exact, ours = (load_graph(folder, threads=1).encode(CHECK) for folder in (source, target))
    worst = float((exact * ours).sum(axis=1).min())
    if not worst >= MIN_COSINE:
        raise ValueError(f"the int8 graph is too far from the exact one: cosine {worst:.3f}")


if __name__ == "__main__":
    sys.exit(run(export, sys.argv[1:]))
