"""Where other programs keep their models: Ollama, LM Studio, the Hugging Face libraries.

Only listings and small manifests are read. Folders that loop, are unreadable or enormous
cost nothing but their entries.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_MAX_DEPTH = 6
_MAX_ENTRIES = 20_000  # per root: a model folder holds tens
_MAX_MANIFEST = 1 << 20
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")


def huggingface_cache() -> Path:
    """The hub cache, by the variables the Hugging Face libraries read."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return expanded(os.path.expandvars(os.environ[name]))
    if os.environ.get("HF_HOME"):
        return expanded(os.path.expandvars(os.environ["HF_HOME"])) / "hub"
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return expanded(cache) / "huggingface" / "hub"


def ollama_roots() -> list[Path]:
    if os.environ.get("OLLAMA_MODELS"):
        return [expanded(os.path.expandvars(os.environ["OLLAMA_MODELS"]))]
    # the second: where the Linux service of Ollama's installer keeps them
    return [expanded("~/.ollama/models"), Path("/usr/share/ollama/.ollama/models")]


def lmstudio_roots() -> list[Path]:
    return [expanded("~/.lmstudio/models"), expanded("~/.cache/lm-studio/models")]


def ollama_models(root: Path) -> Iterator[tuple[str, Path]]:
    """(name, blob) of every model in an Ollama folder.

    Ollama keeps manifests/HOST/NAMESPACE…/MODEL/TAG, which name blobs by their digest.
    """
    manifests = root / "manifests"
    for manifest in walk(manifests):
        parts = manifest.relative_to(manifests).parts
        digest = _model_digest(manifest)
        if len(parts) < 4 or digest is None:
            continue
        host, *middle, model, tag = parts
        if host == "registry.ollama.ai":
            middle = [part for part in middle if part != "library"]
        else:
            middle = [host, *middle]
        yield "/".join([*middle, model]) + f":{tag}", root / "blobs" / f"sha256-{digest}"


def _model_digest(manifest: Path) -> str | None:
    try:
        if not manifest.is_file() or manifest.stat().st_size > _MAX_MANIFEST:
            return None
        layers = json.loads(manifest.read_bytes())["layers"]
        for layer in layers:
            if layer["mediaType"] == "application/vnd.ollama.image.model":
                match = _DIGEST.fullmatch(layer["digest"])
                return match[1] if match else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return None


def snapshots(cache: Path) -> Iterator[tuple[str, Path]]:
    """(repository, snapshot folder) of every model, the newest snapshot of each first."""
    for folder in _listed(cache):
        if not folder.name.startswith("models--"):
            continue
        repository = folder.name.removeprefix("models--").replace("--", "/")
        for snapshot in sorted(_listed(folder / "snapshots"), key=_age):
            yield repository, snapshot


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(islice(folder.iterdir(), _MAX_ENTRIES))
    except OSError:
        return []


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def walk(root: Path) -> Iterator[Path]:
    """Files below `root`, sorted; each real folder once, so that links may loop."""
    entries = 0
    visited: set[tuple[int, int]] = set()
    pending: list[tuple[Path, int]] = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            identity = folder.stat()
            with os.scandir(folder) as scan:
                listing = sorted(islice(scan, _MAX_ENTRIES), key=lambda entry: entry.name)
        except OSError:
            continue
        if (identity.st_dev, identity.st_ino) in visited:
            continue
        visited.add((identity.st_dev, identity.st_ino))
        folders: list[tuple[Path, int]] = []
        for entry in listing:
            entries += 1
            if entries > _MAX_ENTRIES:
                return
            if _is_folder(entry):
                folders.append((Path(entry.path), depth + 1))
            else:
                yield Path(entry.path)
        pending += reversed([item for item in folders if item[1] <= _MAX_DEPTH])


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def expanded(path: str) -> Path:
    """`~` and `~user` resolved, left as they are where there is no such home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
