"""Epochs, one after another: kept as they end, gone on with, stopped when nothing gets better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ragcli.train.checkpoint import Checkpoint


class Resumable(Protocol):
    """What is trained; see `ragcli.train.tuned.Tuned`."""

    def begin(self, rate: float, steps: int) -> None: ...
    def save(self, file: Path) -> None: ...
    def load(self, file: Path) -> None: ...


class Epochs:
    """The epochs of one stage. epoch(number): trains one, gives its loss. judge(): development.

    by: what of the development numbers should fall.
    """

    def __init__(
        self,
        model: Resumable,
        checkpoint: Checkpoint,
        name: str,
        epoch: Callable[[int], float],
        judge: Callable[[], Mapping[str, float]],
        by: str = "loss",
    ) -> None:
        self._model, self._checkpoint, self._name = model, checkpoint, name
        self._epoch, self._judge, self._by = epoch, judge, by

    def run(self, rate: float, steps: int, epochs: int, patience: int) -> None:
        """Until they are over or no longer better; the model then is the best of them.

        steps: updates of all epochs. patience: epochs without a better number. Raises ModelError.
        """
        checkpoint, state, name = self._checkpoint, self._checkpoint.state, self._name
        self._model.begin(rate, steps)
        if state.epoch:
            self._model.load(checkpoint.last)
        else:
            state.records[:] = [one for one in state.records if one["stage"] != name]
            state.best, state.waited = None, 0
            self._keep(None)
        while state.epoch < epochs and state.waited < patience:
            loss = self._epoch(state.epoch)
            state.epoch += 1
            self._keep(loss)
        self._model.load(checkpoint.best)
        checkpoint.finish(name)

    def _keep(self, loss: float | None) -> None:
        """Numbers on the disk first, then the state that speaks of them.

        Without a development part the last epoch counts as the best; one that is as good as the
        best is no reason to stop.
        """
        checkpoint, state = self._checkpoint, self._checkpoint.state
        judged = dict(self._judge())
        value = judged.get(self._by)
        better = value is None or state.best is None or value < state.best
        if better:
            self._model.save(checkpoint.best)
            state.best, state.waited = value, 0
        elif state.best is not None and value is not None and value > state.best:
            state.waited += 1
        self._model.save(checkpoint.last)
        state.records.append(
            {"stage": self._name, "epoch": state.epoch, "loss": loss, "development": judged}
        )
        checkpoint.save()
