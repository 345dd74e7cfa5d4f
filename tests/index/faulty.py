"""A process that forks one child a fault: everything is imported once, so a fault costs little.

Requests and answers are lines of JSON on stdin and stdout. With `faults.c` preloaded a child
arms it; without, it can still be killed from outside or be given a limit on file sizes.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from ragcli.errors import RagcliError
from ragcli.index import dense_write, run, update
from ragcli.index.reader import Reader
from ragcli.index.writer import Writer

from .conftest import InlineExtractor, WordsEncoder

MODES = ("count", "before", "after", "torn", "full", "broken")


def act(action: str, index_dir: Path, docs: Path) -> None:
    """One of the things that write an index."""
    encoder = WordsEncoder()
    if action == "lists":
        with_lists()
    if action == "read":
        Reader.open(index_dir, encoder, identity=encoder.identity).close()
    elif action == "forget":
        list(update.forget(index_dir, docs / "a.md"))
    else:
        rebuild = action == "rebuild"
        list(update.update(index_dir, [docs], encoder=encoder, rebuild=rebuild))


def in_small_steps() -> None:
    """Files are read in this process, and every few passages are a commit."""
    run.Extractor = InlineExtractor  # type: ignore[misc, assignment]
    run.BATCH_PASSAGES, run.COMMIT_EVERY_S, run.COMMIT_SHARE = 3, 0.0, 0


def with_lists() -> None:
    """Vectors are put into lists, as in a large index."""
    dense_write.TIERS = dense_write.Tiers(lists_from=8, newest=3)


def _child(request: dict[str, Any], shim: ctypes.CDLL | None, answers: int) -> None:
    commit = Writer.commit

    def told(writer: Writer) -> float:
        seconds = commit(writer)
        os.write(answers, f"committed {writer.generation}\n".encode())
        return seconds

    Writer.commit = told  # type: ignore[method-assign]
    if request.get("file_size"):
        limit = int(request["file_size"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    if shim is not None and request.get("mode"):
        mode = MODES.index(request["mode"])
        trace = answers if request["mode"] == "count" else -1
        shim.fault_arm(
            os.fsencode(request["index"]), mode, ctypes.c_long(request.get("at", 0)), trace
        )
    try:
        act(request["action"], Path(request["index"]), Path(request["docs"]))
        outcome = "done"
    except RagcliError as error:
        outcome = f"error {error.message}"
    except BaseException as error:  # noqa: BLE001 - told to the test, which fails
        outcome = f"crash {type(error).__name__}: {error}"
    if shim is not None:
        shim.fault_disarm()
    os.write(answers, (outcome.replace("\n", " ") + "\n").encode())


def main() -> None:
    in_small_steps()
    shim = ctypes.CDLL(None) if "LD_PRELOAD" in os.environ else None
    encoder = WordsEncoder()  # numpy's and tantivy's first use, before the forks
    encoder.encode(["warm"])
    __import__("tantivy")
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _child(request, shim, write)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as answers:
            told = answers.read().splitlines()
        _, status = os.waitpid(child, 0)
        print(json.dumps({"status": status, "told": told}), flush=True)


if __name__ == "__main__":
    main()
