"""Answers of `ragcli ask` with the bundled models: verified, and asked again from their record."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harness import invoke
from tests.cli.verifying.house import verify


@pytest.mark.model
def test_an_answer_of_ask(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    for flags in (["--jsonl"], ["--json"]):
        asked = invoke("ask", "--verbatim", "Who was the first keeper?", *flags)
        assert asked.code == 0, asked.err
        (copied / "answer.json").write_text(asked.out)
        code, document = verify()
        assert code == 0
        assert document["counts"]["fresh"] >= 1
    text = (copied / "keepers.txt").read_text()
    (copied / "keepers.txt").write_text(text.replace("Mira Oskan", "Ada Lind"))
    code, document = verify()
    assert (code, document["counts"]["changed"] >= 1) == (6, True)


def replayed(record: Any, model: Path) -> list[str]:
    """The command line that asks again, from nothing but what the answer records."""
    origin = record["provenance"]
    request = origin["request"]
    assert hashlib.sha256(model.read_bytes()).hexdigest() == record["model"]["sha256"]
    argv = ["ask", record["question"], "--json", "--threads", "1", "--model", str(model)]
    argv += ["--method", origin["method"], "--decode", origin["decode"]]
    argv += ["--base", origin["base"]] if origin["base"] else []
    argv += ["--select", request["select"]] if request["select"] else []
    argv += ["--verifier", origin["verifier"]]
    argv += [part for glob in request["in"] for part in ("--in", glob)]
    argv += [part for kind in request["type"] for part in ("--type", kind)]
    argv += ["--ctx", str(request["ctx"])] if request["ctx"] else []
    argv += [flag for flag in ("force", "verbatim") if request[flag] for flag in (f"--{flag}",)]
    argv += [
        part
        for key, value in record["parameters"].items()
        for part in ("--set", f"{key}={str(value).lower() if value in (True, False) else value}")
    ]
    return argv


@pytest.mark.model
def test_an_answer_is_replayed_from_its_own_record(
    notes: Path, bundled_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    asked = invoke(
        "ask", "Who was the first keeper?", "--json", "--threads", "1", "--select", "similar", "--decode", "fke",
        "--seed", "7", "--max-tokens", "20", "-k", "2", "--in", "*.txt", "--in", "*.md", "--ctx",
        "1024", "--force", "--set", "sampling.temperature=0.9", "fke.alpha=0.7",
    )  # fmt: skip
    assert asked.code == 0, asked.err
    first = asked.json("answer@1")
    monkeypatch.setenv("RAGCLI_SET", "")
    again = invoke(*replayed(first, bundled_model)).json("answer@1")
    # Where it lies and how long it took is all that may differ.
    for one in (first, again):
        del one["timings"]
    assert again["answer"] == first["answer"]
    assert again == first
    assert first["provenance"]["engine"].startswith("llama-cpp-python ")
    assert first["provenance"]["index"]["encoder"]["sha256"]
    assert {"chunking", "analyzer", "schema", "generation"} <= set(first["provenance"]["index"])
