"""Retrieval quality through the real index: files on disk, passages, fusion.

    python tests/bench/retrieval.py IR_DIR --json              a folder in BEIR layout
    python tests/bench/retrieval.py QA.jsonl CORPUS.jsonl --json   questions with gold ids

    python tests/bench/retrieval.py … --int8 --json   what the int8 encoder costs

Every document becomes a file; a document scores by its best passage. Prints
{"ndcg@10": {"hybrid": …, "lexical": …, "dense": …}, "recall@100": {…}, "hit@5": {…}}.

--int8 makes a second index with the int8 encoder and prints, for hybrid and dense search and
each measure, the means of "exact", "int8" and "int8, exact queries" with the difference of
each to exact: {"n": …, "ndcg@10": {"hybrid": {"exact": …, "int8": {"mean": …, "difference": …,
"low": …, "high": …}, …}, …}, …}; the intervals are bootstrapped, paired, 95 %.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from numpy import float32
from numpy.typing import NDArray

from ragcli.encoders import Encoder, open_encoder, resolve_encoder
from ragcli.encoders.base import EXACT, INT8
from ragcli.evaluate.metrics.bootstrap import paired_difference
from ragcli.index.reader import Reader
from ragcli.index.update import update
from ragcli.types import SearchMode

Relevant = Mapping[str, Mapping[str, int]]  # query id → document id → gain

DOCUMENTS = 100


def ndcg(ranked: list[str], gains: Mapping[str, int], depth: int = 10) -> float:
    """Σ 1 / log2(rank + 1) over the relevant ones of the first `depth`, of the best possible.

    Any positive grade is relevant, all alike: the collections grade differently (in cran
    1 is the best grade and 4 the least, -1 a judged miss).
    """
    relevant = {id for id, gain in gains.items() if gain > 0}
    found = sum(
        1 / math.log2(rank + 1) for rank, id in enumerate(ranked[:depth], 1) if id in relevant
    )
    return found / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), depth) + 1))


def recall(ranked: list[str], gains: Mapping[str, int], depth: int = 100) -> float:
    relevant = {id for id, gain in gains.items() if gain > 0}
    return len(relevant & set(ranked[:depth])) / len(relevant)


def hit(ranked: list[str], gains: Mapping[str, int], depth: int = 5) -> float:
    return float(any(gains.get(id, 0) > 0 for id in ranked[:depth]))


MEASURES = {"ndcg@10": ndcg, "recall@100": recall, "hit@5": hit}


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]


def read_beir(folder: Path) -> tuple[list[dict[str, object]], dict[str, str], Relevant]:
    queries = {str(row["_id"]): str(row["text"]) for row in rows(folder / "queries.jsonl")}
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, gain = line.split("\t")
        relevant.setdefault(query, {})[document] = int(gain)
    return rows(folder / "corpus.jsonl"), queries, relevant


def read_questions(
    questions: Path, corpus: Path
) -> tuple[list[dict[str, object]], dict[str, str], Relevant]:
    listed = list(enumerate(rows(questions)))
    queries = {str(n): str(row["question"]) for n, row in listed}
    relevant = {str(n): {str(id): 1 for id in row["gold"]} for n, row in listed}  # type: ignore[attr-defined]
    return rows(corpus), queries, relevant


def write_corpus(corpus: Iterable[Mapping[str, object]], folder: Path) -> None:
    """One Markdown file a document: the title as heading, then the text as it is."""
    for row in corpus:
        title, text = str(row.get("title", "")).replace("_", " ").strip(), str(row["text"])
        head = f"# {title}\n\n" if title else ""
        (folder / f"{row['_id']}.md").write_text(head + text + "\n", "utf-8")


class Questioner:
    """Encodes as one encoder does under the name of another: queries as exact as they can be."""

    def __init__(self, encoder: Encoder, named: Encoder) -> None:
        self.encoder, self.identity = encoder, named.identity

    def encode(self, texts: Sequence[str]) -> NDArray[float32]:
        return self.encoder.encode(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.encoder.count_tokens(texts)


@contextmanager
def indexed(corpus: Iterable[Mapping[str, object]], encoder: Encoder) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        docs, index = Path(temporary, "docs"), Path(temporary, ".ragcli")
        docs.mkdir()
        write_corpus(corpus, docs)
        for event in update(index, [docs], encoder=lambda: encoder, identity=encoder.identity):
            last = event
        print(last, file=sys.stderr)
        yield index


Values = dict[str, dict[str, list[float]]]  # measure → mode → one value a question


def evaluate(
    index: Path,
    encoder: Encoder,
    queries: Mapping[str, str],
    relevant: Relevant,
    modes: Iterable[SearchMode] = tuple(SearchMode),
) -> Values:
    judged = [id for id in queries if any(gain > 0 for gain in relevant.get(id, {}).values())]
    out: Values = {name: {} for name in MEASURES}
    with Reader.open(index, lambda: encoder) as reader:
        for mode in modes:
            for id in judged:
                hits = reader.search(queries[id], k=2 * DOCUMENTS, mode=mode, score_sentences=False)
                ranked = list(dict.fromkeys(Path(h.document.relative).stem for h in hits))
                for name, function in MEASURES.items():
                    value = function(ranked[:DOCUMENTS], relevant[id])
                    out[name].setdefault(mode.value, []).append(value)
    return out


def mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def measure(
    corpus: Iterable[Mapping[str, object]], queries: Mapping[str, str], relevant: Relevant
) -> dict[str, dict[str, float]]:
    encoder = open_encoder(resolve_encoder(None))
    with indexed(corpus, encoder) as index:
        values = evaluate(index, encoder, queries, relevant)
    return {
        name: {mode: mean(row) for mode, row in by_mode.items()} for name, by_mode in values.items()
    }


def compare(
    corpus: Iterable[Mapping[str, object]], queries: Mapping[str, str], relevant: Relevant
) -> dict[str, object]:
    """What int8 vectors cost, question by question."""
    exact = open_encoder(resolve_encoder(None, EXACT))
    int8 = open_encoder(resolve_encoder(None, INT8))
    modes = (SearchMode.HYBRID, SearchMode.DENSE)
    with indexed(corpus, exact) as index:
        base = evaluate(index, exact, queries, relevant, modes)
    others: dict[str, Values] = {}
    with indexed(corpus, int8) as index:
        for name, encoder in (("int8", int8), ("int8, exact queries", Questioner(exact, int8))):
            others[name] = evaluate(index, encoder, queries, relevant, modes)
    out: dict[str, object] = {"n": len(base["ndcg@10"][SearchMode.DENSE.value])}
    for measure, by_mode in base.items():
        out[measure] = {
            mode: {"exact": mean(row)}
            | {name: against(found[measure][mode], row) for name, found in others.items()}
            for mode, row in by_mode.items()
        }
    return out


def against(ours: Sequence[float], exact: Sequence[float]) -> dict[str, float | None]:
    found = paired_difference(ours, exact)
    return {
        "mean": mean(ours),
        "difference": round(found.estimate, 4),
        "low": found.low and round(found.low, 4),
        "high": found.high and round(found.high, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", type=Path, help="a BEIR folder, or questions as JSON lines")
    parser.add_argument("corpus", type=Path, nargs="?", help="the questions' corpus")
    parser.add_argument("--int8", action="store_true", help="compare the int8 encoder with exact")
    parser.add_argument("--json", action="store_true", help="(the only format)")
    arguments = parser.parse_args()
    if arguments.corpus is None:
        data = read_beir(arguments.source)
    else:
        data = read_questions(arguments.source, arguments.corpus)
    print(json.dumps(compare(*data) if arguments.int8 else measure(*data)))


if __name__ == "__main__":
    main()
