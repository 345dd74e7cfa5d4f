"""The measured defaults: rows of `ragcli eval run`, kept small, and the table in the README.

    python tests/bench/measured.py                     the table, in Markdown
    python tests/bench/measured.py --merge DIR ...     takes over rows of finished runs (--out DIR)
    python tests/bench/measured.py --seed NAME DIR     puts the rows of a set where a run finds them

A run with `--out DIR` makes only what is missing there, so the table grows:

    python tests/bench/measured.py --seed hotpotqa_dev DIR
    ragcli eval run --data ../shared/data/qa/hotpotqa_dev.jsonl --methods plain,fke,... \\
        --model MODEL --limit 40 --out DIR
    python tests/bench/measured.py --merge DIR
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ragcli.evaluate.metrics.bootstrap import Interval, mean_interval, paired_difference
from ragcli.evaluate.store import ROWS, read_rows

KEPT = Path(__file__).resolve().parent / "measured"
FIELDS = (
    "key",
    "arm",
    "question_id",
    "answer",
    "scores",
    "objection",
    "verifier",
    "model",
    "dataset",
)
HEADLINE = {"asqa_dev": "str_em"}  # several short answers; else token F1
ARMS = (
    "closed-book", "plain", "fke", "drag", "ggatrieval", "crag", "dragin", "sentences", "verbatim",
    "gold",
)  # fmt: skip


def kept(name: str) -> dict[str, dict[str, Any]]:
    """Rows of a set by key."""
    file = KEPT / f"{name}.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def merge(folder: Path) -> str:
    """Takes over the rows of a run; what is told of it."""
    rows = [{field: row[field] for field in FIELDS} for row in read_rows(folder)]
    names = {row["dataset"] for row in rows}
    for name in names:
        newest = {identity(row): row for row in rows if row["dataset"] == name}
        mine, new = list(newest.values()), set(newest)
        every = {key: row for key, row in kept(name).items() if identity(row) not in new}
        every |= {row["key"]: row for row in mine}
        ordered = sorted(
            every.values(), key=lambda row: (row["question_id"], row["arm"], row["key"])
        )
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ordered)
        (KEPT / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return f"{folder}: {len(rows)} rows of {', '.join(sorted(names))}"


def identity(row: dict[str, Any]) -> tuple[str, ...]:
    """Of these only the newest row counts: an older one had other settings or prompts."""
    return row["question_id"], row["arm"], row["model"]


def seed(name: str, folder: Path) -> None:
    """Puts the kept rows where `ragcli eval run --out` finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in kept(name).values())
    (folder / ROWS).write_text(text, encoding="utf-8")


def tables() -> Iterator[str]:
    """A table a model, the one with most rows first."""
    names = sorted(file.stem for file in KEPT.glob("*.jsonl"))
    sets = {name: list(kept(name).values()) for name in names}
    models = Counter(row["model"] for rows in sets.values() for row in rows)
    for model, _ in models.most_common():
        mine = {name: [r for r in rows if r["model"] == model] for name, rows in sets.items()}
        yield f"model {model}"
        yield ""
        yield from table({name: rows for name, rows in mine.items() if rows})
        yield ""


def table(sets: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Headline score, its 95 % interval and n, by arm and set; then over all sets the paired
    difference from `plain`, and the median of the seconds a question."""
    heads = [f"{name.removesuffix('_dev')} {_metric(name)}" for name in sets]
    yield f"| | {' | '.join(heads)} | all, against plain | s |"
    yield "| --- |" + " --- |" * (len(sets) + 2)
    plain = _by_question("plain", sets)
    found = {row["arm"] for rows in sets.values() for row in rows}
    for arm in [*(a for a in ARMS if a in found), *sorted(found.difference(ARMS))]:
        mine = {name: [row for row in rows if row["arm"] == arm] for name, rows in sets.items()}
        cells = [_cell([r["scores"][_field(n)] for r in rows]) for n, rows in mine.items()]
        seconds = [r["scores"]["seconds"] for rows in mine.values() for r in rows]
        yield (
            f"| `{arm}` | {' | '.join(cells)} | {_against(plain, _by_question(arm, sets))} "
            f"| {median(seconds):.1f} |"
        )


def _by_question(arm: str, sets: dict[str, list[dict[str, Any]]]) -> dict[tuple[str, str], float]:
    return {
        (name, row["question_id"]): row["scores"][_field(name)]
        for name, rows in sets.items()
        for row in rows
        if row["arm"] == arm
    }


def _against(plain: dict[tuple[str, str], float], mine: dict[tuple[str, str], float]) -> str:
    common = sorted(plain.keys() & mine.keys())
    if mine is plain or mine == plain or not common:
        return "–"
    ours, theirs = [mine[one] for one in common], [plain[one] for one in common]
    return _shown(paired_difference(ours, theirs), "+")


def _field(name: str) -> str:
    return HEADLINE.get(name, "f1")


def _metric(name: str) -> str:
    return "str-EM" if name in HEADLINE else "F1"


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return _shown(mean_interval(values))


def _shown(found: Interval, sign: str = "") -> str:
    low, high = (found.estimate if end is None else end for end in (found.low, found.high))
    return f"{found.estimate:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}] n={found.n}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--merge", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--seed", nargs=2, metavar=("NAME", "DIR"))
    asked = parser.parse_args()
    for folder in asked.merge or ():
        print(merge(folder), file=sys.stderr)
    if asked.seed:
        seed(asked.seed[0], Path(asked.seed[1]))
    elif not asked.merge:
        print("\n".join(tables()))


if __name__ == "__main__":
    main()
