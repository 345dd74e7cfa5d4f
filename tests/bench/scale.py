"""What dense search costs as an index grows, by the product's own code.

    python tests/bench/scale.py --vectors 1000000 --json [--data DIR] [--work DIR]

{SIZE: {"p50_ms", "p99_ms", "rss_mb", "recall@10", "build_s"}} for 10,000, 100,000 … up to
--vectors. Each size is written by `dense_write.write`, then opened and searched in a fresh
process: latency of the second round of the queries, resident memory at its highest. Recall
is against the exact scan. Progress, growth exponents and histograms go to stderr.

Vectors are normalised interpolations of random pairs of real passages plus noise. How much
is drawn for each from the similarities of the real nearest neighbours, and one factor makes
the medians equal. Queries are the real questions beside those passages, which took no part.
Both are embedded once and kept in --cache.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.index.dense import Dense
from ragcli.index.dense_write import write
from ragcli.paths import user_cache_dir

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data"
DEPTH = 100  # passages that a search asks the vectors for
BLOCK = 10_000
PROBES = 200  # vectors whose nearest neighbour is looked for
Floats = NDArray[np.float32]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# What is real


def texts(data: Path) -> tuple[list[str], list[str]]:
    """(passages, questions) below the folder, each once."""
    passages = [*sorted(data.glob("corpus/*.jsonl")), *sorted(data.glob("ir/*/corpus.jsonl"))]
    asked = [*sorted(data.glob("ir/*/queries.jsonl")), *sorted(data.glob("qa/*.jsonl"))]

    def read(files: list[Path]) -> list[str]:
        rows = (json.loads(line) for f in files for line in f.read_text("utf-8").splitlines())
        return list(
            dict.fromkeys(row["text"] if "text" in row else row["question"] for row in rows)
        )

    return read(passages), read(asked)


def real(data: Path, cache: Path) -> tuple[Floats, Floats]:
    """Vectors of passages and questions, float32 (n, dimension)."""
    found = texts(data)
    ref = resolve_encoder(None)
    key = hashlib.sha256(json.dumps([ref.identity.sha256, found]).encode()).hexdigest()
    if cache.is_file():
        with np.load(cache, allow_pickle=False) as kept:
            if str(kept["key"]) == key:
                return kept["passages"], kept["questions"]
    say(f"embedding {len(found[0])} passages and {len(found[1])} questions, once")
    encoder = open_encoder(ref)
    passages, questions = (encoder.encode(part) for part in found)
    cache.parent.mkdir(parents=True, exist_ok=True)
    np.savez(cache, key=key, passages=passages, questions=questions)
    return passages, questions


# What is made up


def blocks(passages: Floats, spread: Floats, count: int, noise: float) -> Iterator[Floats]:
    """The same random numbers whatever the noise, a factor of a random one of `spread`."""
    chance = np.random.default_rng(0)
    dimension = passages.shape[1]
    for start in range(0, count, BLOCK):
        rows = min(BLOCK, count - start)
        one, other = passages[chance.integers(len(passages), size=(2, rows))]
        share = chance.uniform(0, 0.5, size=(rows, 1)).astype(np.float32)
        size = chance.choice(spread, size=(rows, 1)) * np.float32(noise / math.sqrt(dimension))
        vectors = (1 - share) * one + share * other
        vectors += size * chance.standard_normal(vectors.shape, np.float32)
        yield vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def nearest(of: Floats, among: Iterator[Floats], rank: int) -> Floats:
    """Largest similarities of each row of `of` but for the first `rank` ones: (rows,)."""
    best = np.full((len(of), rank + 1), -1, np.float32)
    for block in among:
        both = np.concatenate([best, of @ block.T], axis=1)
        best = -np.partition(-both, rank, axis=1)[:, : rank + 1]
    return best.min(axis=1)


def made(
    make: Callable[[float], Iterator[Floats]], real: Floats, noise: float
) -> tuple[float, Floats]:
    """(noise, similarities of nearest neighbours) with the median of the real ones."""
    low, high = 0.0, 4.0
    target = float(np.median(real))
    while True:
        found = nearest(next(make(noise))[:PROBES], make(noise), 1)
        median = float(np.median(found))
        say(f"noise {noise:.3f} gives a median of {median:.3f}, wanted {target:.3f}")
        if abs(median - target) < 0.01:
            return noise, found
        low, high = (noise, high) if median > target else (low, noise)
        # Alone, noise of this size makes two copies this similar: a good guess from any side.
        guess = noise * math.sqrt((1 / target - 1) / (1 / median - 1))
        noise = guess if low < guess < high else (low + high) / 2


def histogram(name: str, *columns: Floats) -> None:
    edges = np.linspace(0.2, 1.0, 17)
    counted = [np.histogram(np.clip(c, 0.2, 0.999), edges)[0] * 100 / len(c) for c in columns]
    say(f"{name}, % of real and made up by cosine:")
    for edge, *shares in zip(edges[:-1], *counted, strict=True):
        say(f"  {edge:.2f} " + " ".join(f"{share:5.1f}" for share in shares))


# What is measured


def measure(options: argparse.Namespace) -> None:
    """In a process of its own: opens and searches, nothing else."""
    queries = np.load(options.queries)
    started = time.perf_counter()
    index = Dense.open(options.measure)
    index.search(queries[0], DEPTH)
    first = time.perf_counter() - started
    found, taken, worked_ms = [], [], []
    for again in range(2):
        for query in queries:
            started, worked = time.perf_counter(), time.process_time()
            result = index.search(query, DEPTH)
            if again:
                taken.append(1000 * (time.perf_counter() - started))
                worked_ms.append(1000 * (time.process_time() - worked))
                found.append([passage for passage, _ in result])
    status = Path("/proc/self/status")
    peak = (
        int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1])  # type: ignore[index]
        if status.exists()
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    )
    p50, p99 = np.percentile(taken, [50, 99])
    told = {
        "p50": p50,
        "p99": p99,
        "rss": peak / 1024,
        "cpu": np.median(worked_ms),
        "first": first,
        "tier": index.tier,
    }
    told["lists"] = index.lists and f"{index.lists.head.probes} of {index.lists.head.lists} lists"
    print(json.dumps(told | {"found": found}))


def rows_after(vectors: Floats, after: int) -> Iterator[tuple[int, bytes]]:
    return ((row + 1, vectors[row].tobytes()) for row in range(after, len(vectors)))


def one_size(folder: Path, vectors: Floats, queries: Floats) -> dict[str, float]:
    ids = np.arange(1, len(vectors) + 1)
    started = time.perf_counter()
    write(folder / "dense.bin", ids, vectors.shape[1], lambda after: rows_after(vectors, after))
    build = time.perf_counter() - started
    np.save(folder / "queries.npy", queries)
    asked = [sys.executable, __file__, "--measure", folder / "dense.bin"]
    done = subprocess.run(
        [*asked, "--queries", folder / "queries.npy"], stdout=subprocess.PIPE, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    exact = Dense(ids, vectors)
    taken, shares = [], {10: [], DEPTH: []}
    for query, found in zip(queries, told["found"], strict=True):
        started = time.perf_counter()
        best = [passage for passage, _ in exact.search(query, DEPTH)]
        taken.append(1000 * (time.perf_counter() - started))
        for depth, share in shares.items():
            share.append(len(set(found[:depth]) & set(best[:depth])) / depth)
    disk = sum(file.stat().st_size for file in folder.glob("dense.*")) / 1e6
    say(
        f"{told['tier']} {told['lists']}, first search {told['first']:.2f} s, "
        f"{told['cpu']:.2f} ms of CPU a query, {disk:.0f} MB on disk, "
        f"recall@{DEPTH} {np.mean(shares[DEPTH]):.4f}; the exact scan takes "
        f"{np.median(taken):.1f} ms; a change of 1,000 passages {change(folder, vectors):.2f} s"
    )
    return {
        "p50_ms": round(told["p50"], 2),
        "p99_ms": round(told["p99"], 2),
        "rss_mb": round(told["rss"], 1),
        "recall@10": round(float(np.mean(shares[10])), 4),
        "build_s": round(build, 2),
    }


def change(folder: Path, vectors: Floats) -> float:
    """Seconds to write the next generation, with 1,000 passages gone and as many new ones."""
    (folder / "next").mkdir()
    ids = np.arange(1001, len(vectors) + 1001)
    started = time.perf_counter()
    write(
        folder / "next" / "dense.bin",
        ids,
        vectors.shape[1],
        lambda after: ((after + 1 + row, vectors[row].tobytes()) for row in range(1000)),
        Dense.open(folder / "dense.bin"),
    )
    return time.perf_counter() - started


def growth(result: dict[str, dict[str, float]]) -> None:
    """Slopes between neighbouring sizes, both axes logarithmic: 1 is linear."""
    sizes = list(result)
    for small, large in pairwise(sizes):
        by = math.log(int(large) / int(small))
        slopes = {
            name: math.log(result[large][name] / result[small][name]) / by
            for name in ("p50_ms", "rss_mb", "build_s")
        }
        told = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
        say(f"growth from {int(small):,} to {int(large):,}, exponents: {told}")


def run(options: argparse.Namespace, work: Path) -> dict[str, dict[str, float]]:
    passages, questions = real(options.data, options.cache)
    queries = questions[:: max(1, len(questions) // options.queries_count)]
    neighbours = nearest(passages, iter([passages]), 1)
    spread = np.sqrt(1 / np.clip(neighbours, 0.1, 0.99) ** 2 - 1)
    noise, result = 0.8, {}
    sizes = [10**power for power in range(4, 12) if 10**power < options.vectors]
    for count in [*sizes, options.vectors]:
        say(f"{count:,} vectors")
        make = partial(blocks, passages, spread, count)
        noise, similar = made(make, neighbours, noise)
        histogram("Nearest neighbours of passages", neighbours, similar)
        histogram(
            "Nearest passages of questions",
            nearest(queries, iter([passages]), 0),
            nearest(queries, make(noise), 0),
        )
        with tempfile.TemporaryDirectory(dir=work) as name:
            vectors = np.memmap(
                Path(name) / "vectors", np.float32, "w+", shape=(count, passages.shape[1])
            )
            for number, block in enumerate(make(noise)):
                vectors[number * BLOCK : number * BLOCK + len(block)] = block
            result[str(count)] = one_size(Path(name), vectors, queries)
            say(str(result[str(count)]))
    growth(result)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="one line instead of many")
    parser.add_argument("--data", type=Path, default=DATA, help="with corpus/, ir/ and qa/")
    parser.add_argument("--cache", type=Path, default=user_cache_dir() / "bench-scale.npz")
    parser.add_argument("--work", type=Path, help="for 2.7 GB at a million vectors")
    parser.add_argument("--queries-count", type=int, default=300)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options)
        return
    with tempfile.TemporaryDirectory(dir=options.work) as name:
        result = run(options, Path(name))
    print(json.dumps(result) if options.json else json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
