"""Low-rank changes of a causal language model (LoRA). The only import of transformers here.

Torch is imported as well. A change is b @ a, b starting at 0, beside a matrix that stays as it
is; a module of one's own, since a training library for so little would be slow to import.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from ragcli.errors import ModelError
from ragcli.llm.gguf import read_info
from ragcli.paths import shown
from ragcli.train.adapter import Array, Places, places
from ragcli.train.instructions import Instruction
from ragcli.train.tuned import Tuned


class Lora(Tuned):
    """A base under a change that is trained; see `open_lora`."""

    def __init__(self, base: Any, where: Places, rank: int, alpha: float, seed: int) -> None:
        self.where, self.alpha = where, alpha
        self._model = base.requires_grad_(False).eval()
        generator = torch.Generator().manual_seed(seed)
        self._layers = {
            name: _adapt(self._model, name, rank, alpha / rank, generator) for name in where.of
        }
        parameters = {
            f"{name}.{part}": getattr(layer, part)
            for name, layer in self._layers.items()
            for part in ("a", "b")
        }
        super().__init__((parameters, 1.0))

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(value.numel() for value in self._trained.values())

    def logits(self, tokens: Sequence[int], at: Sequence[int]) -> Any:
        """(n, vocabulary): what follows the tokens at these places; can be differentiated."""
        device = next(self._model.parameters()).device
        found = self._model(
            torch.tensor([list(tokens)], device=device),
            logits_to_keep=torch.tensor(list(at), device=device),
            use_cache=False,
        )
        return found.logits[0]

    def loss(self, one: Instruction) -> Any:
        """Cross-entropy of the tokens that are learnt, given what is before them (eq. 9)."""
        # nothing is asked of what follows the last of them
        logits = self.logits(one.tokens[: one.learnt[-1]], [at - 1 for at in one.learnt])
        wanted = torch.tensor([one.tokens[at] for at in one.learnt], device=logits.device)
        return torch.nn.functional.cross_entropy(logits.float(), wanted)

    def value(self, one: Instruction) -> float:
        """The same as a number."""
        with torch.no_grad():
            return float(self.loss(one))

    def changes(self) -> dict[str, tuple[Array, Array]]:
        """a (rank, in) and b (out, rank) by the matrix's name."""
        return {
            name: (_numbers(layer.a), _numbers(layer.b)) for name, layer in self._layers.items()
        }


def open_lora(
    base: Path, model: Path, rank: int, alpha: float, *, seed: int = 0, threads: int | None = None
) -> Lora:
    """A base with a change that does nothing yet. model: the GGUF that it will be used with.

    base: a folder of a Hugging Face model, or a GGUF. Raises ModelError.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    loaded = _load(base)
    embedding = loaded.get_input_embeddings()
    names = {module: name for name, module in loaded.named_modules()}
    linear = {
        name: module
        for name, module in loaded.named_modules()
        if isinstance(module, torch.nn.Linear) or module is embedding
    }
    rows = {name: _rows(module) for name, module in linear.items()}
    where = places(model, rows, names[embedding])
    return Lora(loaded, where, rank, alpha, seed)


class _Changed(torch.nn.Module):  # type: ignore[misc]
    """A linear layer and its change: W x + scale · b a x."""

    def __init__(self, inner: Any, rank: int, scale: float, generator: Any) -> None:
        super().__init__()
        self.inner, self.scale = inner, scale
        bound = inner.in_features**-0.5
        drawn = torch.rand(rank, inner.in_features, generator=generator)
        like = {"device": inner.weight.device, "dtype": torch.float32}
        self.a = torch.nn.Parameter(((2 * drawn - 1) * bound).to(**like))
        self.b = torch.nn.Parameter(torch.zeros(inner.out_features, rank, **like))

    def forward(self, x: Any) -> Any:
        change = torch.nn.functional.linear(torch.nn.functional.linear(x, self.a), self.b)
        return self.inner(x) + self.scale * change


def _adapt(model: Any, name: str, rank: int, scale: float, generator: Any) -> _Changed:
    parent, _, last = name.rpartition(".")
    holder = model.get_submodule(parent)
    changed = _Changed(getattr(holder, last), rank, scale, generator)
    setattr(holder, last, changed)
    return changed


def _load(base: Path) -> Any:
    """The model in float32, on the GPU where there is one. Raises ModelError."""
    if base.is_file():
        read_info(base)  # says what is wrong with a file that is none
    named: Mapping[str, Any] = {"gguf_file": base.name} if base.is_file() else {}
    folder = base.parent if base.is_file() else base
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # bars that nobody asked for
            model, told = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder), local_files_only=True, dtype=torch.float32, output_loading_info=True,
                **named,
            )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"cannot train on {shown(base)}: {reason}",
            hint="--base takes the folder of a Hugging Face causal model, or a GGUF",
        ) from error
    if told["missing_keys"] or told["mismatched_keys"]:
        raise ModelError(
            f"cannot train on {shown(base)}: it lacks weights", hint="fetch the model again"
        )
    return model.to("cuda") if torch.cuda.is_available() else model


def _rows(module: Any) -> Any:
    def first(count: int) -> NDArray[np.float32]:
        return _numbers(module.weight[:count])

    return first


def _numbers(value: Any) -> Array:
    return np.array(value.detach().float().cpu().numpy(), np.float32)
