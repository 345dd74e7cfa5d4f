"""What is wrong with a model file: found before it is loaded, or said by llama.cpp."""

from __future__ import annotations

from pathlib import Path

from ragcli.errors import ModelError
from ragcli.llm.gguf import read_info
from ragcli.paths import shown

_MOST_LAYERS = 512  # LLAMA_MAX_LAYERS; beyond it llama.cpp ends the process


def check_layers(path: Path) -> None:
    """Raises ModelError where llama.cpp would not: it ends the process on such a number."""
    try:
        layers = read_info(path, whole=False).layers
    except ModelError:
        return  # llama.cpp says better what is wrong with the header
    if layers is not None and not 0 < layers <= _MOST_LAYERS:
        raise load_error(path, f"it claims {layers} layers")


def load_error(path: Path, reason: str) -> ModelError:
    """What to say of a file that cannot be loaded. reason: llama.cpp's words, "" for none."""
    text = reason or "llama.cpp gave no reason"
    hint = "the file may be incomplete: download it again"
    if "unknown model architecture" in text:
        hint = "a newer llama-cpp-python may know this architecture"
    elif "alloc" in text or "memory" in text:
        hint = "the model does not fit in memory: use a smaller or more quantised one"
    return ModelError(f"cannot load {shown(path)}: {text}", hint=hint)
