"""What indexing costs.

    python tests/bench/index.py --json [--files N] [--notes N]

{"encode": {"passages", "index_s", "sentence_transformers_s", "ratio"},   same passages
 "unchanged": {"files", "seconds", "seconds_again"},                      nothing to do
 "growth": [{"files", "passages", "seconds", "ms_per_passage"}, …],       a costless encoder
 "search": {"files", "wall_s", "peak_mb"}}                                one shot, new process

The corpus is the questions' corpora beside the checkout (RAGCLI_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ragcli.encoders import Encoder, EncoderIdentity, open_encoder, resolve_encoder
from ragcli.events import Indexed
from ragcli.index.reader import Reader
from ragcli.index.update import update
from ragcli.text.passages import context_length, embedded_text

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data" / "corpus"


class CostlessEncoder:
    """Vectors that cost nothing, so that everything else shows."""

    identity = EncoderIdentity("costless", "0" * 64, 384, 256, "en")

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.full((len(texts), 384), 384**-0.5, np.float32)

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(text) // 4 for text in texts]


def corpus(count: int) -> list[tuple[str, str]]:
    """(title, text) of `count` passages of Wikipedia, repeated with marks if too few."""
    rows = [
        json.loads(line)
        for name in ("nq.jsonl", "asqa.jsonl", "xquad_en.jsonl")
        for line in (DATA / name).read_text("utf-8").splitlines()
    ]
    return [
        (row.get("title", ""), f"{row['text']} Copy {n // len(rows)}." if n >= len(rows) else row["text"])
        for n, row in ((n, rows[n % len(rows)]) for n in range(count))
    ]  # fmt: skip


def write(folder: Path, count: int) -> None:
    for n, (title, text) in enumerate(corpus(count)):
        file = folder / f"{n % 100:02}" / f"{n}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {title}\n\n{text}\n", "utf-8")


def run(folder: Path, encoder: Callable[[], Encoder]) -> Indexed:
    for event in update(folder / ".ragcli", [folder / "docs"], encoder=encoder, workers=2):
        last = event
    assert isinstance(last, Indexed)
    return last


def encode_ratio(folder: Path, files: int) -> dict[str, float]:
    """Whole indexing against sentence-transformers' encode alone, on the passages it made."""
    write(folder / "docs", files)
    ref = resolve_encoder(None)
    open_encoder(ref)  # exported by now
    indexed = run(folder, lambda: open_encoder(ref))
    with Reader.open(folder / ".ragcli", lambda: open_encoder(ref)) as reader:
        longest = context_length(ref.identity.text_tokens)
        texts = [
            embedded_text(document.title, p.heading, p.text, longest)
            for document in reader.documents()
            for p in reader.passages(document.id)
        ]
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(ref.folder), device="cpu")
    model.encode(texts[:32], show_progress_bar=False)
    started = time.perf_counter()
    model.encode(texts, show_progress_bar=False)
    reference = time.perf_counter() - started
    return {
        "passages": len(texts),
        "index_s": round(indexed.seconds, 2),
        "sentence_transformers_s": round(reference, 2),
        "ratio": round(indexed.seconds / reference, 3),
    }


def unchanged(folder: Path, files: int) -> dict[str, float]:
    for n in range(files):
        file = folder / "docs" / f"{n % 100:02}" / f"{n}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Note {n} is a short one.", "utf-8")
    run(folder, CostlessEncoder)

    def never() -> Encoder:
        raise AssertionError("the encoder was loaded")

    first, again = run(folder, never).seconds, run(folder, never).seconds
    return {"files": files, "seconds": round(first, 3), "seconds_again": round(again, 3)}


def growth(folder: Path, sizes: list[int]) -> list[dict[str, float]]:
    out = []
    for files in sizes:
        here = folder / str(files)
        write(here / "docs", files)
        done = run(here, CostlessEncoder)
        each = 1000 * done.seconds / done.passages
        out.append(
            {
                "files": files,
                "passages": done.passages,
                "seconds": round(done.seconds, 2),
                "ms_per_passage": round(each, 3),
            }
        )
        shutil.rmtree(here)
    return out


SEARCH = """
import re, sys
from pathlib import Path
from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.index.reader import Reader
ref = resolve_encoder(None)
with Reader.open(Path(sys.argv[1]), lambda: open_encoder(ref), identity=ref.identity) as reader:
    assert reader.search("who won the first nobel prize in physics", k=10)
# Not getrusage: its peak starts with what the parent held when it forked.
print(int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def one_shot(folder: Path, times: int = 7) -> dict[str, float]:
    """A whole process, interpreter start included; the median of some."""
    walls, peaks = [], []
    for _ in range(times):
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", SEARCH, str(folder / ".ragcli")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        walls.append(time.perf_counter() - started)
        peaks.append(float(done.stdout))
    return {
        "wall_s": round(statistics.median(walls), 3),
        "peak_mb": round(statistics.median(peaks), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="(the only format)")
    parser.add_argument("--files", type=int, default=1000, help="for the encoder's share")
    parser.add_argument("--notes", type=int, default=10_000, help="for the run without changes")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 2000, 4000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        result: dict[str, object] = {"encode": encode_ratio(base / "e", arguments.files)}
        result["search"] = {"files": arguments.files} | one_shot(base / "e")
        result["unchanged"] = unchanged(base / "u", arguments.notes)
        result["growth"] = growth(base / "g", arguments.sizes)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
