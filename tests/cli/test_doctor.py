"""`ragcli doctor`: findings, remedies, exit codes."""

from __future__ import annotations

import io
import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from standin_models import gguf, write

from ragcli.cli import checks
from ragcli.cli.app import run
from ragcli.cli.environment import Environment
from ragcli.schemas import load


def doctor(*argv: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by name."""
    out = io.StringIO()
    code = run(
        ["doctor", "--json", *argv], Environment(io.StringIO(), out, io.StringIO(), os.environ)
    )
    document = json.loads(out.getvalue())
    jsonschema.validate(document, load("doctor@1"))
    assert document["exit_code"] == code
    findings = {f"{one['group']}/{one['name']}": one for one in document["findings"]}
    for one in document["findings"]:
        assert one["state"] != "problem" or one["remedy"], one
    return code, findings


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.model
def test_a_sound_installation(bundled_model: Path, bundled_encoder_dir: Path) -> None:
    code, found = doctor()
    assert code == 0
    assert found["versions/numpy"]["value"] == metadata.version("numpy")
    assert found["models/generator"]["value"].startswith("SmolLM2-135M-Instruct.Q4_1 (bundled")
    assert found["models/quality"]["state"] == "note"
    assert found["index/index"]["state"] == "note"
    assert "ragcli index" in found["index/index"]["remedy"]
    assert found["machine/GPU offload"]["state"] in ("ok", "note")
    assert {one["state"] for one in found.values()} <= {"ok", "note"}


@pytest.mark.model
def test_for_people(bundled_model: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert run(["doctor"], Environment(io.StringIO(), out, err, os.environ)) == 0
    lines = out.getvalue().splitlines()
    assert lines[0] == "versions"
    assert lines[-1] == "no problems"
    assert any(line.startswith("✓ generator") for line in lines)
    assert any(line.lstrip().startswith("→ ragcli models pull") for line in lines)
    assert err.getvalue() == ""


@pytest.mark.model
def test_deep_loads_the_models(bundled_model: Path, bundled_encoder_dir: Path) -> None:
    code, found = doctor("--deep")
    assert code == 0
    assert found["models/generator test"]["value"].startswith("loads and predicts")
    assert found["models/encoder test"]["value"].startswith("loads and encodes")


@pytest.mark.model
def test_deep_finds_a_model_with_a_good_header_and_no_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundled_encoder_dir: Path
) -> None:
    monkeypatch.setenv("RAGCLI_MODEL", str(write(tmp_path / "hollow.gguf", gguf())))
    assert doctor()[0] == 0
    code, found = doctor("--deep")
    assert code == 4
    assert found["models/generator test"]["state"] == "problem"
    assert found["models/encoder test"]["state"] == "ok"


def test_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_MODEL", "/nowhere/m.gguf")
    monkeypatch.setenv("RAGCLI_ENCODER", "/nowhere/encoder")
    code, found = doctor()
    assert code == 4
    assert "no such model file" in found["models/generator"]["value"]
    assert "no such encoder" in found["models/encoder"]["value"]


def test_missing_packages_and_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checks.PACKAGES, "no-such-package", "a test")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    code, found = doctor()
    assert code == 4
    assert found["versions/no-such-package"]["remedy"] == "pip install no-such-package"
    assert found["building/CMake"]["state"] == "note"  # a wheel needs no compiler
    assert "build llama-cpp-python" in found["building/C++ compiler"]["remedy"]


@pytest.mark.parametrize(
    "text", ["no_such_key = 1", "model = 3", "k = 0", "not toml at all", "[sampling]\nnone = 1"]
)
@pytest.mark.model
def test_a_wrong_setting(tmp_path: Path, text: str, bundled_model: Path) -> None:
    write(tmp_path / "config/config.toml", text.encode())
    code, found = doctor()
    assert code == 2
    assert found["configuration/settings"]["state"] == "problem"
    assert found["models/generator"]["state"] == "ok"  # the rest is still looked at


def test_a_misspelled_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_MODLE", "x")
    assert doctor()[1]["configuration/RAGCLI_MODLE"]["state"] == "note"


@pytest.mark.parametrize(
    "content", [b"", b"not a database" * 100, b"SQLite format 3\0" + bytes(5000)]
)
def test_a_damaged_index(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "work/.ragcli/catalog.sqlite", content)
    code, found = doctor()
    assert code in (3, 4)  # 4 where no model is installed
    assert found["index/catalog"]["state"] == "problem"
    assert ("rebuild" if content else "ragcli index PATH") in found["index/catalog"]["remedy"]


@pytest.mark.model
def test_a_sound_index_and_what_can_happen_to_it(
    tmp_path: Path, bundled_encoder_dir: Path, cache_dir: Path
) -> None:
    docs = tmp_path / "work/docs"
    for number in range(3):
        write(docs / f"{number}.txt", f"Document {number} tells of rivers and bridges.".encode())
    env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), os.environ)
    assert run(["index", "docs", "--quiet"], env) == 0
    code, found = doctor("--deep")
    assert code == 0
    assert found["index/files"]["value"] == "3 indexed"
    assert found["index/freshness"]["state"] == "ok"
    assert found["index/search files"]["value"] == "whole"
    assert found["index/encoder"]["state"] == "ok"
    assert found["models/encoder export"]["state"] == "ok"

    (docs / "0.txt").write_text("Other words now, about mountains.")
    (docs / "1.txt").unlink()
    found = doctor()[1]
    assert found["index/freshness"]["value"] == "1 changed, 1 gone since they were read"

    for file in (tmp_path / "work/.ragcli/generations").rglob("dense.bin"):
        file.write_bytes(b"broken")
    assert "ragcli index" in doctor()[1]["index/search files"]["remedy"]


@pytest.mark.model
def test_an_index_of_another_encoder(tmp_path: Path, bundled_encoder_dir: Path) -> None:
    import sqlite3

    write(tmp_path / "work/docs/a.txt", b"Rivers and bridges.")
    env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), os.environ)
    assert run(["index", "docs", "--quiet"], env) == 0
    with sqlite3.connect(tmp_path / "work/.ragcli/catalog.sqlite") as catalog:
        other = json.dumps({"name": "other", "sha256": "0" * 64, "dimension": 384})
        catalog.execute("UPDATE meta SET value = ? WHERE key = 'encoder'", (other,))
    catalog.close()
    code, found = doctor()
    assert code == 3
    assert "other" in found["index/encoder"]["value"]
    assert "rebuild" in found["index/encoder"]["remedy"]


def test_little_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = checks.shutil.disk_usage("/")
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda path: usage._replace(free=5_000_000))
    found = doctor()[1]
    assert found["machine/disk"]["state"] == "note"
    assert "RAGCLI_CACHE_DIR" in found["machine/disk"]["remedy"]
