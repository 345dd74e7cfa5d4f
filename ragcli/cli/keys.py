"""The settings there are: their types, and who may set them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragcli.cli.environment import Color

MODES = ("hybrid", "lexical", "dense")  # `types.SearchMode`, without importing it for --help
PRECISIONS = ("exact", "int8")  # of `encoders.base`, likewise


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return value


def _path(value: object) -> Path:
    return value if isinstance(value, Path) else Path(_text(value)).expanduser()


def _integer(low: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        wanted = f"an integer of at least {low}"
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError(wanted)
        try:
            number = int(value)
        except ValueError:
            raise ValueError(wanted) from None
        if number < low:
            raise ValueError(wanted)
        return number

    return read


def _one_of(choices: Iterable[str]) -> Callable[[object], str]:
    allowed = tuple(choices)

    def read(value: object) -> str:
        if value not in allowed:
            raise ValueError(" or ".join(allowed))
        return str(value)

    return read


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `project`: may the index's own configuration set it?"""

    read: Callable[[object], Any]
    help: str
    project: bool = False
    default: Any = None
    unset: str = ""  # what holds where there is no default, for people


KEYS: dict[str, Key] = {
    "index": Key(_path, "folder of the index", unset=".ragcli here or above"),
    "model": Key(_text, "generator: a GGUF file or the name of one", unset="bundled"),
    "adapter": Key(_path, "trained analyzer: a LoRA in GGUF form", unset="none"),
    "organizer": Key(_path, "trained organizer of `ko-rag`: a folder", unset="bundled"),
    "encoder": Key(_text, "encoder: a folder or a name", unset="bundled"),
    "encoder_precision": Key(
        _one_of(PRECISIONS),
        "of an index's vectors: exact or int8",
        unset="the index's own; exact for a new one",
    ),
    "threads": Key(_integer(1), "CPU threads", unset="all CPUs"),
    "ctx": Key(_integer(256), "context size in tokens", unset="the model's own"),
    "gpu_layers": Key(
        _integer(-1), "layers on the GPU, -1 for all", unset="all, where there is one"
    ),
    "verifier": Key(_text, "judge of support: lexical, llm or nli:PATH", default="lexical"),
    "color": Key(_one_of(Color), "auto, always or never", default=Color.AUTO),
    "k": Key(_integer(1), "hits of a search", project=True, default=10),
    "mode": Key(_one_of(MODES), "hybrid, lexical or dense", project=True, default="hybrid"),
    "method": Key(_text, "method of `ask`", project=True, default="fke"),
    "base": Key(_text, "base pipeline of `ask`", project=True, unset="the method's own"),
    "select": Key(_text, "selector of `ask`", project=True, unset="the method's own"),
    "decode": Key(_text, "decoder of `ask`", project=True, unset="the method's own"),
    "max_tokens": Key(_integer(1), "longest answer in tokens", project=True),
    "seed": Key(_integer(0), "seed of random choices", project=True),
}
ALIASES = {"max_tokens": "sampling.max_tokens", "seed": "sampling.seed"}
# Not settings, but RAGCLI_ variables all the same.
OTHER_VARIABLES = frozenset({"RAGCLI_CONFIG_DIR", "RAGCLI_CACHE_DIR", "RAGCLI_DEBUG", "RAGCLI_SET"})
