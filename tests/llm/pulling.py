"""The repositories of a hub, and what pulling from it takes and leaves."""

from __future__ import annotations

import os
from pathlib import Path

from standin_models import gguf

from ragcli.llm import pull
from ragcli.llm.discover import ModelRef, discover, models_dir

MODEL = gguf(weights=os.urandom(300_000))
OTHER = gguf(weights=os.urandom(1000), name="Other")
REPOSITORIES = {
    "owner/one-GGUF": {"README.md": b"hello", "one.Q4_K_M.gguf": MODEL},
    "owner/many-GGUF": {
        "many.Q4_K_M.gguf": MODEL,
        "many.Q8_0.gguf": OTHER,
        "mmproj-many.gguf": gguf("clip"),
    },
    "owner/split-GGUF": {
        "q8/big-00001-of-00002.gguf": MODEL,
        "q8/big-00002-of-00002.gguf": OTHER,
    },
    "owner/none": {"model.safetensors": b"0"},
    "owner/evil": {"../../evil.gguf": MODEL},
    "owner/fake": {"fake.gguf": b"<html>please log in</html>"},
}
ONE = "owner/one-GGUF"
TARGET = Path("owner/one-GGUF/one.Q4_K_M.gguf")


def fetch(
    spec: str = ONE, seen: list[int] | None = None, tries: int = 0, **options: str
) -> ModelRef:
    def progress(here: int, total: int) -> None:
        if seen is not None:
            seen.append(here)

    return pull.fetch(pull.plan(spec, **options), progress, waits=(0.0,) * tries)  # type: ignore[arg-type]


def partials() -> list[Path]:
    return sorted(models_dir().rglob("*.part"))


def discover_pulled() -> list[str]:
    return [model.name for model in discover() if model.source == "pulled"]
