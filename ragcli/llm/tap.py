"""Reads attention out of llama.cpp while it computes.

The scheduler's evaluation callback sees each graph node twice: before (ask) and after it
is computed. Two nodes matter. `kq_soft_max-<layer>` holds the softmax of one layer, with
ne = [n_kv, n_tokens, n_head, 1], float32; its second source is the mask. `cache_k_l0 (view)`
writes the first layer's keys; its second source, `attn_inp_k_idxs`, holds the cell that
each token of the batch was given. Columns of the softmax are such cells.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Attention
from ragcli.llm.llama import C, shared_library

_KEYS = b"cache_k_l0 (view)"
_CELLS = b"attn_inp_k_idxs"
_MARGIN = 64  # nodes, about two layers: a graph's shape may differ a little from the last one
_FLOATS: dict[int, np.dtype[Any]] = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float16),
}  # enum ggml_type


class _Tensor(ctypes.Structure):
    """struct ggml_tensor up to its name; checked against ggml_get_name before it is used."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
        ("op", ctypes.c_int),
        ("op_params", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32),
        ("src", ctypes.c_void_p * 10),
        ("view_src", ctypes.c_void_p),
        ("view_offs", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char * 64),
    )


_NAME = _Tensor.name.offset


@cache
def _ggml() -> Any:
    library = shared_library("ggml-base")
    library.ggml_get_name.restype = ctypes.c_void_p
    library.ggml_get_name.argtypes = [ctypes.c_void_p]
    library.ggml_backend_tensor_get.restype = None
    library.ggml_backend_tensor_get.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_size_t,
    ]
    return library


def why_unreadable() -> str:
    """Why this build of llama.cpp cannot be tapped, one line; "" if it can."""
    try:
        _ggml()
    except (OSError, AttributeError):
        return "libggml-base is not where llama-cpp-python keeps it"
    return ""


class Tap:
    """Attention rows of one context. Keep it alive as long as the context.

    layers: whose softmax is read and averaged, after the mean over heads.
    """

    def __init__(self, layers: tuple[int, ...]) -> None:
        self.callback = C.ggml_backend_sched_eval_callback(self._listener())
        self.error = ""
        self.cells: NDArray[np.int64] | None = None
        self._names = {b"kq_soft_max-%d" % layer for layer in layers}
        self._wanted: NDArray[np.intp] = np.empty(0, np.intp)
        self._sums: dict[int, NDArray[np.float32]] = {}
        self._visible: dict[int, NDArray[np.bool_]] = {}
        self._layers_read = 0
        self._checked = False
        self._remaining: set[bytes] = set()  # names still to come in this graph
        self._place: dict[bytes, int] = {}  # where each name stood in the last graph
        self._count, self._resume = 0, 0  # nodes shown so far; the next one to look at

    def arm(self, wanted: NDArray[np.intp]) -> None:
        """Before a decode: which tokens of the batch are to be read."""
        self._wanted = wanted
        self._sums, self._visible, self._layers_read, self.cells = {}, {}, 0, None
        self._remaining = {_KEYS} | (self._names if len(wanted) else set())
        self._count, self._resume = 0, self._next_place()

    def row(self, index: int) -> Attention:
        """The row of token `index` of the batch.

        Raises ValueError, one line, when it could not be read.
        """
        if self.error or index not in self._sums or self._layers_read != len(self._names):
            raise ValueError(self.error or "the engine computes no attention that can be read")
        mean = self._sums[index] * np.float32(1 / self._layers_read)
        return Attention(mean, self._visible[index])

    def _listener(self) -> Callable[[int, bool, object], bool]:
        """What C calls, some thousand times a step: so it skips nodes as cheaply as it can."""

        def on_node(tensor: int, ask: bool, _data: object) -> bool:
            if ask:
                self._count += 1
                if self._count < self._resume:
                    return False
            return self._on_node(tensor, ask)

        return on_node

    def _next_place(self) -> int:
        """The node to look at names from: a little before the next one of the last graph."""
        places = [self._place.get(name, 0) for name in self._remaining]
        return min(places) - _MARGIN if places else sys.maxsize

    def _on_node(self, tensor: int, ask: bool) -> bool:
        """Nothing may be raised into C. False after a node was computed would end the graph."""
        if self.error:
            return not ask
        try:
            if not self._checked:
                self._check_layout(tensor)
            if not ask:
                self._read_softmax(tensor)
                return True
            name = ctypes.string_at(tensor + _NAME)
            if name not in self._remaining or (name == _KEYS and not self._read_cells(tensor)):
                return False
            self._place[name] = self._count
            self._remaining.discard(name)
            self._resume = self._next_place()
            return name != _KEYS
        except Exception as error:  # noqa: BLE001 - reported by `error`, C cannot take it
            self.error = self.error or f"attention cannot be read: {error}"
            return not ask

    def _check_layout(self, tensor: int) -> None:
        if _ggml().ggml_get_name(tensor) != tensor + _NAME:
            raise ValueError("this llama.cpp lays its tensors out in another way")
        self._checked = True

    def _read_cells(self, tensor: int) -> bool:
        """Reads the cells, if the node is the write and not a view of the same name."""
        source = _Tensor.from_address(tensor).src[1]
        if not source or _base_name(source) != _CELLS:
            return False
        self.cells = np.empty(_Tensor.from_address(source).ne[0], np.int64)
        _copy(source, self.cells, 0)
        return True

    def _read_softmax(self, tensor: int) -> None:
        view = _Tensor.from_address(tensor)
        n_kv, n_tokens, n_head, n_stream = view.ne
        if view.type != 0 or n_stream != 1:
            raise ValueError("the softmax is not a float32 tensor of one stream")
        rows = np.empty((n_head, n_kv), np.float32)
        for token in self._wanted.tolist():
            if n_tokens == 1:
                _copy(tensor, rows, 0)
            else:
                for head in range(n_head):
                    _copy(tensor, rows[head], (head * n_tokens + token) * n_kv * 4)
            mean = rows.mean(axis=0)
            self._sums[token] = self._sums[token] + mean if token in self._sums else mean
            if token not in self._visible:
                self._visible[token] = _mask_row(int(view.src[1]), token, n_kv)
        self._layers_read += 1


def _base_name(tensor: int) -> bytes:
    """A tensor's name without the scheduler's prefix for copies ("CUDA0#name#0")."""
    name = ctypes.string_at(tensor + _NAME)
    return name.split(b"#")[1] if name.count(b"#") == 2 else name


def _mask_row(mask: int, token: int, n_kv: int) -> NDArray[np.bool_]:
    """(n_kv,) the cells the mask leaves visible to a token of the batch."""
    view = _Tensor.from_address(mask)
    row: NDArray[Any] = np.empty(n_kv, _FLOATS[int(view.type)])
    _copy(mask, row, token * view.nb[1])
    return np.asarray(np.isfinite(row))


def _copy(tensor: int, target: NDArray[Any], offset: int) -> None:
    _ggml().ggml_backend_tensor_get(tensor, target.ctypes.data, offset, target.nbytes)
