"""Seconds a question that an organizer adds: 100 sentences of a real text, scored.

    python tests/bench/organizer.py DIR [--threads N]

DIR: of `ragcli train organizer`. CPU seconds are told beside the wall's: on a busy machine they
are the ones to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from ragcli.encoders.organiser import open_organiser

SHARED = Path(os.environ.get("RAGCLI_DATA", Path(__file__).resolve().parents[3] / "shared"))
SENTENCES, RUNS = 100, 5
BUDGET_S = 0.15


def sentences() -> tuple[str, list[str]]:
    """A question of HotpotQA, and sentences of its passages and the next ones'."""
    with (SHARED / "data/qa/hotpotqa_dev.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(4), strict=False)]
    texts = [f"{p['title']}: {s}" for r in rows for p in r["passages"] for s in p["sentences"]]
    return rows[0]["question"], texts[:SENTENCES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    organiser = open_organiser(given.folder, threads=given.threads, log=print)
    question, texts = sentences()
    organiser.scores(question, texts)
    wall, spent = [], []
    for _ in range(RUNS):
        began = time.perf_counter(), time.process_time()
        organiser.scores(question, texts)
        wall.append(time.perf_counter() - began[0])
        spent.append(time.process_time() - began[1])
    print(
        f"{len(texts)} sentences, {given.threads} threads: best of {RUNS} {min(wall):.3f} s,"
        f" {min(spent):.3f} s of CPU (budget {BUDGET_S} s)"
    )


if __name__ == "__main__":
    main()
