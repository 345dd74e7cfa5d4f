"""The memory of a process and all that it starts, at its highest. Linux only."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import psutil

MB = 1_000_000
LOOK_S = 0.1  # between two looks


def watched(process: subprocess.Popen[str]) -> dict[str, float]:
    """The most memory that the process and its children held together, in MB (PSS)."""
    peak = anonymous = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            tree = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            break
        held = [proportional(one.pid) for one in tree]
        peak = max(peak, sum(total for total, _ in held))
        anonymous = max(anonymous, sum(own for _, own in held))
        time.sleep(LOOK_S)
    return {"peak_mb": peak / MB, "peak_anonymous_mb": anonymous / MB}


def proportional(pid: int) -> tuple[int, int]:
    """PSS of a process in bytes, and its anonymous part; none of a process that just ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    kb = {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines)}
    return kb["Pss"] * 1024, kb["Pss_Anon"] * 1024
