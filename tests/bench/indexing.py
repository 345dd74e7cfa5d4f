"""What indexing costs, against encoding alone and a lexical index alone, in one run.

    python tests/bench/indexing.py [DIR] --json [--quick] [--repeat N] [--threads N]

{"passages_per_s", "mb_per_s",                   of the whole of indexing, exact
 "ratio_to_encode": {"exact", "int8"},           to sentence-transformers' encode, same passages
 "ratio_to_lexical_only",                        to tantivy alone over the same files
 "peak_mb": {"small", "large"},                  all processes together, at 2 and 20 MB of text
 "peak_anonymous_mb": {"small", "large"},        of that, what is not a file mapped into memory
 "noop_s",                                       the command over 10,000 unchanged files
 "cpu": {…}, "how": {…}}

Ratios are of wall time; "cpu" has the same of processor time (workers included), which other
programs on the machine change less. Everything runs in processes of its own, one after the
other, each round in another order; medians of the rounds are reported.

Memory is the most that the whole tree of processes held at a time, as PSS: a page that several
processes share counts once. Mapped files (the encoder's weights, the index's own files) are in
"peak_mb" as far as they are resident, but the system may drop those pages when it needs them;
"peak_anonymous_mb" (its own peak) is what it cannot. Linux only.

DIR: its .txt files, or all files if there are none; .gz are unpacked. Without DIR: the corpora
beside the checkout (RAGCLI_DATA), or generated text where there are none. Speed is measured on
whole files of about --sample-mb. For 20 MB the files are taken again with other words if they
are too few. --share S: in the memory runs every 1/S-th piece of passages is encoded, the others
get a vector made up; the encoder is loaded and at work throughout. --quick is 0.3 MB, one round
and a share of 1/10.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from texts import write_corpus
from watching import watched

ROOT = Path(__file__).resolve().parents[2]
NOTES = 10_000
Found = dict[str, Any]


# What is measured, each in a process of its own


class Sampled:
    """An encoder that encodes only every `every`-th piece it is given; the rest is made up."""

    def __init__(self, encoder: Any, every: int) -> None:
        self.encoder, self.every, self.calls = encoder, every, 0
        self.identity = encoder.identity

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        if self.calls % self.every == 0:
            return np.asarray(self.encoder.encode(texts), np.float32)
        rows = np.random.default_rng(self.calls).normal(size=(len(texts), self.identity.dimension))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return list(self.encoder.count_tokens(texts))


def timed_index(docs: Path, index: Path, precision: str, threads: int, every: int) -> Found:
    from ragcli.encoders import open_encoder, resolve_encoder
    from ragcli.index.update import update

    encoder: Any = open_encoder(resolve_encoder(None, precision), threads=threads)
    if every > 1:
        encoder = Sampled(encoder, every)
    clock = Clock()
    for event in update(index, [docs], encoder=lambda: encoder, workers=threads):
        last: Any = event
    return clock.read() | {"passages": last.passages, "generation": last.generation}


def timed_encode(index: Path, threads: int) -> Found:
    """sentence-transformers over the passages that an index holds, as it was given them."""
    import torch
    from sentence_transformers import SentenceTransformer

    from ragcli.encoders import resolve_encoder
    from ragcli.index.reader import Reader
    from ragcli.text.passages import context_length, embedded_text

    ref = resolve_encoder(None)
    longest = context_length(ref.identity.text_tokens)
    with Reader.open(index, lambda: 1 / 0) as reader:  # type: ignore[arg-type, return-value]
        texts = [
            embedded_text(document.title, p.heading, p.text, longest)
            for document in reader.documents()
            for p in reader.passages(document.id)
        ]
    torch.set_num_threads(threads)
    model = SentenceTransformer(str(ref.folder), device="cpu", local_files_only=True)
    model.encode(texts[:8], show_progress_bar=False)
    clock = Clock()
    model.encode(texts, show_progress_bar=False)
    return clock.read() | {"passages": len(texts)}


def timed_lexical(docs: Path, target: Path) -> Found:
    """tantivy with its own tokenizer, one document a file."""
    import tantivy

    target.mkdir()
    clock = Clock()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body")
    index = tantivy.Index(builder.build(), str(target))
    writer = index.writer()
    for file in sorted(docs.iterdir()):
        writer.add_document(tantivy.Document(body=file.read_text("utf-8")))
    writer.commit()
    writer.wait_merging_threads()
    return clock.read()


class Clock:
    """Wall and processor time; the latter with the children that ended."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), self._cpu()

    @staticmethod
    def _cpu() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def read(self) -> Found:
        return {"s": time.perf_counter() - self.wall, "cpu_s": self._cpu() - self.cpu}


CHILDREN = {"index": timed_index, "encode": timed_encode, "lexical": timed_lexical}


