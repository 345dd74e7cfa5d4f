"""What the engine's parts cost, beneath decoding: steps, branches, tap, prefill, contexts.

usage: engine.py MODEL.gguf [--threads N] [--cpu] [--json]

All variants run in one process, interleaved; medians. --cpu counts processor time instead
of wall time: the figure to compare on a machine that is busy with other things (threads 1).
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ragcli.llm.base import Feed
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import default_threads, open_generator

REPEATS, LENGTH = 30, 800


def measure(generator: LlamaGenerator, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds, except the keys that say otherwise."""
    words = np.random.default_rng(0).integers(300, 20000, LENGTH).tolist()
    sessions = {
        (branches, tap): generator.session(branches, tap=tap)
        for branches, tap in [(1, False), (1, True), (2, False), (2, True)]
    }
    found: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, act: Callable[[], object]) -> None:
        start = clock()
        act()
        found[name].append(clock() - start)

    for (branches, tap), session in sessions.items():
        session.start({b: words[: LENGTH - b] for b in range(branches)})
        timed(
            f"prefill {LENGTH} tokens, {branches} branches, tap {tap}",
            lambda s=session, n=branches: s.advance([Feed(b) for b in range(n)]),
        )
    checked = generator.session(1, tap=False)
    checked.start({0: words})
    checked.advance([Feed(0)])
    for token in words[:REPEATS]:
        for (branches, tap), session in sessions.items():
            feeds = [Feed(b, [token + b]) for b in range(branches)]
            timed(f"step, {branches} branches, tap {tap}", lambda s=session, f=feeds: s.advance(f))
        for n in (8, 32):
            feed = Feed(0, words[:n], "all")
            timed(f"check {n}", lambda f=feed: checked.advance([f]))
            checked.truncate(0, LENGTH)
    for session in [*sessions.values(), checked]:
        session.close()
    for size in (1024, 4096):
        timed(f"context of {size}", lambda n=size: generator.session(2, n_ctx=n).close())
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=default_threads())
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu else time.perf_counter
    with open_generator(arguments.model, threads=arguments.threads) as generator:
        found = measure(generator, clock)
    found["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if arguments.json:
        print(json.dumps(found))
        return
    one = found["step, 1 branches, tap False"]
    for name, value in found.items():
        unit = f"{value:10.0f}" if "MB" in name else f"{value * 1e3:10.2f} ms {value / one:7.2f} x"
        print(f"{name:45} {unit}")


if __name__ == "__main__":
    main()
