"""A user's cross-encoder as a verifier: how likely it holds that the premise entails the claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.cite.verify import NLI
from ragcli.encoders.cross import (
    CrossEncoder,
    CrossIdentity,
    open_cross_encoder,
    read_cross_identity,
)
from ragcli.errors import ModelError


class NliVerifier:
    """The probability of the label for entailment; of a model with one logit, its sigmoid."""

    supported = 0.5
    partly = 0.2

    def __init__(
        self, identity: CrossIdentity, load: Callable[[], CrossEncoder], label: int
    ) -> None:
        self._identity = identity
        self._load = load
        self._label = label
        self._model: CrossEncoder | None = None

    @property
    def name(self) -> str:
        return f"{NLI}{self._identity.name}"

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        pairs = list(zip(premises, hypotheses, strict=True))
        if not pairs:
            return []
        if self._model is None:
            self._model = self._load()
        scores: list[float] = probabilities(self._model.logits(pairs))[:, self._label].tolist()
        return scores


def probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """(pairs, labels) softmax over the labels; the sigmoid where there is one alone."""
    z = logits.astype(np.float64)
    if z.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(z, -60, 60))))
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(z / z.sum(axis=1, keepdims=True))


def entailment_label(labels: Sequence[str]) -> int:
    """Which logit stands for entailment. Raises ModelError where the model does not say.

    "entailment", "ENTAILED" and the like; "not_entailment" is not it.
    """
    found = [at for at, label in enumerate(labels) if label.lower().startswith("entail")]
    if len(found) == 1:
        return found[0]
    if len(labels) == 1:
        return 0
    raise ModelError(
        f"the cross-encoder does not say which label means entailment: {', '.join(labels)}",
        hint="id2label in its config.json must name one label entailment",
    )


def open_nli(spec: str, *, threads: int | None = None) -> NliVerifier:
    """The verifier `nli:PATH`; the model is loaded when it first judges.

    Raises ModelError where the folder holds no cross-encoder for entailment.
    """
    folder = Path(spec.removeprefix(NLI)).expanduser()
    identity = read_cross_identity(folder)
    label = entailment_label(identity.labels)
    return NliVerifier(
        identity, lambda: open_cross_encoder(folder, identity, threads=threads), label
    )
