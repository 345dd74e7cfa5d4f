"""The models on this machine as the configuration in force sees them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragcli.cli.config import Config
from ragcli.errors import RagcliError
from ragcli.llm.caches import expanded
from ragcli.llm.discover import ModelRef, discover, discover_encoders, encoder_at
from ragcli.llm.registry import BUNDLED, is_path, match_name, resolve_model

Found = list[tuple[ModelRef, bool]]  # a model, and whether it is the one in use


def everything(config: Config) -> Found:
    """Generators, then encoders; what the configuration names is among them and marked."""
    generator = _quietly(config["model"])
    models = discover()
    if generator is not None and not any(_same(ref, generator) for ref in models):
        models.insert(0, generator)
    encoders = discover_encoders(_folder(config["encoder"]))
    chosen = _encoder_in_use(config, encoders)
    return [(ref, generator is not None and _same(ref, generator)) for ref in models] + [
        (ref, ref is chosen) for ref in encoders
    ]


def one(name: str, config: Config) -> tuple[ModelRef, bool]:
    """The generator or encoder that `name` means. Raises ModelError, UsageError."""
    found = everything(config)
    encoder = encoder_at(expanded(name))
    if encoder is not None:
        ref = encoder
    elif name == BUNDLED or is_path(name):
        ref = resolve_model(name)
    else:
        ref = match_name(name, [ref for ref, _ in found])
    return ref, any(current and _same(ref, other) for other, current in found)


def setting(ref: ModelRef) -> str:
    """What the configuration holds for a model: its name where that will find it again."""
    return str(ref.path.absolute()) if ref.source in ("path", "configured") else ref.name


def problems(config: Config, found: Found) -> list[str]:
    """What keeps the models in force from being used, a line each."""
    lines = []
    try:
        resolve_model(None, configured=config["model"])
    except RagcliError as error:
        lines.append(f"{error.message} ({error.hint})")
    if not any(current for ref, current in found if ref.kind == "encoder"):
        lines.append("no encoder to index and search with (pip install 'ragcli[bundled]')")
    return lines


def _quietly(spec: str | None) -> ModelRef | None:
    """The generator in force, None if it is missing: `problems` says why."""
    try:
        return resolve_model(None, configured=spec)
    except RagcliError:
        return None


def _encoder_in_use(config: Config, encoders: Sequence[ModelRef]) -> ModelRef | None:
    spec = config["encoder"]
    folder = _folder(spec)
    for ref in encoders:
        if ref.source == "bundled" if spec is None else spec.casefold() == ref.name.casefold():
            return ref
        if folder is not None and folder.is_dir() and ref.path.samefile(folder):
            return ref
    return None


def _folder(spec: str | None) -> Path | None:
    return None if spec is None else expanded(spec)


def _same(one: ModelRef, other: ModelRef) -> bool:
    return one.path == other.path or one.path.samefile(other.path)
