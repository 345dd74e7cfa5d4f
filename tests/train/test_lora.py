"""An adapter in the engine gives the logits of the model that it was trained on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from ragcli.errors import ModelError
from ragcli.llm.base import EncodedPrompt, Generator
from ragcli.llm.llama import open_generator
from ragcli.selection.analyzers import Text
from ragcli.selection.trained import elements_prompt, scores_prompt
from ragcli.train.adapter import Place, interleaved, tensors_of, write_adapter
from ragcli.train.instructions import Instruction
from ragcli.train.lora import Lora, open_lora
from ragcli.types import Component
from tests.train import tiny_llama

EXACT = 5e-3  # float16 cache
ROUNDED = 0.2  # arithmetic of a quantised model
RANK, ALPHA = 4, 12.0
TEXTS = ("Which harbour has the oldest light?", "an", "seen 0.8; been (variant).")


def open_tiny(folder: Path, architecture: str = "llama", base: Path | None = None) -> Lora:
    model = tiny_llama.write(folder / f"{architecture}.gguf", architecture)
    return open_lora(base or model, model, RANK, ALPHA, threads=1)


def shake(lora: Lora, size: float = 0.12) -> None:
    """A change as large as a long training's, of every matrix."""
    random = torch.Generator().manual_seed(3)
    lora.restore({
        name: torch.randn(value.shape, generator=random) * size
        for name, value in lora.weights().items()
    })  # fmt: skip


def engine_logits(generator: Generator, tokens: list[list[int]]) -> np.ndarray:
    prompts = [
        EncodedPrompt(np.array(t, np.int32), (), np.full(len(t), -1, np.int32)) for t in tokens
    ]
    return generator.score_next(prompts, range(generator.vocabulary.size))


def trained_logits(lora: Lora, tokens: list[list[int]]) -> np.ndarray:
    with torch.no_grad():
        rows = [lora.logits(one, [len(one) - 1]) for one in tokens]
    return torch.log_softmax(torch.cat(rows), -1).cpu().numpy()


@pytest.mark.parametrize(("architecture", "heads"), [("llama", (4, 2, 0)), ("qwen2", (0, 0, 0))])
def test_adapted_logits_are_those_of_the_trained_model(
    tmp_path: Path, architecture: str, heads: tuple[int, ...]
) -> None:
    lora = open_tiny(tmp_path, architecture)
    where = lora.where.of
    found = tuple(where[f"model.layers.1.self_attn.{n}_proj"].heads for n in "qkv")
    assert found == heads
    assert len(where) == 7 * tiny_llama.LAYERS
    assert lora.where.difference < 1e-6
    with open_generator(tmp_path / f"{architecture}.gguf", threads=1) as generator:
        tokens = [generator.vocabulary.tokenize(text) for text in TEXTS]
        plain = engine_logits(generator, tokens)
        assert np.abs(plain - trained_logits(lora, tokens)).max() < EXACT, "it does nothing yet"
        shake(lora)
        wanted = trained_logits(lora, tokens)
        file, wrong = tmp_path / "right.gguf", tmp_path / "wrong.gguf"
        write_adapter(file, lora.where, lora.changes(), alpha=ALPHA, notes={"general.name": "x"})
        adapted = engine_logits(generator.adapted(file), tokens)
        assert np.abs(adapted - wanted).max() < EXACT
        assert np.abs(adapted - plain).max() > 100 * EXACT
        other = {
            n: replace(p, heads=0 if p.heads else 4) for n, p in where.items() if "q_proj" in n
        }
        mistaken = replace(lora.where, of={**where, **other})
        write_adapter(wrong, mistaken, lora.changes(), alpha=ALPHA, notes={})
        turned = engine_logits(generator.adapted(wrong), tokens)
        assert np.abs(turned - wanted).max() > 100 * EXACT, "the order of rows matters"


@pytest.mark.model
@pytest.mark.slow
def test_the_bundled_model_is_adapted_alike(bundled_model: Path, tmp_path: Path) -> None:
    """Its weights take four bits, and the engine rounds what it multiplies them with to eight.

    So logits are off by about 0.1 in the mean (0.7 at most) with and without an adapter. With the
    same weights unpacked to float32 the engine is off by 0.007, where the adapter does 3.2.
    """
    lora = open_lora(bundled_model, bundled_model, RANK, ALPHA, threads=1)
    where = lora.where.of
    assert [where[f"model.layers.29.self_attn.{n}_proj"].heads for n in "qkv"] == [9, 3, 0]
    assert lora.where.difference < 1e-6
    with open_generator(bundled_model, threads=1) as generator:
        parts = (Component("invariant", "Ribe"), Component("variant", "seats"))
        question = "How many seats has the council of Ribe?"
        asked = [
            elements_prompt(generator, question),
            scores_prompt(
                generator, question, parts, Text("Ribe", (TEXTS[0],)), "Ribe (invariant):"
            ),
        ]
        tokens = [one.tokens.tolist() for one in asked]
        plain, bare = engine_logits(generator, tokens), trained_logits(lora, tokens)
        shake(lora, 0.06)
        wanted, file = trained_logits(lora, tokens), tmp_path / "a.gguf"
        write_adapter(file, lora.where, lora.changes(), alpha=ALPHA, notes={})
        adapted = engine_logits(generator.adapted(file), tokens)
    assert np.abs(adapted - wanted).mean() < ROUNDED
    assert np.abs(adapted - wanted).max() < 10 * ROUNDED
    assert np.abs(adapted - plain).mean() > 4 * ROUNDED
    change, meant = adapted - plain, wanted - bare
    cosine = (change * meant).sum() / np.linalg.norm(change) / np.linalg.norm(meant)
    assert cosine > 0.97


