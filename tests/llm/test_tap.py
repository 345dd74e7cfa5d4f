"""Attention rows: against an independent implementation, and in a busy context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.llm.base import Feed
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.llm.session import BranchSession
from tests.llm import tiny

TEXT = (
    "The lighthouse keeper wrote down the weather every evening. In March the wind came from "
    "the north, and two ships waited in the bay. A letter arrived by boat on the ninth."
)


def rows(session: BranchSession, tokens: list[int]) -> NDArray[np.float32]:
    """(n, n) attention of every position, one fresh branch."""
    session.start({0: tokens[:1]})
    (output,) = session.advance([Feed(0, tokens[1:], "all")])
    assert output.attention is not None
    return output.attention


def test_layers_are_averaged(tmp_path: Path) -> None:
    path = tiny.write_llama(tmp_path / "m.gguf")
    found = []
    for layers in [(0,), (1,), (2,), (0, 2), (0, 1, 2)]:
        with (
            open_generator(path, threads=1, tap_layers=layers) as generator,
            generator.session(1) as session,
        ):
            found.append(rows(session, [1, 2, 3, 4, 5]))
    np.testing.assert_allclose(found[3], (found[0] + found[2]) / 2, atol=1e-6)
    np.testing.assert_allclose(found[4], (found[0] + found[1] + found[2]) / 3, atol=1e-6)
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_rows_match_a_naive_softmax(tmp_path: Path) -> None:
    """The first layer of the tiny model, computed by hand from its weights."""
    tokens = [1, 2, 3, 4, 5, 60]
    path = tiny.write_llama(tmp_path / "m.gguf")
    with (
        open_generator(path, threads=1, tap_layers=(0,)) as generator,
        generator.session(1) as session,
    ):
        found = rows(session, tokens)
    np.testing.assert_allclose(found, tiny.first_layer_attention(tokens), atol=2e-3)


def test_only_wanted_rows_are_read(tmp_path: Path) -> None:
    with (
        open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator,
        generator.session(2) as session,
    ):
        session.start({0: [1, 2, 3], 1: [4, 5]})
        first, second = session.advance([Feed(0, [6, 7], "none"), Feed(1, [8])])
        assert first.attention is None
        assert second.attention is not None
        assert second.attention.shape == (1, 3)
        assert len(session._backend._tap._sums) == 1


def test_another_tensor_layout_turns_the_tap_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragcli.llm import tap

    monkeypatch.setattr(tap, "_NAME", tap._NAME + 8)
    with (
        open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator,
        generator.session(1) as session,
    ):
        session.start({0: [1, 2, 3]})
        (output,) = session.advance([Feed(0)])
        assert output.attention is None
        assert len(output.logits) == 1
        assert not generator.tap_available
        assert "lays its tensors out" in generator.tap_reason


@pytest.fixture(scope="module")
def eager(bundled_model: Path) -> Any:
    """The same GGUF in transformers, weights dequantised, eager attention."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    return transformers.AutoModelForCausalLM.from_pretrained(
        bundled_model.parent, gguf_file=bundled_model.name, attn_implementation="eager"
    ).eval()


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("layer", [0, 10, 20, 29])
def test_rows_agree_with_transformers(eager: Any, bundled_model: Path, layer: int) -> None:
    """Mean over heads; llama.cpp quantises activations and keeps the cache in float16."""
    import torch

    with (
        open_generator(bundled_model, threads=1, tap_layers=(layer,)) as generator,
        generator.session(1) as session,
    ):
        tokens = generator.vocabulary.tokenize(TEXT)
        found = rows(session, tokens)
    with torch.no_grad():
        answer = eager(torch.tensor([tokens]), output_attentions=True)
    expected = answer.attentions[layer][0].mean(dim=0).numpy()
    cosine = (found * expected).sum(axis=1) / (
        np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    )
    assert cosine.min() > 0.998
    assert np.abs(found - expected).max() < 0.03
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-4)


@pytest.mark.model
def test_a_busy_context_gives_the_row_of_a_fresh_one(generator: LlamaGenerator) -> None:
    """Other branches, cuts and re-used cells: weights differ by quantised rounding only."""
    tokens = generator.vocabulary.tokenize(TEXT)
    other = tokens[::-1]
    with generator.session(3) as session:
        session.start({0: other, 1: tokens[:20] + other[:10], 2: other[:8]})
        session.advance([Feed(0), Feed(1), Feed(2)])
        session.truncate(0, 5)
        session.truncate(1, 20)
        _, busy = session.advance([Feed(0, other[5:9]), Feed(1, tokens[20:-1])])
        (_, busy) = session.advance([Feed(2, other[:1]), Feed(1, tokens[-1:])])
        assert session.tokens(1).tolist() == tokens
    with generator.session(1) as session:
        expected = rows(session, tokens)[-1]
    assert busy.attention is not None
    assert np.abs(busy.attention[0] - expected).max() < 0.03
    cosine = busy.attention[0] @ expected
    assert cosine / np.linalg.norm(busy.attention) / np.linalg.norm(expected) > 0.995
