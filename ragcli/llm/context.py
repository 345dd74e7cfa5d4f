"""A llama.cpp context behind the `Backend` protocol. ctypes only, no policy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import ModelError
from ragcli.llm.backend import Attention, Batch, Status
from ragcli.llm.interrupt import Pending, held_back
from ragcli.llm.llama import C, Model, log
from ragcli.llm.tap import Tap

N_BATCH = 512  # tokens a decode; the micro-batch is as large, so a decode is one graph
_ABORTABLE = 16  # smaller batches are over before anyone can press a key
_STATUS = {0: Status.OK, 1: Status.FULL, 2: Status.ABORTED}
_FLASH = {False: 0, True: 1}  # enum llama_flash_attn_type


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How contexts of a model are made."""

    threads: int
    flash: bool = False
    n_batch: int = N_BATCH
    adapter: Any = None  # of `Model.adapter`


class Context:
    """`sequences` sequences over `n_ctx` cells. Raises ModelError when memory is short."""

    def __init__(
        self,
        model: Model,
        n_ctx: int,
        sequences: int,
        options: ContextOptions,
        *,
        tap: Tap | None = None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> None:
        self._model, self._tap, self._cancel = model, tap, cancel
        self._pending = Pending()
        self._abort = C.ggml_abort_callback(self._should_abort)
        self._no_abort = C.ggml_abort_callback()
        self._handle: Any = None
        try:
            with self.guarded():
                self._handle = _create(model, n_ctx, sequences, options, tap)
        except BaseException:
            self._free()
            raise
        self._memory = C.llama_get_memory(self._handle)
        self._batch = C.llama_batch_init(options.n_batch, 0, sequences)
        self._views = _views(self._batch, options.n_batch)
        self._n_vocab = model.n_vocab

    @property
    def n_ctx(self) -> int:
        return int(C.llama_n_ctx(self._handle))

    @property
    def n_batch(self) -> int:
        return int(C.llama_n_batch(self._handle))

    @property
    def cuttable(self) -> bool:
        return self._model.cuttable

    def decode(self, batch: Batch) -> Status:
        self._fill(batch)
        if self._tap:
            self._tap.arm(np.flatnonzero(batch.wanted))
        abort = self._abort if len(batch) >= _ABORTABLE else self._no_abort
        C.llama_set_abort_callback(self._handle, abort, None)
        log.forget()
        return _STATUS.get(int(C.llama_decode(self._handle, self._batch)), Status.FAILED)

    def logits(self, index: int) -> NDArray[np.float32]:
        pointer = C.llama_get_logits_ith(self._handle, index)
        return np.ctypeslib.as_array(pointer, shape=(self._n_vocab,))

    def cells(self) -> NDArray[np.int64] | None:
        return self._tap.cells if self._tap else None

    def attention(self, index: int) -> Attention | None:
        return self._tap.row(index) if self._tap else None

    def copy(self, source: int, target: int, start: int, stop: int) -> None:
        C.llama_memory_seq_cp(self._memory, source, target, start, stop)

    def remove(self, sequence: int, start: int) -> None:
        C.llama_memory_seq_rm(self._memory, sequence, start if self.cuttable else 0, -1)

    def clear(self) -> None:
        C.llama_memory_clear(self._memory, False)

    def state(self, sequence: int) -> bytes:
        size = int(C.llama_state_seq_get_size(self._handle, sequence))
        buffer = (ctypes.c_uint8 * size)()
        written = int(C.llama_state_seq_get_data(self._handle, buffer, size, sequence))
        return bytes(buffer[:written])

    def restore(self, sequence: int, state: bytes, length: int) -> bool:
        log.forget()
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        read = int(C.llama_state_seq_set_data(self._handle, buffer, len(state), sequence))
        last = int(C.llama_memory_seq_pos_max(self._memory, sequence))
        first = int(C.llama_memory_seq_pos_min(self._memory, sequence))
        if read == len(state) and (first, last) == (0, length - 1):
            return True
        self.clear()
        return False

    def guarded(self) -> AbstractContextManager[None]:
        return held_back(self._pending)

    def reason(self) -> str:
        return log.first_error() or (self._tap.error if self._tap else "")

    def close(self) -> None:
        if self._handle:
            C.llama_batch_free(self._batch)
        self._free()

    def _free(self) -> None:
        if self._handle:
            with self.guarded():
                C.llama_free(self._handle)
        self._handle = None

    def _should_abort(self, _data: object) -> bool:
        return self._pending.fired or self._cancel()

    def _fill(self, batch: Batch) -> None:
        n = len(batch)
        tokens, positions, counts, logits = self._views
        tokens[:n], positions[:n], logits[:n] = batch.tokens, batch.positions, batch.wanted
        counts[:n] = [len(group) for group in batch.sequences]
        for row, group in enumerate(batch.sequences):
            target = self._batch.seq_id[row]
            for column, sequence in enumerate(group):
                target[column] = sequence
        self._batch.n_tokens = n


def _views(batch: Any, n: int) -> tuple[NDArray[Any], ...]:
    """The batch's C arrays as numpy arrays of n rows."""
    fields = (batch.token, batch.pos, batch.n_seq_id, batch.logits)
    return tuple(np.ctypeslib.as_array(pointer, shape=(n,)) for pointer in fields)


def _create(
    model: Model, n_ctx: int, sequences: int, options: ContextOptions, tap: Tap | None
) -> Any:
    parameters = C.llama_context_default_params()
    parameters.n_ctx, parameters.n_seq_max, parameters.kv_unified = n_ctx, sequences, True
    parameters.n_batch = parameters.n_ubatch = options.n_batch
    parameters.n_threads = parameters.n_threads_batch = options.threads
    parameters.flash_attn_type = _FLASH[options.flash]
    parameters.swa_full = True  # a cut branch must find its old cells
    if tap:
        parameters.cb_eval = tap.callback
    log.forget()
    needed, free = _cache_bytes(model, n_ctx), _available_bytes()
    handle = None
    if free is None or needed < free:
        handle = C.llama_init_from_model(model.handle, parameters)
    if not handle:
        raise ModelError(
            f"no memory for a context of {n_ctx} tokens (about {needed // 2**20} MB"
            + (f" of {free // 2**20} MB free)" if free is not None else ")"),
            hint="a smaller --ctx, or fewer documents",
        )
    if options.adapter is not None:
        adapters = (C.llama_adapter_lora_p_ctypes * 1)(options.adapter)
        C.llama_set_adapters_lora(handle, adapters, 1, (ctypes.c_float * 1)(1.0))
    return handle


def _cache_bytes(model: Model, n_ctx: int) -> int:
    """Bytes of keys and values (float16) of n_ctx cells; an estimate, to refuse early."""
    heads = int(C.llama_model_n_head_kv(model.handle))
    width = int(C.llama_model_n_embd(model.handle)) // max(model.n_head, 1)
    return 2 * 2 * n_ctx * model.n_layer * heads * width


def _available_bytes() -> int | None:
    """Memory the system can still give, None where it does not say (not Linux)."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
