"""What `ragcli doctor` looks at. Each check ends in findings and never in an exception of ours."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from ragcli import __version__
from ragcli.cli import config as configuration
from ragcli.cli import engine
from ragcli.cli.config import Config
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, RagcliError
from ragcli.paths import shown, user_cache_dir

# Package → what it is here for.
PACKAGES = {
    "llama-cpp-python": "the generator",
    "onnxruntime": "the encoder",
    "tokenizers": "the encoder",
    "faiss-cpu": "dense search",
    "tantivy": "lexical search",
    "numpy": "everything",
    "sentence-transformers": "preparing an encoder",
    "torch": "preparing an encoder",
    "huggingface-hub": "`models pull`",
}
LITTLE_DISK = 1_000_000_000  # bytes
_COMPILERS = ("c++", "g++", "clang++")


class State(StrEnum):
    """How a finding is meant: fine, worth knowing, or in the way."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. remedy: what to do about it. exit_code: 0 where nothing is broken."""

    group: str
    name: str
    state: State
    value: str
    remedy: str = ""
    exit_code: int = 0


def ok(group: str, name: str, value: str) -> Finding:
    return Finding(group, name, State.OK, value)


def note(group: str, name: str, value: str, remedy: str = "") -> Finding:
    return Finding(group, name, State.NOTE, value, remedy)


def problem(group: str, name: str, error: RagcliError, remedy: str = "") -> Finding:
    """remedy: where the error itself has no hint."""
    code = int(error.exit_code)
    return Finding(group, name, State.PROBLEM, error.message, error.hint or remedy, code)


def examine(env: Environment, *, index: Path | None, deep: bool) -> Iterator[Finding]:
    """All findings, in the order of the report. deep: models are loaded, the index read."""
    from ragcli.cli import index_checks, model_checks

    yield from versions()
    yield from building()
    yield from settings(env)
    config = in_force(env, index)
    yield from machine(config)
    yield from model_checks.models(config, deep=deep)
    yield from index_checks.index(config, deep=deep)


def versions() -> Iterator[Finding]:
    """Of ragcli, Python and the packages that do the work; none of them is imported."""
    yield ok("versions", "ragcli", __version__)
    python = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    yield ok("versions", "python", python)
    for package, purpose in PACKAGES.items():
        try:
            yield ok("versions", package, metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Finding(
                "versions", package, State.PROBLEM, f"not installed; {purpose} needs it",
                f"pip install {package}", int(ExitCode.MODEL),
            )  # fmt: skip


def building() -> Iterator[Finding]:
    """Tools that only an installation of llama-cpp-python from source needs."""
    remedy = (
        "only needed to build llama-cpp-python from source, as pip does where there is no wheel"
    )
    chosen = os.environ.get("CXX", "")
    compiler = next((c for c in (chosen, *_COMPILERS) if c and shutil.which(c)), None)
    for name, found in (("C++ compiler", compiler), ("CMake", shutil.which("cmake"))):
        if found is None:
            yield note("building", name, "not found", remedy)
        else:
            yield ok("building", name, shown(shutil.which(found) or found))


def settings(env: Environment) -> Iterator[Finding]:
    """Configuration files, and variables that look like settings and are none."""
    from ragcli.cli.config_command import unknown_variables

    file = configuration.user_file()
    try:
        config = configuration.load(env)
    except RagcliError as error:
        yield problem("configuration", "settings", error, "correct it where it is set")
    else:
        chosen = [one.origin for one in config.settings.values()]
        yield ok("configuration", "settings", f"{len(chosen)} changed" if chosen else "defaults")
    yield ok("configuration", "file", shown(file) + ("" if file.is_file() else " (none)"))
    for name in unknown_variables(env.environ):
        yield note(
            "configuration", name, "not a setting of ragcli", "`ragcli config` lists the settings"
        )


def in_force(env: Environment, index: Path | None) -> Config:
    """The configuration, or the defaults where it is broken (`settings` says so)."""
    try:
        return configuration.load(env, {"index": index})
    except RagcliError:
        given = {} if index is None else {"index": configuration.Setting(index, "command line")}
        return Config(given, {})


def machine(config: Config) -> Iterator[Finding]:
    """Cores, memory, disk, GPU."""
    yield from _engine(config)
    total, free = memory()
    if total:
        known = f", {_gigabytes(free)} free" if free else ""
        yield ok("machine", "memory", f"{_gigabytes(total)}{known}")
    cache = user_cache_dir()
    room = shutil.disk_usage(existing(cache)).free
    value = f"{_gigabytes(room)} free at {shown(cache)}"
    if room < LITTLE_DISK:
        yield note("machine", "disk", value, "make room, or set RAGCLI_CACHE_DIR to a larger disk")
    else:
        yield ok("machine", "disk", value)


def _engine(config: Config) -> Iterator[Finding]:
    try:
        from ragcli.llm.llama import C, default_threads
    except (ImportError, OSError, RuntimeError) as error:
        yield Finding(
            "machine", "engine", State.PROBLEM, f"llama.cpp cannot be loaded: {error}",
            "pip install --force-reinstall llama-cpp-python", int(ExitCode.MODEL),
        )  # fmt: skip
        return
    threads = engine.threads(config) or default_threads()
    yield ok("machine", "threads", f"{threads} used, {os.cpu_count() or 1} cores")
    if C.llama_supports_gpu_offload():
        yield ok("machine", "GPU offload", "supported by this build of llama.cpp")
    else:
        yield note(
            "machine", "GPU offload", "not supported by this build of llama.cpp",
            "for a GPU: CMAKE_ARGS=-DGGML_CUDA=on (or GGML_METAL, GGML_VULKAN) "
            "pip install --force-reinstall --no-cache-dir llama-cpp-python",
        )  # fmt: skip


def memory() -> tuple[int, int]:
    """(bytes in all, bytes available); 0 where the system does not say."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total = page * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0, 0
    try:
        lines = Path("/proc/meminfo").read_text("ascii", "replace").splitlines()
    except OSError:  # not Linux
        return total, 0
    available = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")
    return total, int(available) * 1024


def existing(path: Path) -> Path:
    """The nearest folder at or above `path` that is there."""
    return next((p for p in (path, *path.absolute().parents) if p.is_dir()), Path(os.sep))


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