def child(name: str, *arguments: object, watch: bool = False) -> Found:
    """Runs one of CHILDREN in a new process; watch: with the peak memory of all it starts."""
    given = [str(a) if isinstance(a, Path) else a for a in arguments]
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", name, json.dumps(given)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    peaks = watched(process) if watch else {}
    out, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name} failed: {errors}")
    return json.loads(out.splitlines()[-1]) | peaks


def speed(docs: Path, base: Path, size: float, repeat: int, threads: int) -> Found:
    rounds: list[dict[str, Found]] = []
    for turn in range(repeat):
        here = base / str(turn)
        here.mkdir()
        got = {"exact": child("index", docs, here / "exact", "exact", threads, 1)}
        others = ["int8", "encode", "lexical"]
        for name in others if turn % 2 == 0 else reversed(others):
            if name == "int8":
                got[name] = child("index", docs, here / name, name, threads, 1)
            elif name == "encode":
                got[name] = child("encode", here / "exact", threads)
            else:
                got[name] = child("lexical", docs, here / name)
        rounds.append(got)

    def ratio(ours: str, theirs: str, clock: str) -> float:
        return round(statistics.median(r[ours][clock] / r[theirs][clock] for r in rounds), 3)

    passages = rounds[0]["exact"]["passages"]
    seconds = statistics.median(r["exact"]["s"] for r in rounds)
    by_clock = {
        clock: {
            "ratio_to_encode": {n: ratio(n, "encode", clock) for n in ("exact", "int8")},
            "ratio_to_lexical_only": ratio("exact", "lexical", clock),
        }
        for clock in ("s", "cpu_s")
    }
    per_s = {"passages_per_s": round(passages / seconds, 1), "mb_per_s": round(size / seconds, 3)}
    how = {"passages": passages, "mb": round(size, 2), "rounds": repeat, "threads": threads}
    return per_s | by_clock["s"] | {"cpu": by_clock["cpu_s"], "how": how}


def memory(
    source: Path | None, base: Path, threads: int, share: float, sizes: Sequence[float]
) -> Found:
    peaks: dict[str, Found] = {"peak_mb": {}, "peak_anonymous_mb": {}}
    for name, size in zip(("small", "large"), sizes, strict=True):
        docs = base / name / "docs"
        write_corpus(source, docs, size)
        every = max(1, round(1 / share))
        done = child("index", docs, base / name / "index", "exact", threads, every, watch=True)
        for kind, of_size in peaks.items():
            of_size[name] = round(done[kind], 1)
    return peaks


def unchanged(base: Path, times: int = 3) -> Found:
    """The whole command, over files it knows; it would fail if it wanted an encoder."""
    docs, index = base / "docs", base / ".ragcli"
    for n in range(NOTES):
        file = docs / f"{n % 100:02}" / f"{n}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Note {n} is a short one.", "utf-8")
    child("index", docs, index, "exact", 1, 10**9)
    command = [sys.executable, "-m", "ragcli", "index", str(docs), "--index", str(index), "-q"]
    environ = os.environ | {"RAGCLI_CACHE_DIR": str(base / "no-export"), "PYTHONPATH": str(ROOT)}
    walls, cpus = [], []
    for _ in range(times + 1):  # the first makes bytecode and reads the disk
        clock = Clock()
        subprocess.run(command, check=True, env=environ, capture_output=True)
        read = clock.read()
        walls.append(read["s"])
        cpus.append(read["cpu_s"])
    assert not (base / "no-export").exists(), "an encoder was prepared"
    return {"s": statistics.median(walls[1:]), "cpu_s": statistics.median(cpus[1:])}


def measured(arguments: argparse.Namespace) -> Found:
    threads = arguments.threads or len(os.sched_getaffinity(0))
    parts = set(arguments.only.split(","))
    source, result = arguments.folder, {"cpu": {}, "how": {}}
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        if "speed" in parts:
            size = write_corpus(source, base / "docs", arguments.sample_mb)
            result |= speed(base / "docs", base, size, arguments.repeat, threads)
        if "noop" in parts:
            idle = unchanged(base / "unchanged")
            result["noop_s"] = round(idle["s"], 3)
            result["cpu"]["noop_s"] = round(idle["cpu_s"], 3)
        if "memory" in parts:
            share, sizes = arguments.share, arguments.memory_mb
            result |= memory(source, base / "memory", threads, share, sizes)
            result["how"] |= {"share": share, "memory_mb": sizes}
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="(the only format)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sample-mb", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--memory-mb", type=float, nargs=2, default=[2.0, 20.0])
    parser.add_argument("--only", default="speed,noop,memory", help="some of these three")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        name, given = arguments.child
        given = [Path(a) if isinstance(a, str) and os.sep in a else a for a in json.loads(given)]
        print(json.dumps(CHILDREN[name](*given)))
        return
    if arguments.quick:
        arguments.sample_mb, arguments.repeat, arguments.share = 0.3, 1, 0.1
    print(json.dumps(measured(arguments)))


if __name__ == "__main__":
    main()
