"""A causal model with random weights that knows bytes, as a GGUF: it has tokens and a template."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, KEYS, LAYERS, INNER = 64, 4, 2, 2, 128
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]


def _bytes() -> list[str]:
    """GPT-2's letter for each byte."""
    hidden = [one for one in range(256) if one not in _VISIBLE]
    return [chr(256 + hidden.index(one)) if one in hidden else chr(one) for one in range(256)]


TOKENS = [*_bytes(), "ee", "<|im_start|>", "<|im_end|>"]


def write(path: Path, architecture: str = "llama", seed: int = 0) -> Path:
    """Matrices of llama are as its converter leaves them; those of qwen2 have biases."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("tiny bytes")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEYS)
    writer.add_feed_forward_length(INNER)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    _vocabulary(writer)
    for name, tensor in _weights(architecture, seed).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary(writer: gguf.GGUFWriter) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(TOKENS)
    writer.add_token_types([1] * 257 + [3, 3])
    writer.add_token_merges(["e e"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def _weights(architecture: str, seed: int) -> dict[str, np.ndarray]:
    random, ones = np.random.default_rng(seed), np.ones(WIDTH, np.float32)

    def drawn(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    keys = WIDTH // HEADS * KEYS
    tensors = {"token_embd.weight": drawn(len(TOKENS), WIDTH), "output_norm.weight": ones}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors[block + "attn_norm.weight"] = tensors[block + "ffn_norm.weight"] = ones
        for name, out in (("q", WIDTH), ("k", keys), ("v", keys), ("output", WIDTH)):
            tensors[f"{block}attn_{name}.weight"] = drawn(out, WIDTH)
            if architecture == "qwen2" and name != "output":
                tensors[f"{block}attn_{name}.bias"] = drawn(out)
        for name in ("ffn_gate", "ffn_up"):
            tensors[f"{block}{name}.weight"] = drawn(INNER, WIDTH)
        tensors[block + "ffn_down.weight"] = drawn(WIDTH, INNER)
    return tensors
