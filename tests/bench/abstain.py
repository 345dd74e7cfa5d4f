"""How often there is no answer with the source there, and with it taken away.

python tests/bench/abstain.py [--data xquad] [--questions 200] [--rounds 200] [--seed 1]
                              [--kept 3] [--json]

Nothing is generated. Each XQuAD question is judged twice: with the corpus as it is, and without
the file that holds the answer. `evidence` is the check that every method makes, over the
passages that it would show; `labels` GGatrieval's own alignment over its rounds; `ggatrieval`
the labels and then the evidence, as that method has it; both over the first `--rounds` questions.
Under --json the evidence stands at the top too, since every method makes it. `auroc`: how well the score alone separates the two.

`--data hotpotqa`: the check before generation and that after it on questions of two hops
(multihop.py), over the first `--kept` passages of each question's own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent))

import multihop
from multihop import auroc
from xquad import Item, items, xquad_index

from ragcli.cite.evidence import view, weigh
from ragcli.cite.question import parse_question
from ragcli.cite.related import with_related
from ragcli.index.reader import Reader
from ragcli.methods.ggatrieval import GroundedRounds, remembered
from ragcli.methods.registry import settings_from
from ragcli.methods.stages import Tools
from ragcli.types import Hit

Search = Callable[[str, int], tuple[Hit, ...]]
PER_FILE = 4  # passages of a file at most, about: so many more are asked for where one is left out


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one question on one corpus."""

    score: float
    abstained: bool
    gold: bool  # whether the file that holds the answer is among what would be read


def by_evidence(item: Item, tools: Tools) -> dict[str, Judged]:
    hits = tools.search(item.question, tools.number("retrieval.k"))
    return {"evidence": _evidence(item, hits, tools)}


def _evidence(item: Item, hits: Sequence[Hit], tools: Tools) -> Judged:
    passages = [view(hit) for hit in hits]
    question = with_related(parse_question(item.question), passages, tools.encode)
    found = weigh(question, passages)
    return Judged(found.score, not found.enough, _has_gold(item, hits))


def by_rounds(item: Item, tools: Tools) -> dict[str, Judged]:
    """The labels alone, and as `ask` has it: the labels, then the evidence of what was kept."""
    rounds = GroundedRounds()(item.question, tools)
    while True:
        try:
            next(rounds)
        except StopIteration as end:
            gathered = end.value
            break
    last = gathered.trace.iterations[-1].score if gathered.trace.iterations else 0.0
    kept = gathered.hits[: gathered.kept]
    best = max((hit.alignment.ratio for hit in kept if hit.alignment), default=0.0)
    # coverage by the kept passages together; among equals, by the best single one
    score, refused = last + best / 100, bool(gathered.reason)
    evidence = _evidence(item, kept, tools)
    return {
        "labels": Judged(score, refused, evidence.gold),
        "ggatrieval": Judged(evidence.score, refused or evidence.abstained, evidence.gold),
    }


def _has_gold(item: Item, hits: Sequence[Hit]) -> bool:
    return any(hit.document.relative == item.gold for hit in hits)


def searching(reader: Reader, without: str | None, scored: bool = True) -> Search:
    """Retrieval over the corpus, or over all of it but one file."""

    def search(query: str, k: int) -> tuple[Hit, ...]:
        more = PER_FILE if without else 0
        hits = reader.search(query, k=k + more, score_sentences=scored)
        return tuple(hit for hit in hits if hit.document.relative != without)[:k]

    return search


Judge = Callable[[Item, Tools], dict[str, Judged]]


def rows(judge: Judge, chosen: Sequence[Item], reader: Reader) -> dict[str, dict[str, float]]:
    """A row for each way that the judge knows. seconds: of one judgement."""
    settings = settings_from([])
    encode = remembered(reader.encode)  # sentences of the corpus are encoded once for all questions

    def judged(item: Item, without: str | None) -> dict[str, Judged]:
        search, bare = searching(reader, without), searching(reader, without, scored=False)
        nobody = cast(Any, None)  # no generator judges here
        return judge(item, Tools(search, nobody, encode, settings, "plain", bare))

    started = time.perf_counter()
    there = [judged(item, None) for item in chosen]
    gone = [judged(item, item.gold) for item in chosen]
    seconds = (time.perf_counter() - started) / (2 * len(chosen))
    return {
        name: {
            **_row([one[name] for one in there], [one[name] for one in gone]),
            "seconds": round(seconds, 3),
        }
        for name in there[0]
    }


def _row(there: Sequence[Judged], gone: Sequence[Judged]) -> dict[str, float]:
    return {
        "questions": len(there),
        "gold_retrieved": sum(one.gold for one in there),
        "auroc": auroc([one.score for one in there], [one.score for one in gone]),
        "abstained_with_source": round(sum(one.abstained for one in there) / len(there), 4),
        "abstained_without_source": round(sum(one.abstained for one in gone) / len(gone), 4),
    }


def measure(questions: int, rounds: int, seed: int) -> dict[str, dict[str, float]]:
    """A row a way to judge."""
    with xquad_index() as reader:
        chosen = items(questions, seed)
        result = rows(by_evidence, chosen, reader)
        if rounds:
            result |= rows(by_rounds, chosen[:rounds], reader)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--data", choices=("xquad", "hotpotqa"), default="xquad")
    parser.add_argument("--kept", type=int, default=multihop.KEPT)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.data == "hotpotqa":
        result = multihop.measure(options.questions, options.seed, options.kept)
    else:
        result = measure(options.questions, options.rounds, options.seed)
    if options.json:
        print(json.dumps({**next(iter(result.values())), "rows": result}))
        return
    for judge, found in result.items():
        print(judge)
        for name, value in found.items():
            print(f"  {name:28} {value}")


if __name__ == "__main__":
    main()
