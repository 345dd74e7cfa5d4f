"""Asks `faulty.py`, which forks one child a fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from .scene import Scene

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """The process that forks the children."""

    def __init__(self, shim: Path | None) -> None:
        environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if shim is not None:
            environ["LD_PRELOAD"] = str(shim)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.index.faulty"], cwd=ROOT, env=environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def send(self, scene: Scene, **fault: object) -> None:
        action = "update" if scene.action == "fresh" else scene.action
        request = {"action": action, "index": str(scene.bench.index_dir), **fault}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**request, "docs": str(scene.bench.docs)}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> tuple[int, list[str]]:
        """(wait status, lines the child told)."""
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        return answer["status"], answer["told"]

    def ask(self, scene: Scene, **fault: object) -> tuple[int, list[str]]:
        self.send(scene, **fault)
        return self.answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
