"""A trained organiser as files: a small change of an encoder, its head, the placeholder's tokens.

`organiser.json` says what it is, `organiser.safetensors` holds the numbers; nothing in either is
run. A matrix of the encoder that training changed is kept as the difference from the encoder's
own, a byte a number with one scale a row; everything else as it is. The encoder itself is not in
the folder: it is the bundled one, or one that the user has, told by its content hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.encoders.files import BUNDLED_NAME, bundled_folder, content_hash
from ragcli.errors import ModelError
from ragcli.paths import shown

CONFIG, WEIGHTS = "organiser.json", "organiser.safetensors"
FORMAT = 1
NEEDED = ("config.json", "tokenizer.json", "model.safetensors")  # of an encoder
PRECISIONS = ("float32", "int8")
VIRTUAL, HEAD, BIAS = "virtual", "head.weight", "head.bias"
DELTA, SCALE, ADD = "delta.", "scale.", "add."
_MOST_CONFIG = 1 << 20  # bytes
_HINT = "`ragcli train organizer` makes one"

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Base:
    """The encoder that an organiser changes. path: where it lay, empty for the bundled one."""

    name: str
    sha256: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class OrganiserConfig:
    """What `organiser.json` holds.

    virtual_tokens: m of paper 002, eq. 5. max_tokens: word pieces read of question and sentence.
    layers: of the encoder, from the first. titled: whether sentences are read under their
    document's title. precision: of the exported graph. training: how it was made, for people.
    """

    name: str
    base: Base
    virtual_tokens: int = 50
    max_tokens: int = 192
    layers: int = 6
    titled: bool = True
    precision: str = "int8"
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OrganiserIdentity:
    """Which organiser ordered sentences: the hash is of both files."""

    name: str
    sha256: str
    config: OrganiserConfig


def read_organiser(folder: Path) -> OrganiserIdentity:
    """What the folder holds; the numbers are hashed, not loaded. Raises ModelError."""
    config = _config(folder)
    digest = hashlib.sha256()
    for name in (CONFIG, WEIGHTS):
        try:
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise ModelError(
                f"the organizer has no {name}: {shown(folder)} ({error.strerror})", hint=_HINT
            ) from error
    return OrganiserIdentity(config.name, digest.hexdigest(), config)


def base_folder(base: Base) -> Path:
    """Where the encoder lies. Raises ModelError if it is not there or another one."""
    if base.name == BUNDLED_NAME and not base.path:
        folder = bundled_folder()
    else:
        folder = Path(base.path)
        if not all((folder / name).is_file() for name in NEEDED):
            raise ModelError(
                f"the organizer's encoder is not there: {shown(base.path)} ({shown(base.name)})",
                hint="an organizer holds only what training changed of it",
            )
    if content_hash(folder) != base.sha256:
        raise ModelError(
            f"the organizer was trained on another encoder than {shown(folder)}",
            hint=f"it needs {shown(base.name)} with the content hash {base.sha256[:12]}…",
        )
    return folder


def read_arrays(folder: Path) -> Arrays:
    """The numbers by name. Raises ModelError."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays: Arrays = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise ModelError(
            f"the organizer's numbers cannot be read: {shown(folder / WEIGHTS)}", hint=_HINT
        ) from error
    for name in (VIRTUAL, HEAD, BIAS):
        if name not in arrays:
            raise ModelError(f"the organizer lacks {name}: {shown(folder)}", hint=_HINT)
    return arrays


def write_organiser(folder: Path, config: OrganiserConfig, arrays: Arrays) -> None:
    """Both files, each replaced in one step; the folder is made."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    document = {"format": FORMAT, **asdict(config)}
    for name, content in (
        (WEIGHTS, save(arrays)),
        (CONFIG, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()),
    ):
        part = folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)


def difference(name: str, new: NDArray[np.float32], old: NDArray[np.float32]) -> Arrays:
    """What to keep of a changed parameter: nothing, a byte a number, or the numbers."""
    change = new.astype(np.float32) - old
    if not change.any():
        return {}
    if change.ndim != 2:
        return {f"{ADD}{name}": change}
    scale = np.abs(change).max(axis=1) / 127
    safe = np.where(scale > 0, scale, 1)
    steps = np.rint(change / safe[:, None]).astype(np.int8)
    return {f"{DELTA}{name}": steps, f"{SCALE}{name}": scale.astype(np.float32)}


def changed(arrays: Arrays, name: str, old: NDArray[np.float32]) -> NDArray[np.float32]:
    """The parameter as training left it. Raises ModelError where the shapes do not fit."""
    add, steps, scale = (arrays.get(f"{kind}{name}") for kind in (ADD, DELTA, SCALE))
    if steps is not None and scale is not None and len(scale) == len(steps):
        add = steps.astype(np.float32) * scale[:, None]
    if add is None:
        return old
    if add.shape != old.shape:
        raise ModelError(f"the organizer does not fit its encoder: {name} has another shape")
    return np.asarray(old + add, np.float32)


def _config(folder: Path) -> OrganiserConfig:
    try:
        with (folder / CONFIG).open("rb") as file:
            raw = file.read(_MOST_CONFIG + 1)
        if len(raw) > _MOST_CONFIG:
            raise ValueError("too large")
        values = json.loads(raw)
        if values.pop("format") != FORMAT:
            raise ValueError("of another version")
        config = OrganiserConfig(**{**values, "base": Base(**values["base"])})
        _check(config)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelError(f"not an organizer: {shown(folder)}", hint=_HINT) from error
    return config


def _check(config: OrganiserConfig) -> None:
    """Raises ValueError for values of a wrong type or out of range."""
    texts = (config.name, config.base.name, config.base.sha256, config.base.path)
    ranges = (
        (config.virtual_tokens, 1, 512),
        (config.max_tokens, 16, 8192),
        (config.layers, 1, 96),
    )
    if not all(isinstance(text, str) for text in texts) or not isinstance(config.titled, bool):
        raise ValueError("a value of another type")
    if not all(type(n) is int and low <= n <= high for n, low, high in ranges):
        raise ValueError("a number out of range")
    if config.precision not in PRECISIONS or not isinstance(config.training, Mapping):
        raise ValueError("an unknown precision")
    if config.virtual_tokens + 16 > config.max_tokens:
        raise ValueError("no room for a question")
