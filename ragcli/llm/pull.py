"""`models pull`: bring a model into ragcli's own folder, from the hub or from a file.

Store: `models_dir()/OWNER/NAME/FILE.gguf`, local files under `local/`. A download grows
in `.FILE.KEY.part`, KEY from the hash that is expected, so that a later run continues exactly
that file. It stays when the connection or the disk's space ends, and is removed when
its hash is wrong. Only a verified GGUF gets its final name.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import ModelError, UsageError
from ragcli.llm import hub
from ragcli.llm.caches import expanded
from ragcli.llm.discover import ModelRef, generator_ref, model_name, models_dir, shards
from ragcli.llm.gguf import read_info
from ragcli.llm.hub import HubFile
from ragcli.llm.store import Partial, digest_of, human_size, is_file, link_or_copy, space_for
from ragcli.paths import shown

Progress = Callable[[int, int], None]  # bytes here, bytes expected (0: unknown)

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Pull:
    """What to fetch: the files of one model (several if it is split), and where they go."""

    files: tuple[HubFile, ...]
    targets: tuple[Path, ...]

    @property
    def name(self) -> str:
        return model_name(self.targets[0])

    @property
    def size(self) -> int:
        return sum(file.size or 0 for file in self.files)


def is_local(spec: str) -> bool:
    """Whether `spec` means a file here rather than a repository of the hub."""
    pathlike = spec.startswith((os.sep, f".{os.sep}", f"..{os.sep}", "~"))
    return pathlike or is_file(Path(spec))


def plan(spec: str, *, file: str = "", sha256: str = "", revision: str | None = None) -> Pull:
    """Ask the hub what `spec`, OWNER/NAME or OWNER/NAME:FILE, holds, and choose one model.

    file: a file name or a part of one that only one model has, such as "q4_k_m".
    Raises UsageError (nothing or several match: they are listed), ModelError (hub, hash).
    """
    repository, _, inside = spec.partition(":")
    if file and inside and file != inside:
        raise UsageError(f"two files named: {shown(inside)} and {shown(file)}", hint="name one")
    models = _by_model(hub.gguf_files(repository, revision))
    if not models:
        raise ModelError(
            f"no GGUF file in {shown(repository)}", hint="look for a repository ending in -GGUF"
        )
    files = models[_choose(repository, models, file or inside)]
    if sha256:
        files = [_with_hash(files, sha256)]
    folder = models_dir().joinpath(*repository.split("/"))
    return Pull(tuple(files), tuple(folder.joinpath(*f.name.split("/")) for f in files))


def fetch(pull: Pull, progress: Progress, *, waits: Sequence[float] = hub.WAITS) -> ModelRef:
    """Download what is missing of `pull`, verify it, and give the model its name.

    Raises ModelError: no space, connection lost (run again to continue), wrong hash, no GGUF.
    """
    with _store(pull.targets[0].parent):
        partials = [_partial_path(f, t) for f, t in zip(pull.files, pull.targets, strict=True)]
        _check_space(pull, partials)
        done = 0
        for file, target, part in zip(pull.files, pull.targets, partials, strict=True):
            _fetch_one(file, target, part, _from(done, pull.size, progress), waits)
            done += target.stat().st_size
    return _finished(pull.targets[0])


def adopt(path: Path, *, sha256: str = "") -> ModelRef:
    """Put a GGUF of this machine into the store: linked where possible, else copied.

    Raises ModelError (not a GGUF, a part missing, wrong hash, no space).
    """
    source = expanded(str(path))
    if not is_file(source):
        raise ModelError(f"no such model file: {shown(path)}", hint="give the path of a GGUF file")
    read_info(source)
    files = shards(source)
    if not files:
        raise ModelError(f"files of the split model {shown(path)} are missing", hint="get them all")
    if sha256 and digest_of(source) != _checked_hash(sha256):
        raise ModelError(f"{shown(path)} has another SHA-256 than given", hint="nothing was stored")
    folder = models_dir() / "local"
    with _store(folder):
        for file in files:
            link_or_copy(file.resolve(), folder / file.name)
    return _finished(folder / source.name)


def _from(start: int, total: int, progress: Progress) -> Callable[[int], None]:
    """Progress of one file as progress of all."""
    return lambda here: progress(start + here, total)


def _by_model(files: Sequence[HubFile]) -> dict[str, list[HubFile]]:
    """Files grouped by model: the parts of a split one together, in order."""
    models: dict[str, list[HubFile]] = {}
    for file in files:
        folder, _, name = file.name.rpartition("/")
        if not name.startswith("mmproj"):
            models.setdefault(f"{folder}/{model_name(Path(name))}".lstrip("/"), []).append(file)
    return models


def _choose(repository: str, models: dict[str, list[HubFile]], wanted: str) -> str:
    folded = wanted.casefold()
    exact = [m for m, files in models.items() if wanted in (m, *(file.name for file in files))]
    matching = exact or [m for m in models if folded in m.casefold()]
    if len(matching) == 1:
        return matching[0]
    listed = ", ".join(_listed(m, models[m]) for m in (matching or models))
    problem = "holds several models" if matching else f"has no file {shown(wanted)} but"
    name = (matching or list(models))[0]
    raise UsageError(
        f"{shown(repository)} {problem}: {listed}",
        hint=f"choose one: ragcli models pull {shown(repository)}:{shown(name)}",
    )


def _listed(model: str, files: Sequence[HubFile]) -> str:
    size = sum(file.size or 0 for file in files)
    parts = f", {len(files)} files" if len(files) > 1 else ""
    return f"{shown(model)} ({human_size(size)}{parts})"


def _with_hash(files: Sequence[HubFile], sha256: str) -> HubFile:
    wanted = _checked_hash(sha256)
    if len(files) > 1:
        raise UsageError("--sha256 goes with a model of one file", hint="leave it out")
    file = files[0]
    if file.sha256 and file.sha256 != wanted:
        raise ModelError(
            f"{shown(file.name)} has SHA-256 {file.sha256} on the hub, not the one given",
            hint="nothing was fetched; compare with the publisher's",
        )
    return HubFile(file.repository, file.revision, file.name, file.size, wanted)


def _checked_hash(sha256: str) -> str:
    if not _SHA256.fullmatch(sha256):
        raise UsageError("--sha256 wants 64 hexadecimal digits", hint="as sha256sum prints them")
    return sha256.lower()


@contextmanager
def _store(folder: Path) -> Iterator[None]:
    """The folder, made and held: one pull at a time writes into it."""
    from filelock import FileLock, Timeout

    with space_for(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise ModelError(
            f"another process is fetching into {shown(folder)}", hint="wait for it to end"
        ) from error


def _partial_path(file: HubFile, target: Path) -> Path:
    key = hashlib.sha256((file.sha256 or file.revision).encode("utf-8", "replace")).hexdigest()
    return target.with_name(f".{target.name}.{key[:16]}.part")


def _check_space(pull: Pull, partials: Sequence[Path]) -> None:
    missing = [
        (file.size or 0) - _size(part)
        for file, target, part in zip(pull.files, pull.targets, partials, strict=True)
        if _size(target) != file.size
    ]
    needed, folder = sum(missing), pull.targets[0].parent
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ModelError(
            f"not enough space: {human_size(needed)} needed, {human_size(free)} free in {shown(folder)}",
            hint="make room, or set RAGCLI_CACHE_DIR to a larger disk",
        )


def _fetch_one(
    file: HubFile,
    target: Path,
    part: Path,
    progress: Callable[[int], None],
    waits: Sequence[float],
) -> None:
    if _is_there(file, target):
        progress(target.stat().st_size)
        return
    with space_for(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    if not file.sha256:  # nothing could tell a stale beginning from a good one
        part.unlink(missing_ok=True)
    with Partial(part, progress) as partial:
        hub.fetch(file, partial, waits=waits)
        digest = partial.digest()
    if file.sha256 and digest != file.sha256:
        part.unlink()
        raise ModelError(
            f"{shown(file.name)} arrived damaged: SHA-256 {digest} instead of {file.sha256}",
            hint="it was removed; run the command again",
        )
    try:
        read_info(part)
    except ModelError:
        part.unlink()
        raise
    part.replace(target)


def _is_there(file: HubFile, target: Path) -> bool:
    if file.size is None or _size(target) != file.size:
        return False
    return not file.sha256 or digest_of(target) == file.sha256


def _finished(path: Path) -> ModelRef:
    ref = generator_ref(path, "pulled")
    if ref is None:
        raise ModelError(f"not a usable model: {shown(path)}", hint="fetch it again")
    return ref


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
