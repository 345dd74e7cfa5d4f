"""How often the evidence check abstains with the source there, and with it taken away.

python tests/bench/abstain.py [--questions 200] [--seed 1] [--json]

Nothing is generated. For each XQuAD question the k passages shown to the model are judged
twice: with the passage that holds the answer among them, and with its file left out.
`auroc`: how well the score alone separates the two.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from xquad import Item, items, xquad_index

from ragcli.cite.evidence import Evidence, view, weigh
from ragcli.cite.question import parse_question
from ragcli.cite.related import with_related
from ragcli.index.reader import Reader
from ragcli.methods.registry import SETTINGS
from ragcli.types import Hit


def judge(item: Item, hits: Sequence[Hit], reader: Reader) -> Evidence:
    passages = [view(hit) for hit in hits]
    question = with_related(parse_question(item.question), passages, reader.encode)
    return weigh(question, passages)


def shown(item: Item, reader: Reader, k: int) -> tuple[list[Hit], list[Hit]]:
    """The k passages with the gold file's best one among them, and k without that file."""
    hits = reader.search(item.question, k=k + 4)
    gold = [hit for hit in hits if hit.document.relative == item.gold]
    others = [hit for hit in hits if hit.document.relative != item.gold]
    top = list(hits[:k])
    if gold and gold[0] not in top:
        top = [*top[: k - 1], gold[0]]
    return (top if gold else []), others[:k]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Share of pairs in the right order, ties half."""
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    return sum(pairs) / len(pairs)


def measure(questions: int, seed: int) -> dict[str, float]:
    k = int(SETTINGS["retrieval.k"].default)
    there: list[Evidence] = []
    gone: list[Evidence] = []
    with xquad_index() as reader:
        for item in items(questions, seed):
            with_gold, without = shown(item, reader, k)
            if with_gold:
                there.append(judge(item, with_gold, reader))
            gone.append(judge(item, without, reader))
    return {
        "questions": questions,
        "gold_retrieved": len(there),
        "auroc": round(auroc([e.score for e in there], [e.score for e in gone]), 4),
        "abstained_with_source": round(sum(not e.enough for e in there) / len(there), 4),
        "abstained_without_source": round(sum(not e.enough for e in gone) / len(gone), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.questions, options.seed)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
