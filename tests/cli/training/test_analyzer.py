"""`ragcli train analyzer` from instructions to an answer, with a small generator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.harness import Result, invoke
from tests.train import instructed, tiny_llama

FAST = ("--rank", "2", "--epochs", "1", "--rate", "0.01", "--batch", "4", "--threads", "1")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama.write(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return instructed.write(tmp_path_factory.mktemp("data") / "rows.jsonl")


def train(data: Path, model: Path, out: Path, *more: str, terminal: bool = False) -> Result:
    return invoke(
        "train", "analyzer", "--data", str(data), "--model", str(model), "--out", str(out),
        *FAST, *more, terminal=terminal,
    )  # fmt: skip


def test_from_instructions_to_an_answer(
    data: Path, model: Path, tmp_path: Path, inside: Path, bundled_encoder_dir: Path
) -> None:
    out = tmp_path / "dra.gguf"
    told = train(data, model, out, "--estimate")
    assert told.code == 0, told.err
    assert "to learn from" in told.err
    assert "at most about" in told.err
    estimated = train(data, model, out, "--estimate", "--json")
    assert estimated.json("estimate@1")["seconds"] > 0
    assert list(tmp_path.iterdir()) == []
    result = train(data, model, out, "--json")
    assert result.code == 0, result.err
    report = result.json("analyzer@1")
    assert report["data"]["elements"] == len(instructed.THINGS)
    assert report["base"] == {"name": "tiny.gguf", "format": "gguf", "difference": 0.0}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dra.gguf", "dra.json", "dra.md"]
    assert "%|" not in result.err, "no bars where nobody looks"
    answer = invoke(
        "ask", "When did the mill open?", "--method", "drag", "--set", "drag.analyzer=adapter",
        "--adapter", str(out), "--model", str(model), "--json", "--force", "--max-tokens", "4",
        "--threads", "1",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    document = answer.json("answer@1")
    name = f"components by adapter dra.gguf ({report['adapter']['sha256'][:12]}"
    assert name in document["provenance"]["selected_by"]


@pytest.mark.parametrize("name", ["tiny.gguf", "notes.gguf", "notes.md", "notes.json"])
def test_no_file_of_somebody_else_is_replaced(
    data: Path, model: Path, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / name
    mine.write_bytes(model.read_bytes() if name == model.name else b'{"schema": "mine"}')
    before = mine.read_bytes()
    generator = mine if name == model.name else model
    result = train(data, generator, mine.with_suffix(".gguf"))
    assert result.code == 2
    assert "is there already" in result.err
    assert mine.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_person_reads_losses_and_how_to_use_it(data: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "dra.gguf"
    result = train(data, model, out, "--limit", "4", "--base", str(model), terminal=True)
    assert result.code == 0, result.err
    assert "held aside" in result.out
    assert "in the engine: loss" in result.out
    assert "--set drag.analyzer=adapter" in " ".join(result.out.split())
    report = json.loads((tmp_path / "dra.json").read_text())
    assert report["data"]["training"] + report["data"]["development"] == 12


@pytest.mark.parametrize(
    ("out", "more", "code", "said"),
    [
        ("dra.bin", (), 2, "is no name for an adapter"),
        ("dra.gguf", ("--base", "nowhere"), 2, "there is no base nowhere"),
        ("dra.gguf", ("--data", "bad.jsonl"), 2, "bad.jsonl, line 1: components is missing"),
        ("dra.gguf", ("--base", "."), 4, "cannot train on ."),
    ],
)
def test_what_cannot_be_trained_is_one_line(
    data: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    out: str, more: tuple[str, ...], code: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"question": "q"}\n')
    result = train(data, model, tmp_path / out, *more)
    assert result.code == code, result.err
    assert said in result.err
    assert not (tmp_path / out).exists()


def test_a_missing_package_is_named(
    data: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcli.cli.training.analyzer.find_spec", lambda name: None)
    result = train(data, model, tmp_path / "dra.gguf")
    assert result.code == 2
    assert "needs the package torch" in result.err
    assert "ragcli[train]" in result.err
