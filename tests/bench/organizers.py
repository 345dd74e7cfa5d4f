"""What a trained organizer is worth beside other orders of sentences: rows and the README's table.

    python tests/bench/organizers.py run --data FILE --model GGUF --out DIR [--limit N]
        [--organizer NAME=FOLDER ...] [--orders half,bm25,...]
    python tests/bench/organizers.py merge DIR ...     takes over what finished runs answered
    python tests/bench/organizers.py                   the table, in Markdown

`run` asks the same questions of each arm by `ragcli eval run`: the best half of the passages,
the `--most` best sentences by another score, and no more of them in an organizer's order, cut at
its placeholder. Short style, forced answers. A set that an organizer learnt from is run in
parts, each under the organizer that did not see it. Rows are kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from ragcli.evaluate.metrics.bootstrap import Interval, mean_interval, paired_difference
from ragcli.evaluate.store import read_rows

KEPT = Path(__file__).resolve().parent / "organizers"
HALF, ORDERS = "half", ("bm25", "encoder", "hybrid", "likelihood")
TOLD = {
    HALF: "best half of the passages",
    "bm25": "sentences by BM25",
    "encoder": "by the encoder",
    "hybrid": "by both, fused",
    "likelihood": "by the question's likelihood",
    "warm": "organizer, warm start alone",
    "individual": "… and individual feedback",
    "full": "… and integrated feedback",
}
SCORES = ("em", "f1", "contains", "knowledge_f1", "knowledge_recall", "knowledge_tokens", "seconds")


def run(asked: argparse.Namespace) -> None:
    """One `ragcli eval run` an arm, which goes on where it was stopped."""
    for name in [one for one in asked.orders.split(",") if one]:
        arm = f"plain+select=ordered+ordered.by={name}+ordered.most={asked.most}"
        _ask(asked, name, "plain+retrieval.k=5" if name == HALF else arm)
    for text in asked.organizer:
        name, _, folder = text.partition("=")
        _ask(asked, name, f"ko-rag+ko-rag.least=3+ko-rag.most={asked.most}", "--organizer", folder)


def _ask(asked: argparse.Namespace, name: str, arm: str, *more: str) -> None:
    command = (
        sys.executable, "-m", "ragcli", "eval", "run", "--data", str(asked.data), "--methods", arm,
        "--model", str(asked.model), "--limit", str(asked.limit), "--threads", str(asked.threads),
        "--out", str(asked.out / name), "--json", *more,
    )  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    print(name, file=sys.stderr, flush=True)


def merge(folders: Sequence[Path]) -> None:
    """Rows of runs under the names of their arms; a question of an arm counts once."""
    KEPT.mkdir(exist_ok=True)
    known = {identity(row): row for rows in kept().values() for row in rows}
    for folder in folders:
        for part in sorted(one for one in folder.iterdir() if one.is_dir()):
            for row in read_rows(part):
                small = {
                    "arm": part.name, "question_id": row["question_id"], "answer": row["answer"],
                    "scores": {n: row["scores"][n] for n in SCORES if n in row["scores"]},
                    "model": row["model"], "dataset": row["dataset"],
                }  # fmt: skip
                known[identity(small)] = small
    for name in {row["dataset"] for row in known.values()}:
        rows = sorted((r for r in known.values() if r["dataset"] == name), key=identity)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (KEPT / f"{name}.jsonl").write_text(text, encoding="utf-8")


def identity(row: dict[str, Any]) -> tuple[str, ...]:
    return row["dataset"], row["question_id"], row["arm"], row["model"]


def kept() -> dict[str, list[dict[str, Any]]]:
    """Rows by set."""
    return {
        file.stem: [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for file in sorted(KEPT.glob("*.jsonl"))
    }


def table() -> Iterator[str]:
    """A set a block: answers, knowledge, tokens; F1 paired with the best half, question by question."""
    for name, rows in kept().items():
        arms = {row["arm"] for row in rows}
        yield f"**{name}**"
        yield ""
        yield "| sentences | F1 | against the best half | EM | knowledge F1 | tokens | n |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        half = {r["question_id"]: r["scores"]["f1"] for r in rows if r["arm"] == HALF}
        for arm in [one for one in TOLD if one in arms]:
            yield _line(arm, [row for row in rows if row["arm"] == arm], half)
        yield ""


def _line(arm: str, rows: Sequence[dict[str, Any]], half: dict[str, float]) -> str:
    def values(field: str) -> list[float]:
        return [row["scores"][field] for row in rows if row["scores"].get(field) is not None]

    both = [row for row in rows if row["question_id"] in half]
    against = "–"
    if arm != HALF and both:
        mine = [row["scores"]["f1"] for row in both]
        against = _shown(
            paired_difference(mine, [half[row["question_id"]] for row in both]), signed=True
        )
    known = values("knowledge_f1")
    return (
        f"| {TOLD[arm]} | {_shown(mean_interval(values('f1')))} | {against}"
        f" | {mean(values('em')):.2f} | {f'{mean(known):.2f}' if known else '–'}"
        f" | {mean(values('knowledge_tokens')):.0f} | {len(rows)} |"
    )


def _shown(found: Interval, *, signed: bool = False) -> str:
    low, high = (found.estimate if end is None else end for end in (found.low, found.high))
    sign = "+" if signed else ""
    return f"{found.estimate:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(dest="what")
    running = parts.add_parser("run")
    for name in ("--data", "--model", "--out"):
        running.add_argument(name, type=Path, required=True)
    running.add_argument("--limit", type=int, default=40)
    running.add_argument("--most", type=int, default=8)
    running.add_argument("--threads", type=int, default=2)
    running.add_argument("--orders", default=",".join((HALF, *ORDERS)))
    running.add_argument("--organizer", action="append", default=[], metavar="NAME=FOLDER")
    parts.add_parser("merge").add_argument("folders", nargs="+", type=Path)
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked)
    elif asked.what == "merge":
        merge(asked.folders)
    else:
        print("\n".join(table()))


if __name__ == "__main__":
    main()
