"""The only import of llama_cpp: the C module, its log, and a loaded model file.

`C` is llama-cpp-python's low-level module; siblings that call it take it from here.
Callbacks handed to C live as long as this module: a collected one crashes the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Where llama.cpp gives up it would start a debugger for a trace of the stack.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")

import llama_cpp  # reads the variable

from ragcli.errors import ModelError
from ragcli.llm.fingerprint import check_gguf
from ragcli.llm.interrupt import Pending, held_back
from ragcli.llm.loading import check_layers, load_error
from ragcli.paths import shown, user_cache_dir

if TYPE_CHECKING:
    from ragcli.llm.generator import LlamaGenerator

C: Any = llama_cpp.llama_cpp

__all__ = ["C", "Model", "default_threads", "log", "open_generator", "shared_library"]

_ALL_LAYERS = 999
_ERROR, _CONTINUED = 4, 5  # enum ggml_log_level
_ADAPTER_HINT = "an adapter is a LoRA in GGUF form, trained on this very model"


class _Log:
    """Where llama.cpp's log lines go: kept for error messages, shown only when verbose."""

    def __init__(self) -> None:
        self.verbose = False
        self._errors: deque[str] = deque(maxlen=20)
        self._level = 0

    def write(self, level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", "replace")
        self._level = self._level if level == _CONTINUED else level
        if self._level == _ERROR and line.strip():
            self._errors.append(line.strip())
        if self.verbose:
            sys.stderr.write(line)

    def forget(self) -> None:
        self._errors.clear()

    def first_error(self) -> str:
        """The first error since `forget`, without the C function's name; it names the cause."""
        line = self._errors[0] if self._errors else ""
        head, colon, tail = line.partition(": ")
        cause = tail if colon and " " not in head else line
        return cause.removeprefix("error loading model: ")


log = _Log()
_log_callback = C.llama_log_callback(log.write)
C.llama_log_set(_log_callback, ctypes.c_void_p(0))
with held_back(Pending()):
    C.llama_backend_init()


def shared_library(name: str) -> ctypes.PyDLL:
    """A shared library that ships with llama-cpp-python ("ggml-base").

    PyDLL: its calls are a few instructions long, releasing the interpreter costs more.
    Raises OSError when it is not there.
    """
    folder = Path(llama_cpp.__file__).parent / "lib"
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return ctypes.PyDLL(str(folder / f"lib{name}.{suffix}"))


def default_threads() -> int:
    """Threads for decoding: every core of a small machine, about the physical ones of a large."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        cores = os.cpu_count() or 1
    return cores if cores <= 4 else max(4, cores // 2)


class Model:
    """A GGUF file in memory. Raises ModelError when it is not one that can be used."""

    def __init__(self, path: Path, gpu_layers: int | None = None) -> None:
        self.path = path
        self._handle: Any = None
        check_gguf(path)
        check_layers(path)
        parameters = C.llama_model_default_params()
        if gpu_layers is None:
            gpu_layers = _ALL_LAYERS if C.llama_supports_gpu_offload() else 0
        parameters.n_gpu_layers = self._gpu_layers = gpu_layers
        if not self._load(parameters):
            raise load_error(path, log.first_error())
        self.vocab: Any = C.llama_model_get_vocab(self._handle)
        self._check_kind()

    @property
    def handle(self) -> Any:
        if self._handle is None:
            raise ValueError("the model is closed")
        return self._handle

    def close(self) -> None:
        if self._handle:
            with held_back(Pending()):
                C.llama_model_free(self._handle)
        self._handle = None

    def _load(self, parameters: Any) -> bool:
        """Whether there is a handle now; Ctrl-C ends it at the next tensor."""
        pending = Pending()
        go_on = C.llama_progress_callback(lambda _share, _data: not pending.fired)
        parameters.progress_callback = go_on
        log.forget()
        try:
            with held_back(pending):
                self._handle = C.llama_model_load_from_file(os.fsencode(self.path), parameters)
        except BaseException:
            self.close()
            raise
        return bool(self._handle)

    def meta(self, key: str) -> str:
        """A metadata value as text, "" if absent. "{arch}" in the key is the architecture."""
        if "{arch}" in key:
            key = key.replace("{arch}", self.meta("general.architecture"))
        size = 256
        while True:
            buffer = ctypes.create_string_buffer(size)
            needed = int(C.llama_model_meta_val_str(self.handle, key.encode(), buffer, size))
            if needed < 0:
                return ""
            if needed < size:
                return buffer.value.decode("utf-8", "replace")
            size = needed + 1

    @property
    def architecture(self) -> str:
        return self.meta("general.architecture")

    @property
    def n_layer(self) -> int:
        return int(C.llama_model_n_layer(self.handle))

    @property
    def n_head(self) -> int:
        return int(C.llama_model_n_head(self.handle))

    @property
    def n_vocab(self) -> int:
        return int(C.llama_vocab_n_tokens(self.vocab))

    @property
    def n_ctx_train(self) -> int:
        return int(C.llama_model_n_ctx_train(self.handle))

    @property
    def cuttable(self) -> bool:
        """Whether a sequence's memory can be cut and copied at any token."""
        return not (C.llama_model_is_recurrent(self.handle) or C.llama_model_is_hybrid(self.handle))

    def why_no_tap(self) -> str:
        """Why attention cannot be read from this model; "" if it can."""
        if C.llama_model_is_recurrent(self.handle):
            return "the model is recurrent and has no attention"
        if C.llama_model_is_hybrid(self.handle):
            return "the model mixes attention with recurrent layers"
        if C.llama_model_n_swa(self.handle) > 0:
            return "the model uses sliding-window attention"
        if self.meta("{arch}.attention.kv_lora_rank"):
            return "the model uses latent (MLA) attention"
        return ""

    def parameters(self) -> dict[str, Any]:
        """What identifies the model beside its hash, for records."""
        return {
            "n_layer": self.n_layer,
            "n_head": self.n_head,
            "n_embd": int(C.llama_model_n_embd(self.handle)),
            "n_vocab": self.n_vocab,
            "n_ctx_train": self.n_ctx_train,
            "n_params": int(C.llama_model_n_params(self.handle)),
            "quantisation": _description(self.handle),
        }

    def engine(self) -> dict[str, Any]:
        """What decides, beside the file, which numbers come out: build, processor, offload."""
        return {
            "llama_cpp": llama_cpp.__version__,
            "system": C.llama_print_system_info().decode("utf-8", "replace"),
            "gpu_layers": self._gpu_layers,
        }

    def adapter(self, path: Path) -> Any:
        """A LoRA adapter for contexts of this model; it lives as long as the model.

        Raises ModelError when it is none, or one of another model.
        """
        check_gguf(path, _ADAPTER_HINT)
        log.forget()
        with held_back(Pending()):
            handle = C.llama_adapter_lora_init(self.handle, os.fsencode(path))
        if not handle:
            reason = log.first_error() or "llama.cpp gave no reason"
            raise ModelError(f"cannot use the adapter {shown(path)}: {reason}", hint=_ADAPTER_HINT)
        return handle

    def tokenize(self, text: bytes, *, special: bool) -> list[int]:
        """Tokens of UTF-8 text, no BOS added. special: names of control tokens are parsed."""
        size = len(text) + 16
        while True:
            buffer = (C.llama_token * size)()
            count = int(C.llama_tokenize(self.vocab, text, len(text), buffer, size, False, special))
            if count >= 0:
                return list(buffer[:count])
            size = -count

    def piece(self, token: int, *, special: bool) -> bytes:
        """The bytes of a token; control tokens are empty unless `special`."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = int(C.llama_token_to_piece(self.vocab, token, buffer, size, 0, special))
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def _check_kind(self) -> None:
        reason = ""
        if C.llama_model_has_encoder(self.handle):
            reason = "is an encoder-decoder model"
        elif self.meta("{arch}.attention.causal") == "false" or self.n_vocab == 0:
            reason = "is an embedding model"
        elif not C.llama_model_has_decoder(self.handle):
            reason = "cannot generate text"
        if reason:
            self.close()
            raise ModelError(
                f"{shown(self.path)} {reason}; ragcli needs a text generator",
                hint="use a decoder-only instruct model in GGUF form",
            )


def _description(handle: Any) -> str:
    buffer = ctypes.create_string_buffer(128)
    C.llama_model_desc(handle, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def open_generator(
    path: Path,
    *,
    threads: int | None = None,
    gpu_layers: int | None = None,
    n_ctx: int | None = None,
    flash: bool = False,
    tap_layers: tuple[int, ...] | None = None,
    keep_states: bool = True,
    verbose: bool = False,
) -> LlamaGenerator:
    """Loads a GGUF file.

    gpu_layers None: all when this build supports offload, else none.
    n_ctx: most tokens one branch may hold; None is what the model was trained for.
    flash: flash attention; faster on some machines, but attention cannot be read then.
    tap_layers: layers whose attention is averaged (negative: from the end); None is the
    measured default. keep_states: decoded few-shot prompts are kept in the user's cache.
    verbose: llama.cpp's log goes to stderr.
    Raises ModelError for a missing, damaged or unsupported file.
    """
    from ragcli.llm.generator import LlamaGenerator

    log.verbose = verbose
    model = Model(path, gpu_layers)
    return LlamaGenerator(
        model,
        threads=threads or default_threads(),
        n_ctx=n_ctx,
        flash=flash,
        tap_layers=tap_layers,
        states=user_cache_dir() / "states" if keep_states else None,
    )
