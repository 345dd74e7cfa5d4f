"""How long a person waits: `--help`, one search, the first token of an answer.

    python tests/bench/startup.py --json

Every figure is the median over processes of their own: wall seconds from the start of
the process, processor seconds of the whole process (steadier than wall seconds on a busy
machine), and its peak resident memory. Search and ask run on an index of about 10,000
passages of the evaluation data (RAGCLI_DATA, or `shared/` beside the checkout), built
once under the cache folder; one run beforehand, not counted, warms the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data"
DOCUMENTS = 8_500  # about 10,000 passages
RAGCLI = [sys.executable, "-m", "ragcli"]
QUERY = "Who received the first Nobel Prize in Physics?"
MEGABYTE = 1e6


def texts(data: Path) -> Iterator[str]:
    """Documents of all corpora, then the passages of the question sets."""
    for file in sorted([*data.glob("corpus/*.jsonl"), *data.glob("ir/*/corpus.jsonl")]):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield f"{row['title']}\n\n{row['text']}\n"
    for file in sorted(data.glob("qa/*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            for passage in json.loads(line).get("passages", ()):
                yield f"{passage['title']}\n\n{' '.join(passage['sentences'])}\n"


def build_index(work: Path, data: Path) -> Path:
    """The index, made now if it is not there; its folder also holds the documents."""
    index = work / ".ragcli"
    if (work / "complete").is_file():
        return index
    for number, text in enumerate(texts(data)):
        if number == DOCUMENTS:
            break
        file = work / "docs" / f"{number // 500:03d}" / f"{number:05d}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    subprocess.run(
        [*RAGCLI, "index", str(work / "docs"), "--index", str(index), "--quiet"],
        stdout=sys.stderr, check=True,
    )  # fmt: skip
    (work / "complete").touch()
    return index


def passages_in(index: Path) -> int:
    done = subprocess.run(
        [*RAGCLI, "status", "--index", str(index), "--json"], capture_output=True, check=True
    )
    return int(json.loads(done.stdout)["passages"])


def measure(
    command: Sequence[str], is_done: Callable[[bytes], bool] | None = None
) -> tuple[float, float, float]:
    """(wall s, processor s, peak MB) of one process; wall to the first line `is_done` likes."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        wall = None
        for line in process.stdout:
            if wall is None and is_done is not None and is_done(line):
                wall = time.perf_counter() - start
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    end = time.perf_counter() - start
    if process.returncode not in (0, 1) or (is_done is not None and wall is None):
        raise SystemExit(f"exit {process.returncode} of: {' '.join(command)}")
    scale = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, kiB on Linux
    processor = usage.ru_utime + usage.ru_stime
    return (end if wall is None else wall), processor, usage.ru_maxrss * scale / MEGABYTE


def median(
    command: Sequence[str], repeats: int, is_done: Callable[[bytes], bool] | None = None
) -> dict[str, float]:
    measure(command, is_done)
    walls, processor, peaks = zip(*(measure(command, is_done) for _ in range(repeats)), strict=True)
    return {
        "wall_s": round(statistics.median(walls), 3),
        "cpu_s": round(statistics.median(processor), 3),
        "peak_mb": round(statistics.median(peaks), 1),
        "worst_s": round(max(walls), 3),
    }


def is_token(line: bytes) -> bool:
    return json.loads(line).get("event") == "token"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document (the default)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, help="where the index lies (default: in the cache)")
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no evaluation data at {options.data} (set RAGCLI_DATA)")
    from ragcli.paths import user_cache_dir

    index = build_index(options.work or user_cache_dir() / "bench" / "startup", options.data)
    at = ["--index", str(index)]
    ask = [*RAGCLI, "ask", QUERY, *at, "--jsonl", "--max-tokens", "8"]
    reference = [sys.executable, "-c", "import sentence_transformers"]
    report = {
        "help": median([*RAGCLI, "--help"], options.repeats),
        "search": median([*RAGCLI, "search", QUERY, *at], options.repeats),
        "search_lexical": median(
            [*RAGCLI, "search", QUERY, "--mode", "lexical", *at], options.repeats
        ),
        "ask_first_token": median(ask, options.repeats, is_token),
        "python_import_sentence_transformers": median(reference, min(options.repeats, 3)),
        "passages": passages_in(index),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
