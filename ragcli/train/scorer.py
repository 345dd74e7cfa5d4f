"""The organiser while it is trained: forward passes, and the files it becomes. Imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ragcli.encoders.organiser_files import (
    OrganiserConfig,
    base_folder,
    read_arrays,
    read_organiser,
    write_organiser,
)
from ragcli.encoders.organiser_model import arrays_of, load_model, load_trained
from ragcli.encoders.pairs import PairTokens, batches
from ragcli.train.tuned import Tuned

FRESH = 10.0  # head and virtual tokens start from nothing: their rate is so many times higher
_AT_ONCE = 2048  # padded word pieces in one forward pass


class Scorer(Tuned):
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
        fresh = {
            "virtual": self._model.table.virtual,
            "head.weight": self._model.head.weight,
            "head.bias": self._model.head.bias,
        }
        super().__init__((own, 1.0), (fresh, FRESH))
        self.start = ""  # hash of the organiser that this one goes on from
        if start is not None:
            self.start = read_organiser(start).sha256
            self.restore(reload(start, config))

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


def reload(folder: Path, config: OrganiserConfig) -> dict[str, Any]:
    """What is trained, as a folder's files have it."""
    model = load_trained(base_folder(config.base), config, read_arrays(folder))
    fresh = {
        "virtual": model.table.virtual,
        "head.weight": model.head.weight,
        "head.bias": model.head.bias,
    }
    return {**model.own(), **fresh}
