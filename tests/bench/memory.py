"""Whether memory stays flat over many questions in one process.

python tests/bench/memory.py [--questions 200] [--decode drag] [--model GGUF] [--threads 1] [--json]

`ragcli ask - --jsonl` over XQuAD's paragraphs: short answers, one passage each, every question
another one. `growth`: mean resident memory of the last quarter by that of the second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent))

import psutil
from xquad import items, write_corpus

RAGCLI = [sys.executable, "-m", "ragcli"]


def resident(options: argparse.Namespace, folder: Path) -> list[float]:
    """MB after each answer."""
    write_corpus(folder / "docs")
    environment = {**os.environ, "RAGCLI_INDEX": str(folder / ".ragcli")}
    subprocess.run([*RAGCLI, "index", "-q", "docs"], cwd=folder, env=environment, check=True)
    asked = [*RAGCLI, "ask", "-", "--jsonl", "-q", "--force", "--decode", options.decode]
    asked += ["--max-tokens", "16", "-k", "1", "--threads", str(options.threads)]
    asked += ["--model", options.model] if options.model else []
    with subprocess.Popen(
        asked,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        questions = "".join(f"{one.question}\n" for one in items(options.questions, seed=1))
        threading.Thread(target=feed, args=(process, questions), daemon=True).start()
        watched = psutil.Process(process.pid)
        assert process.stdout is not None
        return [
            watched.memory_info().rss / 1e6
            for line in process.stdout
            if json.loads(line)["event"] == "finished"
        ]


def feed(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--decode", default="drag")
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        sizes = resident(options, Path(name))
    quarter = len(sizes) // 4
    second, last = mean(sizes[quarter : 2 * quarter]), mean(sizes[-quarter:])
    result = {
        "questions": len(sizes),
        "second_quarter_mb": round(second, 1),
        "last_quarter_mb": round(last, 1),
        "growth": round(last / second, 4),
    }
    print(json.dumps(result) if options.json else json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
