"""From what a person types after `--model` to a file on disk."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragcli.errors import ModelError, UsageError
from ragcli.llm.caches import expanded
from ragcli.llm.discover import ModelRef, bundled_generator, discover, generator_ref, shards
from ragcli.llm.gguf import GgufInfo, read_info
from ragcli.llm.store import is_file
from ragcli.paths import shown

__all__ = ["ModelRef", "describe", "discover", "match_name", "resolve_model"]

GET_ONE = "pip install 'ragcli[bundled]', or give a GGUF file with --model PATH"
BUNDLED = "bundled"


def resolve_model(spec: str | None, *, configured: str | None = None) -> ModelRef:
    """The generator that `spec` names: a path, a name, or the beginning of one name.

    Without `spec`, `configured` (the user's setting), else the bundled one; the word
    "bundled" names that one too. Nothing is loaded.

    Raises ModelError where there is no such model, UsageError where several match.
    """
    if spec is not None:
        return _resolve(spec)
    if configured is None:
        return _bundled()
    try:
        return replace(_resolve(configured), source="configured")
    except ModelError as error:
        hint = f"`ragcli models use NAME` changes the setting; {error.hint}"
        raise ModelError(f"the configured model: {error.message}", hint=hint) from error


def describe(ref: ModelRef) -> GgufInfo:
    """The model's own header, weights counted over all its files. Raises ModelError."""
    first, *others = [read_info(path) for path in shards(ref.path) or [ref.path]]
    if not others:
        return first
    counts = [info.parameters or 0 for info in (first, *others)]
    return replace(first, parameters=sum(counts))


def match_name(name: str, models: Sequence[ModelRef]) -> ModelRef:
    """The model called `name`: exactly, else whatever its case, else by a unique beginning.

    Raises ModelError (none; the nearest name is suggested) or UsageError (several).
    """
    if not name.strip():
        raise UsageError("the name of the model is empty", hint="`ragcli models` lists the names")
    folded = name.casefold()
    for wanted in (name, f"{name}:latest"):  # Ollama's own rule for a missing tag
        for model in models:
            if model.name == wanted:
                return model
    same = [model for model in models if model.name.casefold() == folded]
    starts = same or [model for model in models if model.name.casefold().startswith(folded)]
    if len(starts) == 1:
        return starts[0]
    if starts:
        listed = ", ".join(shown(model.name) for model in starts[:8])
        raise UsageError(
            f"several models are called {shown(name)}…: {listed}", hint="give more of the name"
        )
    names = {model.name.casefold(): model.name for model in models}
    near = difflib.get_close_matches(folded, names, n=1, cutoff=0.5)
    suggestion = f"did you mean {shown(names[near[0]])}? " if near else ""
    raise ModelError(
        f"no model called {shown(name)}",
        hint=f"{suggestion}`ragcli models` lists what is here, `ragcli models pull` fetches more",
    )


def is_path(spec: str) -> bool:
    """Whether `spec` means a file: it is written as a path, or there is such a file here."""
    begins = spec.startswith((os.sep, f".{os.sep}", f"..{os.sep}", "~"))
    return begins or spec.lower().endswith(".gguf") or is_file(Path(spec))


def _resolve(spec: str) -> ModelRef:
    if is_path(spec):
        return _at(expanded(spec))
    return _bundled() if spec == BUNDLED else match_name(spec, discover())


def _at(path: Path) -> ModelRef:
    """The model at a path; a folder will do if it holds one GGUF."""
    if not os.path.lexists(path):
        raise ModelError(f"no such model file: {shown(path)}", hint=GET_ONE)
    if path.is_dir():
        inside = [ref for file in sorted(path.glob("*.gguf")) if (ref := _model_in(file))]
        if len(inside) == 1:
            return inside[0]
        found = ", ".join(shown(ref.path.name) for ref in inside[:8]) or "none"
        raise ModelError(
            f"{shown(path)} is a folder; GGUF models in it: {found}", hint="name one GGUF file"
        )
    ref = generator_ref(path, "path")
    if ref is not None:
        return ref
    if not shards(path):
        raise ModelError(
            f"{shown(path)} is one file of a split model, and others are missing or damaged",
            hint="put all its files in one folder and name the first",
        )
    read_info(path)  # says what is wrong with it
    raise ModelError(f"not a GGUF model: {shown(path)}", hint=GET_ONE)


def _model_in(path: Path) -> ModelRef | None:
    if "-of-" in path.stem and "-00001-of-" not in path.stem:
        return None
    return generator_ref(path, "path")


def _bundled() -> ModelRef:
    model = bundled_generator()
    if model is not None:
        return model
    raise ModelError(
        "there is no model to answer with: none is bundled or configured", hint=GET_ONE
    )
