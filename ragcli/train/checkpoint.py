"""What lets a training go on where it was stopped: state as JSON, numbers as safetensors."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

STATE, LAST, BEST = "state.json", "last.safetensors", "best.safetensors"


@dataclass(slots=True)
class State:
    """How far it is.

    key: of the data, the models and the options; another key begins anew. done: stages that are
    over. epoch: finished ones of the stage at work. waited: of them without a better loss.
    records: of all epochs, for the report.
    """

    key: str
    done: list[str] = field(default_factory=list)
    epoch: int = 0
    best: float | None = None
    waited: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)


class Checkpoint:
    """A folder with the last epoch's numbers, the best ones of the stage, and those of each stage."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.state = folder, _read(folder / STATE, key)
        if not self.state.records and not self.state.done:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def last(self) -> Path:
        return self.folder / LAST

    @property
    def best(self) -> Path:
        return self.folder / BEST

    def after(self, stage: str) -> Path:
        """Numbers as a stage left them."""
        return self.folder / f"{stage}.safetensors"

    def save(self) -> None:
        """Writes the state; the numbers that it speaks of must be there already."""
        part = self.folder / f"{STATE}.part"
        part.write_text(json.dumps(asdict(self.state)), encoding="utf-8")
        part.replace(self.folder / STATE)

    def finish(self, stage: str) -> None:
        """The stage is over."""
        self.best.replace(self.after(stage))
        self.state.done.append(stage)
        self.state.epoch, self.state.best, self.state.waited = 0, None, 0
        self.save()

    def remove(self) -> None:
        """When the organiser is written, nothing of this is needed any more."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(file: Path, key: str) -> State:
    """The state of the same training, or a new one."""
    try:
        state = State(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):
        return State(key)
    return state if state.key == key else State(key)
