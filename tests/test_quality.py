"""Style, types and layer contracts are part of the test suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "--no-cache", "ragcli", "tests"],
    "ruff format": [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--no-cache",
        "--check",
        "ragcli",
        "tests",
    ],
    "mypy": [sys.executable, "-m", "mypy", "--cache-dir", "/dev/null"],
    "import contracts": [str(BIN / "lint-imports"), "--no-cache"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_quality(name: str) -> None:
    done = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name}\n{done.stdout}\n{done.stderr}"


def test_files_stay_short() -> None:
    """Long files hide long functions; 300 lines is the house rule, 350 the limit."""
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "ragcli").rglob("*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > 350
    }
    assert not long


def test_top_level_is_fixed() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    tops = {name.split("/")[0] for name in tracked}
    allowed = {
        "ragcli",
        "tests",
        "completions",
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
    }
    assert {top for top in tops if not top.startswith(".")} <= allowed
