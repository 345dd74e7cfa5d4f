"""Numbers that Adam changes: its schedule, and files that a training goes on from. Imports torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ragcli.errors import ModelError
from ragcli.paths import shown

WARM_UP = 0.1  # of the steps, over which the rate rises; it falls to 0 over the rest
CLIP = 1.0


class Tuned:
    """The trained part of a model."""

    def __init__(self, *groups: tuple[Mapping[str, Any], float]) -> None:
        """groups: parameters by name, and how many times the rate is theirs."""
        self._groups = groups
        self._trained = {name: one for group, _ in groups for name, one in group.items()}
        for value in self._trained.values():
            value.requires_grad_(True)
        self._optimiser: Any = None
        self._rates: list[float] = []
        self._steps = self._done = 0

    def begin(self, rate: float, steps: int) -> None:
        """A new optimiser for so many updates."""
        self._rates = [rate * times for _, times in self._groups]
        self._optimiser = torch.optim.Adam([
            {"params": list(group.values()), "lr": each}
            for (group, _), each in zip(self._groups, self._rates, strict=True)
        ])  # fmt: skip
        self._steps, self._done = max(1, steps), 0

    def add(self, loss: Any) -> float:
        """Adds a loss to the gradient of the next update; gives its number."""
        loss.backward()
        return float(loss.detach())

    def update(self) -> None:
        """One step of Adam; the gradient starts anew."""
        torch.nn.utils.clip_grad_norm_(list(self._trained.values()), CLIP)
        share = _share(self._done, self._steps)
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * share
        self._optimiser.step()
        self._done += 1
        self._optimiser.zero_grad(set_to_none=True)

    def weights(self) -> dict[str, Any]:
        """What is trained, a copy."""
        return {name: value.detach().clone() for name, value in self._trained.items()}

    def restore(self, weights: Mapping[str, Any]) -> None:
        with torch.no_grad():
            for name, value in self._trained.items():
                value.copy_(weights[name])

    def save(self, file: Path) -> None:
        """What is trained and, within a stage, the optimiser's state."""
        tensors = self.weights()
        if self._optimiser is not None:
            names = list(self._trained)
            for at, state in self._optimiser.state_dict()["state"].items():
                for key, value in state.items():
                    tensors[f"adam.{key}.{names[at]}"] = torch.as_tensor(value).clone()
            tensors["steps"] = torch.tensor(self._done)
        part = file.with_suffix(".part")
        save_file(tensors, part)
        part.replace(file)

    def load(self, file: Path) -> None:
        """What `save` wrote; call `begin` before where a stage goes on. Raises ModelError."""
        try:
            tensors = load_file(file)
            self.restore(tensors)
            if self._optimiser is not None and "steps" in tensors:
                self._resume(tensors)
        except (OSError, SafetensorError, KeyError, RuntimeError) as error:
            raise ModelError(
                f"the checkpoint cannot be read: {shown(file)}",
                hint="remove its folder to begin anew",
            ) from error

    def _resume(self, tensors: Mapping[str, Any]) -> None:
        known = self._optimiser.state_dict()
        known["state"] = {
            at: {key: tensors[f"adam.{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            for at, name in enumerate(self._trained)
            if f"adam.step.{name}" in tensors
        }
        self._optimiser.load_state_dict(known)
        self._done = int(tensors["steps"])


def _share(done: int, steps: int) -> float:
    """Of the rate, for the next update: it rises, then falls towards 0."""
    warm = max(1, round(WARM_UP * steps))
    if done < warm:
        return (done + 1) / warm
    return max(0.0, (steps - done) / max(1, steps - warm))
