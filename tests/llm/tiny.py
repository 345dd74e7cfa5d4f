"""Tiny models with random float32 weights and no vocabulary, written on the spot.

Without quantised arithmetic the engine is exact to a few float roundings, so a wrong cell
shows as a difference thousands of times larger than the noise.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 64, 64, 4, 3, 4096


def _weights(random: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return (random.standard_normal(shape) * 2 / np.sqrt(shape[-1])).astype(np.float32)


def _header(path: Path, architecture: str) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("none")
    return writer


def _finish(writer: gguf.GGUFWriter, tensors: dict[str, NDArray[np.float32]]) -> None:
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def llama_weights() -> dict[str, NDArray[np.float32]]:
    """Tensors of the transformer, by llama.cpp's names."""
    random, ones = np.random.default_rng(0), np.ones(WIDTH, np.float32)
    tensors = {"token_embd.weight": _weights(random, VOCABULARY, WIDTH), "output_norm.weight": ones}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors[block + "attn_norm.weight"] = tensors[block + "ffn_norm.weight"] = ones
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"{block}{name}.weight"] = _weights(random, WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            tensors[f"{block}{name}.weight"] = _weights(random, 2 * WIDTH, WIDTH)
        tensors[block + "ffn_down.weight"] = _weights(random, WIDTH, 2 * WIDTH)
    return tensors


def write_llama(path: Path, tensors: dict[str, NDArray[np.float32]] | None = None) -> Path:
    """A transformer with full attention."""
    writer = _header(path, "llama")
    writer.add_head_count(HEADS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    _finish(writer, tensors or llama_weights())
    return path


def first_layer_attention(tokens: list[int]) -> NDArray[np.float64]:
    """(n, n) attention of the transformer's first layer, mean over heads, in float64."""
    weights = llama_weights()
    x = weights["token_embd.weight"][tokens].astype(np.float64)
    x /= np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)
    n, size = len(tokens), WIDTH // HEADS
    q, k = (
        _rotated((x @ weights[f"blk.0.attn_{name}.weight"].T).reshape(n, HEADS, size))
        for name in "qk"
    )
    scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(size)
    scores[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.asarray((scores / scores.sum(axis=2, keepdims=True)).mean(axis=0))


def _rotated(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotary positions on neighbouring pairs. x: (n, heads, size)."""
    n, _, size = x.shape
    angles = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)[:, None, :]
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def write_mamba(path: Path) -> Path:
    """A recurrent model: its memory can be neither cut nor copied in part."""
    random, ones = np.random.default_rng(0), np.ones(WIDTH, np.float32)
    inner, state, rank, conv = 2 * WIDTH, 8, 4, 4
    writer = _header(path, "mamba")
    writer.add_ssm_conv_kernel(conv)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    tensors = {"token_embd.weight": _weights(random, VOCABULARY, WIDTH), "output_norm.weight": ones}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors[block + "attn_norm.weight"] = ones
        tensors[block + "ssm_in.weight"] = _weights(random, 2 * inner, WIDTH)
        tensors[block + "ssm_conv1d.weight"] = _weights(random, inner, conv)
        tensors[block + "ssm_conv1d.bias"] = np.zeros(inner, np.float32)
        tensors[block + "ssm_x.weight"] = _weights(random, rank + 2 * state, inner)
        tensors[block + "ssm_dt.weight"] = _weights(random, inner, rank)
        tensors[block + "ssm_dt.bias"] = np.zeros(inner, np.float32)
        tensors[block + "ssm_a"] = -np.abs(_weights(random, inner, state))
        tensors[block + "ssm_d"] = np.ones(inner, np.float32)
        tensors[block + "ssm_out.weight"] = _weights(random, WIDTH, inner)
    _finish(writer, tensors)
    return path


def lora_weights(rank: int = 2) -> dict[str, NDArray[np.float32]]:
    """A rank-`rank` change of two matrices, by llama.cpp's names."""
    random = np.random.default_rng(1)
    return {
        f"blk.{layer}.{name}.weight.lora_{part}": _weights(random, *shape)
        for layer in range(LAYERS)
        for name in ("attn_q", "attn_v")
        for part, shape in (("a", (rank, WIDTH)), ("b", (WIDTH, rank)))
    }


def write_lora(
    path: Path,
    tensors: dict[str, NDArray[np.float32]],
    *,
    alpha: float = 1.0,
    architecture: str = "llama",
) -> Path:
    """A LoRA adapter; it adds alpha / rank * (b @ a)."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    _finish(writer, tensors)
    return path
