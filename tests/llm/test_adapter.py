"""A LoRA adapter in the engine: the same numbers as its change merged into the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragcli.errors import ModelError
from ragcli.llm.base import EncodedPrompt
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.llm.ondemand import OnDemand
from tests.llm import tiny

EXACT = 5e-3  # float16 cache, see test_stress
ALPHA, RANK = 3.0, 2


def _prompt(*tokens: int) -> EncodedPrompt:
    array = np.array(tokens, np.int32)
    return EncodedPrompt(array, (), np.full(len(array), -1, np.int32))


PROMPTS = [_prompt(1, 5, 9, 60, 33), _prompt(1, 5, 7), _prompt(2)]


def _scores(generator: LlamaGenerator) -> np.ndarray:
    return generator.score_next(PROMPTS, range(tiny.VOCABULARY))


def test_an_adapter_is_its_change_merged(tmp_path: Path) -> None:
    change, merged = tiny.lora_weights(RANK), tiny.llama_weights()
    for name in [name for name in change if name.endswith("_a")]:
        base = name.removesuffix(".lora_a")
        merged[base] = merged[base] + ALPHA / RANK * change[base + ".lora_b"] @ change[name]
    lora = tiny.write_lora(tmp_path / "lora.gguf", change, alpha=ALPHA)
    with open_generator(tiny.write_llama(tmp_path / "merged.gguf", merged), threads=1) as generator:
        wanted = _scores(generator)
    with open_generator(tiny.write_llama(tmp_path / "plain.gguf"), threads=1) as generator:
        plain = _scores(generator)
        adapted = _scores(generator.adapted(lora))
        again = _scores(generator)
        assert generator.adapted(lora) is generator.adapted(lora)
    assert np.abs(adapted - wanted).max() < EXACT
    assert np.abs(adapted - plain).max() > 100 * EXACT
    assert np.array_equal(plain, again), "the model itself stays as it was"


def test_it_is_told_what_its_model_is_told(tmp_path: Path) -> None:
    lora = tiny.write_lora(tmp_path / "lora.gguf", tiny.lora_weights())
    seen: list[tuple[int, int]] = []
    with open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator:
        on_demand = OnDemand(lambda: generator)
        on_demand.progress = lambda done, total: seen.append((done, total))
        on_demand.adapted(lora).score_next(PROMPTS, [1])
    assert seen == [(0, 3)]


def _missing(path: Path) -> None:
    assert not path.exists()


def _text(path: Path) -> None:
    path.write_text("no model")


def _model(path: Path) -> None:
    tiny.write_llama(path)


def _cut(path: Path) -> None:
    tiny.write_lora(path, tiny.lora_weights())
    path.write_bytes(path.read_bytes()[:200])


def _of_another(path: Path) -> None:
    weights = {name: np.zeros((3, 5), np.float32) for name in tiny.lora_weights()}
    tiny.write_lora(path, weights)


def _other_architecture(path: Path) -> None:
    tiny.write_lora(path, tiny.lora_weights(), architecture="qwen2")


@pytest.mark.parametrize("make", [_missing, _text, _model, _cut, _of_another, _other_architecture])
def test_what_is_no_adapter_of_the_model_is_refused(tmp_path: Path, make: object) -> None:
    path = tmp_path / "lora.gguf"
    make(path)  # type: ignore[operator]
    with open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator:
        with pytest.raises(ModelError) as caught:
            generator.adapted(path)
        assert str(path.name) in caught.value.message
        assert "\n" not in caught.value.message
        assert _scores(generator).shape == (3, tiny.VOCABULARY), "the model is still usable"
