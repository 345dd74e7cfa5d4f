"""What everything but encoding costs as an index grows, and a search (indexing.py: the whole).

    python tests/bench/index.py --json [--files N] [--sizes N …]

{"growth": [{"files", "passages", "seconds", "ms_per_passage"}, …],       a costless encoder
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
from ragcli.index.update import update

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
    parser.add_argument("--files", type=int, default=1000, help="that are searched")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 2000, 4000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        write(base / "s" / "docs", arguments.files)
        ref = resolve_encoder(None)
        run(base / "s", lambda: open_encoder(ref))
        result: dict[str, object] = {"search": {"files": arguments.files} | one_shot(base / "s")}
        result["growth"] = growth(base / "g", arguments.sizes)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
