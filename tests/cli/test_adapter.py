"""`--adapter`: a trained analyzer, from the command line to the record of the answer."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

from .harness import invoke

QUESTION = "Who was the first keeper of the Sandholm light?"
ADAPTER = ("ask", "--method", "drag", "--set", "drag.analyzer=adapter")
RANK = 2


@pytest.fixture(scope="session")
def lora(bundled_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random change of the bundled model."""
    path = tmp_path_factory.mktemp("lora") / "dra.gguf"
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 1.0)
    reader = gguf.GGUFReader(bundled_model)
    for tensor in reader.tensors:
        if tensor.name.endswith("attn_q.weight"):
            width, height = (int(n) for n in tensor.shape)
            for part, shape in (("a", (RANK, width)), ("b", (height, RANK))):
                change = random.standard_normal(shape).astype(np.float32) / 50
                writer.add_tensor(f"{tensor.name}.lora_{part}", change)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.model
@pytest.mark.parametrize("base", ["plain", "crag"])
def test_the_adapter_takes_the_question_apart(inside: Path, lora: Path, base: str) -> None:
    result = invoke(
        *ADAPTER, "--adapter", str(lora), "--base", base, "--json", "--max-tokens", "16",
        "--threads", "1", "--force", QUESTION,
    )  # fmt: skip
    assert result.code == 0, result.err
    document = result.json("answer@1")
    assert "components by adapter dra.gguf (" in document["provenance"]["selected_by"]
    assert document["selected"]


def test_without_an_adapter_it_is_refused_before_the_model_loads(inside: Path) -> None:
    model = ("--model", "nowhere.gguf")  # would be complained of next
    result = invoke(*ADAPTER, *model, QUESTION)
    assert result.code == 2
    assert "drag.analyzer=adapter needs an adapter" in result.err
    assert "--adapter FILE" in result.err
    for base in ("plain", "crag"):
        argv = ("ask", "--select", "drag", "--base", base, "--set", "drag.analyzer=adapter")
        assert invoke(*argv, *model, QUESTION).code == 2


@pytest.mark.parametrize("name", ["missing.gguf", "boiler.md", "."])
def test_a_file_that_is_no_adapter_is_refused_before_the_model_loads(
    inside: Path, name: str
) -> None:
    result = invoke(*ADAPTER, "--adapter", name, "--model", "nowhere.gguf", QUESTION)
    assert result.code == 4
    assert name in result.err
    assert "nowhere.gguf" not in result.err


@pytest.mark.model
def test_a_model_is_no_adapter(inside: Path, bundled_model: Path) -> None:
    result = invoke(*ADAPTER, "--adapter", str(bundled_model), QUESTION)
    assert result.code == 4
    assert "cannot use the adapter" in result.err


def test_a_folder_that_came_from_elsewhere_names_no_adapter(copied: Path) -> None:
    (copied / ".ragcli" / "config.toml").write_text('adapter = "evil.gguf"\n')
    result = invoke("ask", "--index", str(copied / ".ragcli"), QUESTION)
    assert result.code == 2
    assert "adapter" in result.err
