"""The organiser as a torch module: an encoder, m virtual tokens, a scalar head (paper 002, eq. 4, 5).

Imported where an organiser is trained or exported, never to answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModel
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from ragcli.encoders.organiser_files import (
    BIAS,
    HEAD,
    VIRTUAL,
    Arrays,
    OrganiserConfig,
    changed,
    difference,
)
from ragcli.encoders.pairs import INPUTS, Shape
from ragcli.errors import ModelError
from ragcli.paths import shown

LONGEST = 512  # where the encoder names no limit
_RESERVED = ("roberta", "xlm-roberta", "camembert")  # their two first positions are never used


class _Words(torch.nn.Module):  # type: ignore[misc]
    """The encoder's embeddings, and the virtual tokens behind them."""

    def __init__(self, words: Any, count: int) -> None:
        super().__init__()
        self.words = words
        spread = float(words.weight.detach().std())
        size = (count, words.weight.shape[1])
        self.virtual = torch.nn.Parameter(torch.randn(size) * spread)

    @property
    def first(self) -> int:
        """Number of the first virtual token."""
        return int(self.words.weight.shape[0])

    def forward(self, ids: Any) -> Any:
        virtual = ids >= self.first
        plain = self.words(ids.clamp(max=self.first - 1))
        drawn = self.virtual[(ids - self.first).clamp(min=0)]
        return torch.where(virtual.unsqueeze(-1), drawn, plain)


class ScoreModel(torch.nn.Module):  # type: ignore[misc]
    """int64 (batch, length) a name of `shape.inputs` → float32 (batch,): helpfulness."""

    def __init__(self, encoder: Any, config: OrganiserConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.table = _Words(encoder.get_input_embeddings(), config.virtual_tokens)
        encoder.set_input_embeddings(self.table)
        self.head = torch.nn.Linear(encoder.config.hidden_size, 1)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.zeros_(self.head.bias)
        self.names = _inputs(encoder)
        self.shape = Shape(
            min(config.max_tokens, _positions(encoder)),
            config.virtual_tokens,
            self.table.first,
            int(encoder.config.pad_token_id or 0),
            self.names,
        )

    def forward(self, *arrays: Any) -> Any:
        given = dict(zip(self.names, arrays, strict=True))
        hidden = self.encoder(**given).last_hidden_state
        weights = given["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * weights).sum(1) / weights.sum(1)
        return self.head(pooled).squeeze(-1)

    def own(self) -> dict[str, Any]:
        """The encoder's parameters by their names in the encoder, without embeddings and pooler."""
        return {
            name: value
            for name, value in self.encoder.named_parameters()
            if not name.startswith(("pooler.", "embeddings."))
        }

    def merge(self) -> None:
        """One table of embeddings: a graph then needs a single look-up."""
        whole = torch.cat([self.table.words.weight.detach(), self.table.virtual.detach()])
        self.encoder.set_input_embeddings(torch.nn.Embedding.from_pretrained(whole))


def load_model(folder: Path, config: OrganiserConfig, *, eager: bool = False) -> ScoreModel:
    """A fresh one over the encoder in `folder`; seeds are the caller's. Raises ModelError."""
    disable_progress_bar()
    set_verbosity_error()  # of layers that are left out it would print a table
    try:
        known = AutoConfig.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
        if known.num_hidden_layers < config.layers:
            raise ValueError(f"it has {known.num_hidden_layers} layers, not {config.layers}")
        known.num_hidden_layers = config.layers
        encoder = AutoModel.from_pretrained(
            str(folder), config=known, local_files_only=True, trust_remote_code=False,
            use_safetensors=True, attn_implementation="eager" if eager else "sdpa",
        )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise ModelError(
            f"the encoder cannot be used: {shown(folder)}: {line}",
            hint="a folder of a Hugging Face encoder with safetensors and tokenizer.json",
        ) from error
    model = ScoreModel(encoder.float(), config)
    model.eval()
    return model


def load_trained(
    folder: Path, config: OrganiserConfig, arrays: Arrays, *, eager: bool = False
) -> ScoreModel:
    """As it was trained. Raises ModelError where the numbers do not fit the encoder."""
    model = load_model(folder, config, eager=eager)
    _set(model.table.virtual, arrays[VIRTUAL], VIRTUAL)
    _set(model.head.weight, arrays[HEAD], HEAD)
    _set(model.head.bias, arrays[BIAS], BIAS)
    for name, value in model.own().items():
        _set(value, changed(arrays, name, value.detach().numpy()), name)
    return model


def arrays_of(model: ScoreModel, original: dict[str, np.ndarray[Any, Any]]) -> Arrays:
    """What a folder keeps. original: the encoder's parameters before training, by name."""
    arrays: Arrays = {
        VIRTUAL: model.table.virtual.detach().numpy().astype(np.float16),
        HEAD: model.head.weight.detach().numpy().copy(),
        BIAS: model.head.bias.detach().numpy().copy(),
    }
    for name, value in model.own().items():
        arrays |= difference(name, value.detach().numpy(), original[name])
    return arrays


def _set(parameter: Any, value: np.ndarray[Any, Any], name: str) -> None:
    if tuple(parameter.shape) != value.shape:
        raise ModelError(f"the organizer does not fit its encoder: {name} has another shape")
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(value, np.float32)))


def _inputs(encoder: Any) -> tuple[str, ...]:
    """Those of `INPUTS` that the encoder takes."""
    types = int(getattr(encoder.config, "type_vocab_size", 0) or 0)
    return INPUTS if types > 1 else INPUTS[:2]


def _positions(encoder: Any) -> int:
    known = int(getattr(encoder.config, "max_position_embeddings", 0) or LONGEST)
    return known - 2 if encoder.config.model_type in _RESERVED else known
