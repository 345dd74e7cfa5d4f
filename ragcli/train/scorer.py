"""The organiser while it is trained: forward, backward, Adam, files. The only import of torch here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ragcli.encoders.organiser_files import (
    OrganiserConfig,
    base_folder,
    read_arrays,
    read_organiser,
    write_organiser,
)
from ragcli.encoders.organiser_model import arrays_of, load_model, load_trained
from ragcli.encoders.pairs import PairTokens, batches
from ragcli.errors import ModelError
from ragcli.paths import shown

FRESH = 10.0  # head and virtual tokens start from nothing: their rate is so many times higher
WARM_UP = 0.1  # of the steps, over which the rate rises; it falls to 0 over the rest
CLIP = 1.0
_AT_ONCE = 2048  # padded word pieces in one forward pass


class Scorer:
    """One model. Scores of a question: its sentences' in order, then the placeholder's."""

    def __init__(
        self,
        base: Path,
        config: OrganiserConfig,
        *,
        seed: int = 0,
        threads: int | None = None,
        start: Path | None = None,
    ) -> None:
        """base: the encoder's folder. start: an organiser's, to go on from. Raises ModelError."""
        torch.manual_seed(seed)
        if threads is not None:
            torch.set_num_threads(threads)
        self.config, self._base = config, base
        self._model = load_model(base, config)
        self._tokens = PairTokens(base / "tokenizer.json", self._model.shape)
        own = self._model.own()
        self._original = {name: value.detach().numpy().copy() for name, value in own.items()}
        for value in self._model.parameters():
            value.requires_grad_(False)
        self._fresh = {
            "virtual": self._model.table.virtual,
            "head.weight": self._model.head.weight,
            "head.bias": self._model.head.bias,
        }
        self._own = own
        for value in self._trained.values():
            value.requires_grad_(True)
        self._optimiser: Any = None
        self._rates: list[Any] = []
        self._steps = self._done = 0
        self.start = ""  # hash of the organiser that this one goes on from
        if start is not None:
            self.start = read_organiser(start).sha256
            self.restore(reload(start, config))

    @property
    def _trained(self) -> dict[str, Any]:
        return {**self._own, **self._fresh}

    def scores(self, question: str, sentences: Sequence[str], *, drop: bool = False) -> Any:
        """A tensor (n + 1,) that can be differentiated. drop: with the encoder's dropout."""
        self._model.train(drop)
        pieces = self._tokens.cut(question, sentences)
        parts, rows = [], []
        for batch in batches([len(one) for one in pieces], _AT_ONCE):
            arrays = self._tokens.arrays([pieces[row] for row in batch])
            parts.append(self._model(*(torch.from_numpy(arrays[n]) for n in self._model.names)))
            rows += batch
        place = torch.from_numpy(np.argsort(rows))
        found = torch.cat(parts)[place]
        return torch.cat([found[1:], found[:1]])

    def values(self, question: str, sentences: Sequence[str]) -> NDArray[np.float64]:
        """The same as numbers."""
        with torch.no_grad():
            found = self.scores(question, sentences).numpy().astype(np.float64)
        return np.asarray(found)

    def constant(self, values: NDArray[np.float64]) -> Any:
        """Numbers as a tensor that is not trained."""
        return torch.from_numpy(values.astype(np.float32))

    def begin(self, rate: float, steps: int) -> None:
        """A new optimiser for so many updates."""
        groups = [
            {"params": list(self._own.values()), "lr": rate},
            {"params": list(self._fresh.values()), "lr": rate * FRESH},
        ]
        self._optimiser = torch.optim.Adam(groups)
        self._rates = [group["lr"] for group in groups]
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

    def restore(self, weights: dict[str, Any]) -> None:
        with torch.no_grad():
            for name, value in self._trained.items():
                value.copy_(weights[name])

    def save(self, file: Path) -> None:
        """What is trained and, within a stage, the optimiser's state."""
        tensors = self.weights()
        if self._optimiser is not None:
            names = [*self._own, *self._fresh]
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
                hint="remove the folder checkpoint to begin anew",
            ) from error

    def write(self, folder: Path, training: dict[str, Any]) -> str:
        """The organiser's folder; gives its hash."""
        config = OrganiserConfig(
            **{
                name: getattr(self.config, name)
                for name in OrganiserConfig.__dataclass_fields__
                if name != "training"
            },
            training=training,
        )
        write_organiser(folder, config, arrays_of(self._model, self._original))
        return read_organiser(folder).sha256

    def _resume(self, tensors: dict[str, Any]) -> None:
        names = [*self._own, *self._fresh]
        known = self._optimiser.state_dict()
        known["state"] = {
            at: {key: tensors[f"adam.{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            for at, name in enumerate(names)
            if f"adam.step.{name}" in tensors
        }
        self._optimiser.load_state_dict(known)
        self._done = int(tensors["steps"])


def reload(folder: Path, config: OrganiserConfig) -> dict[str, Any]:
    """What is trained, as a folder's files have it."""
    model = load_trained(base_folder(config.base), config, read_arrays(folder))
    fresh = {
        "virtual": model.table.virtual,
        "head.weight": model.head.weight,
        "head.bias": model.head.bias,
    }
    return {**model.own(), **fresh}


def _share(done: int, steps: int) -> float:
    """Of the rate, for the next update: it rises, then falls towards 0."""
    warm = max(1, round(WARM_UP * steps))
    if done < warm:
        return (done + 1) / warm
    return max(0.0, (steps - done) / max(1, steps - warm))