def test_a_folder_is_a_base_as_good_as_the_model_itself(tmp_path: Path) -> None:
    of_file = open_tiny(tmp_path)
    base = tmp_path / "folder"
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        str(tmp_path), gguf_file="llama.gguf", dtype=torch.float32
    )
    del loaded.config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(loaded.config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(base)
    of_folder = open_tiny(tmp_path, base=base)
    tokens = [[5, 9, 70], [1]]
    for lora in (of_file, of_folder):
        shake(lora)
    assert of_folder.where == of_file.where
    assert np.abs(trained_logits(of_file, tokens) - trained_logits(of_folder, tokens)).max() < 1e-4


def test_a_base_of_another_model_is_refused(tmp_path: Path) -> None:
    other = tiny_llama.write(tmp_path / "other.gguf", seed=7)
    with pytest.raises(ModelError, match=r"is not what .*llama.gguf was made from"):
        open_tiny(tmp_path, base=other)
    with pytest.raises(ModelError, match="is not what"):
        open_tiny(tmp_path, "qwen2", base=other)


@pytest.mark.parametrize("content", [None, b"GGUF nothing", b""])
def test_a_base_that_is_none_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    base = tmp_path / "base"
    if content is None:
        base.mkdir()
    else:
        base.write_bytes(content)
    with pytest.raises(ModelError, match=r"cannot train on|not a usable GGUF") as caught:
        open_tiny(tmp_path, base=base)
    assert "\n" not in caught.value.message


def test_only_what_is_learnt_counts(tmp_path: Path) -> None:
    lora = open_tiny(tmp_path)
    one = Instruction("scores", "q", (7, 8, 9, 10, 11, 12), (2, 4))
    logits = trained_logits(lora, [[7, 8], [7, 8, 9, 10]])
    wanted = -(logits[0, 9] + logits[1, 11]) / 2
    assert lora.value(one) == pytest.approx(wanted, abs=1e-5)
    assert lora.value(replace(one, tokens=(7, 8, 9, 10, 11, 99))) == lora.value(one)


def test_teaching_changes_the_change_alone_and_a_file_brings_it_back(tmp_path: Path) -> None:
    lora = open_tiny(tmp_path)
    one = Instruction("elements", "q", (7, 8, 9, 10), (3,))
    before = lora.value(one)
    frozen = lora._model.model.layers[0].mlp.up_proj.inner.weight.clone()
    lora.begin(1e-2, 10)
    for _ in range(10):
        lora.add(lora.loss(one))
        lora.update()
    taught = lora.value(one)
    assert taught < before - 1
    assert torch.equal(lora._model.model.layers[0].mlp.up_proj.inner.weight, frozen)
    lora.save(tmp_path / "x.safetensors")
    again = open_tiny(tmp_path)
    again.load(tmp_path / "x.safetensors")
    assert again.value(one) == pytest.approx(taught, abs=1e-6)


def test_interleaving_is_told_by_rows() -> None:
    rows = np.arange(16, dtype=np.float32).reshape(8, 2)
    assert interleaved(rows, 2)[:, 0].tolist() == [0, 4, 2, 6, 8, 12, 10, 14]
    assert interleaved(rows, 0).tolist() == rows.tolist()


def test_the_file_has_a_pair_for_each_matrix(tmp_path: Path) -> None:
    lora = open_tiny(tmp_path)
    file = tmp_path / "a.gguf"
    write_adapter(file, lora.where, lora.changes(), alpha=ALPHA, notes={})
    shapes = {name: array.shape for name, array in tensors_of(file)}
    assert shapes["blk.1.ffn_down.weight.lora_a"] == (RANK, tiny_llama.INNER)
    assert shapes["blk.1.attn_k.weight.lora_b"] == (32, RANK)
    assert len(shapes) == 2 * len(lora.where.of)
    assert lora.where.of["model.layers.1.mlp.down_proj"] == Place("blk.1.ffn_down.weight")
    assert lora.parameters == sum(int(np.prod(shape)) for shape in shapes.values())
